//! HTTP/1.1, as much as a server of objects wants: GET and HEAD with keep-alive.

use crate::object::{Object, Objects};
use std::io;
use std::mem::MaybeUninit;
use std::time::Instant;

/// The most bytes of a request.
pub const MAX_REQUEST: usize = 16 << 10;
const MAX_HEADERS: usize = 64;

/// Requests that have come, and the answer that is being sent.
#[derive(Default)]
pub struct Exchange {
    /// What has come and is not yet a whole request, or has to wait for its turn.
    input: Vec<u8>,
    /// Until it is sent, which it is as a whole.
    head: Option<Head>,
    /// Until it is sent, from this offset on.
    body: Option<Object>,
    offset: u64,
    /// After this answer no other.
    last: bool,
    /// Whether it is known that a request has begun to come.
    begun: bool,
}

/// An answer's head, of which nothing is written before its record is made: a number, the
/// length of the object, between what comes before and after it.
#[derive(Clone, Copy)]
struct Head {
    status: Status,
    len: u64,
    after: After,
}

#[derive(Clone, Copy)]
enum Status {
    Found,
    NotFound,
    BadRequest,
    Method,
    TooLarge,
    Fields,
    Unavailable,
    Version,
}

/// What becomes of the connection after an answer.
#[derive(Clone, Copy)]
enum After {
    Stays,
    /// Which has to be said in HTTP/1.0.
    StaysOlder,
    Closes,
}

/// A head up to its number; the status may have fields that belong to it.
macro_rules! start {
    ($status:literal) => {
        concat!("HTTP/1.1 ", $status, "\r\nContent-Length: ")
    };
}

impl Head {
    fn start(&self) -> &'static [u8] {
        match self.status {
            Status::Found => start!("200 OK\r\nContent-Type: application/octet-stream"),
            Status::NotFound => start!("404 Not Found"),
            Status::BadRequest => start!("400 Bad Request"),
            Status::Method => start!("405 Method Not Allowed\r\nAllow: GET, HEAD"),
            Status::TooLarge => start!("413 Content Too Large"),
            Status::Fields => start!("431 Request Header Fields Too Large"),
            Status::Unavailable => start!("503 Service Unavailable"),
            Status::Version => start!("505 HTTP Version Not Supported"),
        }
        .as_bytes()
    }

    fn end(&self) -> &'static [u8] {
        match self.after {
            After::Stays => b"\r\n\r\n",
            After::StaysOlder => b"\r\nConnection: keep-alive\r\n\r\n",
            After::Closes => b"\r\nConnection: close\r\n\r\n",
        }
    }

    fn digits(&self) -> usize {
        self.len.checked_ilog10().map_or(1, |n| n as usize + 1)
    }

    fn len(&self) -> usize {
        self.start().len() + self.digits() + self.end().len()
    }

    /// Writes it to the beginning of `out`: how many bytes it has.
    fn write(&self, out: &mut [u8]) -> usize {
        let (start, end) = (self.start(), self.end());
        let (to, rest) = out.split_at_mut(start.len());
        to.copy_from_slice(start);
        let (digits, rest) = rest.split_at_mut(self.digits());
        let mut left = self.len;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (left % 10) as u8;
            left /= 10;
        }
        rest[..end.len()].copy_from_slice(end);
        start.len() + digits.len() + end.len()
    }
}

impl Exchange {
    /// Whether there is something to send.
    pub fn answering(&self) -> bool {
        self.head.is_some() || self.body.is_some()
    }

    /// Bytes that can be sent.
    pub fn left(&self) -> u64 {
        let body = self.body.as_ref().map_or(0, Object::len);
        self.head.as_ref().map_or(0, Head::len) as u64 + body - self.offset
    }

    /// Whether the answer that was sent, or is being sent, is the last one.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Makes the answer that is being sent the last one.
    pub fn end(&mut self) {
        self.last = true;
    }

    /// Whether a request has begun to come since this was asked.
    pub fn has_begun(&mut self) -> bool {
        let before = std::mem::replace(&mut self.begun, !self.input.is_empty());
        self.begun && !before
    }

    /// Whether no more should be read before what has come is answered.
    pub fn is_full(&self) -> bool {
        self.input.len() >= MAX_REQUEST
    }

    /// Takes bytes that have come, and begins the answer to the next request, if there is one
    /// and nothing is being answered.
    pub fn receive(&mut self, bytes: &[u8], objects: &mut Objects, now: Instant) {
        if self.last {
            return;
        }
        if self.answering() || !self.input.is_empty() {
            let before = self.input.len();
            self.input.extend_from_slice(bytes);
            // A request that comes byte by byte is not read from its start each time.
            let new = &self.input[before.saturating_sub(3)..];
            let ends = new.windows(2).any(|two| two == b"\n\n")
                || new.windows(3).any(|three| three == b"\n\r\n");
            if ends || self.is_full() {
                self.next(objects, now);
            }
            return;
        }
        // Mostly it is one whole request.
        let used = self.parse(bytes, objects, now);
        if !self.last {
            self.input.extend_from_slice(&bytes[used..]);
        }
    }

    /// Begins the answer to the next request, if one has come and nothing is being answered.
    pub fn next(&mut self, objects: &mut Objects, now: Instant) {
        if self.answering() || self.last || self.input.is_empty() {
            return;
        }
        let mut input = std::mem::take(&mut self.input);
        let used = self.parse(&input, objects, now);
        if !self.last {
            input.drain(..used);
            self.input = input;
        }
    }

    /// Begins the answer to the first request in `input`: how many bytes it has, 0 if it is
    /// not there as a whole.
    fn parse(&mut self, input: &[u8], objects: &mut Objects, now: Instant) -> usize {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let len = match request.parse_with_uninit_headers(input, &mut headers) {
            Ok(httparse::Status::Complete(len)) if len <= MAX_REQUEST => len,
            Ok(httparse::Status::Partial) if input.len() < MAX_REQUEST => return 0,
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return self.refuse(Status::Fields);
            }
            Err(httparse::Error::Version) => return self.refuse(Status::Version),
            Err(_) => return self.refuse(Status::BadRequest),
        };
        let newer = request.version == Some(1);
        let (mut close, mut keep, mut body, mut hosts) = (false, false, false, 0);
        for header in request.headers.iter() {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            if is("connection") {
                let has = |word: &[u8]| {
                    let mut words = header.value.split(|c| *c == b',');
                    words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word))
                };
                close |= has(b"close");
                keep |= has(b"keep-alive");
            } else if is("content-length") {
                body |= header.value != b"0";
            } else if is("transfer-encoding") {
                body = true;
            } else if is("host") {
                hosts += 1;
            }
        }
        if body {
            return self.refuse(Status::TooLarge);
        }
        if newer && hosts != 1 {
            return self.refuse(Status::BadRequest);
        }
        let method = request.method.unwrap_or_default();
        if method != "GET" && method != "HEAD" {
            return self.refuse(Status::Method);
        }
        let path = request.path.unwrap_or_default();
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        self.last = close || !newer && !keep;
        let Ok(found) = objects.find(path, now) else {
            return self.refuse(Status::Unavailable);
        };
        let len_of_body = found.as_ref().map_or(0, Object::len);
        self.head = Some(Head {
            status: match found {
                Some(_) => Status::Found,
                None => Status::NotFound,
            },
            len: len_of_body,
            after: match (self.last, newer) {
                (true, _) => After::Closes,
                (false, false) => After::StaysOlder,
                (false, true) => After::Stays,
            },
        });
        if method == "GET" {
            self.body = found;
        }
        self.begun = false;
        len
    }

    /// Answers what cannot be served; nothing after it can be understood.
    fn refuse(&mut self, status: Status) -> usize {
        self.head = Some(Head {
            status,
            len: 0,
            after: After::Closes,
        });
        self.last = true;
        0
    }

    /// Fills `out`, which is not longer than what is [left](Exchange::left), and has room for
    /// a head.
    ///
    /// # Errors
    /// If the object cannot be read.
    pub fn read(&mut self, out: &mut [u8]) -> io::Result<()> {
        let mut at = 0;
        if let Some(head) = self.head.take() {
            at = head.write(out);
        }
        let body = &mut out[at..];
        if let Some(object) = &self.body {
            object.read(self.offset, body)?;
            self.offset += body.len() as u64;
            if self.offset == object.len() {
                // An idle connection keeps no file open.
                (self.body, self.offset) = (None, 0);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(exchange: &mut Exchange, request: &[u8]) -> Vec<String> {
        let mut objects = Objects::new(None).expect("no folder");
        let now = Instant::now();
        exchange.receive(request, &mut objects, now);
        let mut all = Vec::new();
        loop {
            if !exchange.answering() {
                return all;
            }
            let mut out = vec![0; exchange.left() as usize];
            exchange.read(&mut out).expect("memory");
            let end = out
                .windows(4)
                .position(|w| w == b"\r\n\r\n")
                .expect("a head")
                + 4;
            let head = String::from_utf8(out[..end].to_vec()).expect("text");
            all.push(format!("{head}{} bytes", out.len() - end));
            exchange.next(&mut objects, now);
        }
    }

    fn one(request: &str) -> (String, bool) {
        let mut exchange = Exchange::default();
        let mut answers = answers(&mut exchange, request.as_bytes());
        assert_eq!(answers.len(), 1, "{request}");
        (answers.remove(0), exchange.is_last())
    }

    #[test]
    fn requests_and_answers() {
        let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ";
        let host = "Host: a\r\n";
        let cases = [
            (
                format!("GET /bytes/5 HTTP/1.1\r\n{host}\r\n"),
                format!("{ok}5\r\n\r\n5 bytes"),
                false,
            ),
            (
                format!("HEAD /bytes/5 HTTP/1.1\r\n{host}\r\n"),
                format!("{ok}5\r\n\r\n0 bytes"),
                false,
            ),
            (
                format!("GET /bytes/0?a=b HTTP/1.1\r\n{host}\r\n"),
                format!("{ok}0\r\n\r\n0 bytes"),
                false,
            ),
            (
                format!("GET /bytes/5 HTTP/1.1\r\n{host}Connection: x, Close\r\n\r\n"),
                format!("{ok}5\r\nConnection: close\r\n\r\n5 bytes"),
                true,
            ),
            (
                "GET /bytes/5 HTTP/1.0\r\n\r\n".into(),
                format!("{ok}5\r\nConnection: close\r\n\r\n5 bytes"),
                true,
            ),
            (
                "GET /bytes/5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".into(),
                format!("{ok}5\r\nConnection: keep-alive\r\n\r\n5 bytes"),
                false,
            ),
            (
                format!("GET /none HTTP/1.1\r\n{host}\r\n"),
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n0 bytes".into(),
                false,
            ),
        ];
        for (request, answer, last) in cases {
            assert_eq!(one(&request), (answer, last), "{request}");
        }
    }

    #[test]
    fn requests_that_are_refused() {
        let long = format!(
            "GET / HTTP/1.1\r\nHost: a\r\nA: {}",
            "b".repeat(MAX_REQUEST)
        );
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "A: b\r\n".repeat(MAX_HEADERS + 1)
        );
        let cases = [
            ("\0\0\0\0", "400"),
            ("GET / HTTP/2.0\r\n\r\n", "505"),
            ("GET / HTTP/1.1\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
            ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", "405"),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx",
                "413",
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "413",
            ),
            (&long, "431"),
            (&many, "431"),
        ];
        for (request, status) in cases {
            let (answer, last) = one(request);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")) && last,
                "{answer}"
            );
        }
    }

    #[test]
    fn requests_in_pieces_and_one_after_the_other() {
        let request = b"GET /bytes/7 HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut exchange = Exchange::default();
        for byte in &request[..request.len() - 1] {
            assert!(answers(&mut exchange, &[*byte]).is_empty());
            assert!(!exchange.input.is_empty());
        }
        assert_eq!(answers(&mut exchange, b"\n").len(), 1);
        assert!(exchange.input.is_empty());
        assert_eq!(answers(&mut exchange, &request.repeat(5)).len(), 5);
        assert!(!exchange.is_last() && !exchange.is_full());
    }
}
