//! One connection: its socket, its keys, what was received and what is to be sent.

use crate::http::Exchange;
use aescomb_rustls::record::{HEADER, RecordKey};
use mio::net::TcpStream;
use rustls::kernel::KernelConnection;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, UnbufferedStatus};
use rustls::{AlertDescription, ContentType, ServerConnection};
use std::time::Instant;

/// The most bytes that are read from a connection in a turn, and kept of it for the next one:
/// more than a record, and more than any message of a handshake that a client without a
/// certificate has to send.
pub const MAX_RECEIVED: usize = 32 << 10;

/// Bytes that a connection has room for in a turn, unless it has filled that in the last one: an
/// odd number of cache lines, and enough for a request and for messages of most handshakes.
pub const ROOM: usize = 15 * 64;

/// The most records of a connection in a turn.
pub const MAX_BURST: usize = 16;

/// So many records, or requests for new keys, without data are enough.
const MAX_FRUITLESS: u32 = 32;

/// Three cache lines: of a thousand connections none is in a cache near when its turn comes.
#[repr(align(64))]
pub struct Connection {
    pub socket: TcpStream,
    pub tls: Tls,
    /// Received, and not yet a whole record.
    pub partial: Vec<u8>,
    /// Sealed, and not yet sent from this place on.
    pub pending: Vec<u8>,
    pub pending_sent: u32,
    /// Whether there is data of an answer in it, or in what rustls has to send.
    pub pending_data: bool,
    pub exchange: Exchange,
    /// Bytes that it may receive in its next turn.
    pub room: u16,
    /// How many records it gets in its next turn: fewer if the client is slow.
    pub burst: u8,
    /// Whether the socket may have something to read, or room.
    pub readable: bool,
    pub writable: bool,
    /// Whether an event has said that the peer sends no more: then reading goes on to the end.
    pub reads_to_end: bool,
    /// Whether that end was read.
    pub hung_up: bool,
    /// Whether the peer has said that it sends no more.
    pub said_end: bool,
    /// In the list of those to be read, or of those that can send.
    pub in_reading: bool,
    pub in_sending: bool,
    pub closing: Closing,
    /// When it will have taken too long.
    pub deadline: Instant,
}

/// How far a connection's end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    No,
    /// The last record was made, or is among those that are due.
    Sending,
    /// Everything was sent; what still comes is not looked at.
    Waiting,
}

/// Who does the records.
pub enum Tls {
    /// With how many of the bytes that are kept are records that rustls has seen.
    Handshake(Box<(UnbufferedServerConnection, usize)>),
    Ours(Box<Records>),
    Rustls(Box<ServerConnection>),
    /// While its keys are taken out.
    Gone,
}

/// A connection whose records are ours. What a record takes is in one cache line beside the
/// keys.
#[repr(C)]
pub struct Records {
    pub tx: RecordKey,
    pub rx: RecordKey,
    /// The numbers of the next records.
    pub tx_seq: u64,
    pub rx_seq: u64,
    /// Messages of TLS itself that are due, before data.
    due: Vec<Due>,
    fruitless: u32,
    /// An incomplete message of a handshake.
    handshake: [u8; MESSAGE],
    handshake_len: u8,
    renegotiated: bool,
    kernel: KernelConnection<ServerConnectionData>,
}

/// Bytes of the only message of a handshake that may come in TLS 1.3, KeyUpdate.
const MESSAGE: usize = 5;

/// A message of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Alert(AlertDescription, bool),
    KeyUpdate,
}

const KEY_UPDATE: u8 = 24;
const CLIENT_HELLO: u8 = 1;

/// What came of a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    Data,
    Nothing,
    /// The peer sends no more.
    End,
    /// The peer has given up.
    Lost,
}

/// How far a handshake has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    Going,
    Done,
    Failed,
}

/// Goes on with a handshake on what was `received`, of which `used` counts the bytes that are
/// done with; the first `seen` bytes were given to rustls before. What is to be sent is put into
/// `out`.
///
/// rustls gets one more record at a time, so that it never sees what follows the client's
/// Finished: what it would do with that is lost when its keys are taken out.
pub fn handshake(
    tls: &mut UnbufferedServerConnection,
    received: &mut [u8],
    used: &mut usize,
    seen: &mut usize,
    out: &mut Vec<u8>,
) -> Handshake {
    let mut failed = false;
    // The end of the whole records that rustls has seen, and of what it sees now.
    let (mut whole, mut end) = (*seen, *seen);
    loop {
        let next = record_end(&received[whole..]);
        let after = next.map_or(received.len(), |len| whole + len);
        let shown = &mut received[*used..end];
        let UnbufferedStatus { discard, state } = tls.process_tls_records(shown);
        *used += discard;
        match state {
            Ok(ConnectionState::EncodeTlsData(message)) => encode(message, out),
            // `out` is sent before anything else.
            Ok(ConnectionState::TransmitTlsData(sent)) => sent.done(),
            Ok(ConnectionState::BlockedHandshake) if end < after => {
                // Of an incomplete record, too: its header alone may be wrong.
                end = after;
                if next.is_some() {
                    whole = after;
                }
            }
            Ok(ConnectionState::BlockedHandshake) => {
                *seen = whole - *used;
                return Handshake::Going;
            }
            Ok(ConnectionState::WriteTraffic(_)) => return Handshake::Done,
            // The peer has closed it, and there is nobody to answer.
            Ok(_) => return Handshake::Failed,
            // After an error rustls first has an alert to send, then the same error.
            Err(_) if failed => return Handshake::Failed,
            Err(_) => failed = true,
        }
    }
}

/// Where the first record ends, if it has come as a whole.
fn record_end(received: &[u8]) -> Option<usize> {
    let header = received.get(..HEADER)?;
    let end = HEADER + usize::from(u16::from_be_bytes([header[3], header[4]]));
    (end <= received.len()).then_some(end)
}

fn encode<Data>(mut message: EncodeTlsData<'_, Data>, out: &mut Vec<u8>) {
    let start = out.len();
    if let Err(EncodeError::InsufficientSize(size)) = message.encode(&mut []) {
        out.resize(start + size.required_size, 0);
        message
            .encode(&mut out[start..])
            .expect("a message of that length");
    }
}

impl Records {
    /// Takes the keys out of a connection that has shaken hands; those of CCM, too, if it has
    /// the suites of [`aescomb_rustls::kernel`].
    ///
    /// # Errors
    /// Those of rustls, and for suites without records of ours.
    pub fn taken(tls: UnbufferedServerConnection) -> Result<Records, String> {
        let (secrets, kernel) = tls
            .dangerous_into_kernel_connection()
            .map_err(|e| e.to_string())?;
        let suite = kernel.negotiated_cipher_suite();
        let direction = |(seq, secrets)| {
            let key = RecordKey::extracted(suite, secrets).map_err(|e| e.to_string())?;
            Ok::<_, String>((key, seq))
        };
        let ((tx, tx_seq), (rx, rx_seq)) = (direction(secrets.tx)?, direction(secrets.rx)?);
        Ok(Records {
            tx,
            rx,
            tx_seq,
            rx_seq,
            due: Vec::new(),
            fruitless: 0,
            handshake: [0; MESSAGE],
            handshake_len: 0,
            renegotiated: false,
            kernel,
        })
    }

    /// The length of the next record in `received`, header included; `None` if it has not
    /// come as a whole.
    ///
    /// # Errors
    /// The alert that is due for a header that no record has: said before the rest comes.
    pub fn next_record(&self, received: &[u8]) -> Result<Option<usize>, AlertDescription> {
        let Some(header) = received.get(..HEADER) else {
            return Ok(None);
        };
        let len = HEADER + usize::from(u16::from_be_bytes([header[3], header[4]]));
        if len > self.rx.max_record_len() {
            return Err(AlertDescription::RecordOverflow);
        }
        if received.len() >= len {
            return Ok(Some(len));
        }
        // Its type alone may say that it is none.
        let shortest = self.rx.record_len(0);
        let mut head = [0; 64];
        head[0] = header[0];
        match self.rx.inbound(self.rx_seq, &head[..shortest]) {
            Ok(_) => Ok(None),
            Err(alert) => Err(alert),
        }
    }

    /// Does what a record that was opened says, or hands its data to `data`.
    ///
    /// # Errors
    /// The alert that is due.
    pub fn receive(
        &mut self,
        content: ContentType,
        bytes: &[u8],
        data: impl FnOnce(&[u8]),
    ) -> Result<Received, AlertDescription> {
        if content != ContentType::Handshake && self.handshake_len > 0 {
            // A message goes on in records of its own.
            return Err(AlertDescription::UnexpectedMessage);
        }
        match content {
            ContentType::ApplicationData if bytes.is_empty() => {
                self.fruitless().map(|()| Received::Nothing)
            }
            ContentType::ApplicationData => {
                self.fruitless = 0;
                data(bytes);
                Ok(Received::Data)
            }
            ContentType::Alert => self.alerted(bytes),
            ContentType::Handshake => self.handshake(bytes).map(|()| Received::Nothing),
            _ => Err(AlertDescription::UnexpectedMessage),
        }
    }

    fn fruitless(&mut self) -> Result<(), AlertDescription> {
        self.fruitless += 1;
        match self.fruitless > MAX_FRUITLESS {
            true => Err(AlertDescription::UnexpectedMessage),
            false => Ok(()),
        }
    }

    fn alerted(&mut self, bytes: &[u8]) -> Result<Received, AlertDescription> {
        if bytes.is_empty() && self.rx.is_tls13() {
            // RFC 8446, section 5.4.
            return Err(AlertDescription::UnexpectedMessage);
        }
        let [level, description] = *bytes else {
            return Err(AlertDescription::DecodeError);
        };
        let warning = level == 1;
        match AlertDescription::from(description) {
            AlertDescription::CloseNotify => Ok(Received::End),
            AlertDescription::UserCanceled => self.fruitless().map(|()| Received::Nothing),
            _ if warning && !self.rx.is_tls13() => self.fruitless().map(|()| Received::Nothing),
            _ => Ok(Received::Lost),
        }
    }

    /// The message of a handshake that may come after it: new keys in TLS 1.3, and the wish
    /// for another handshake in 1.2, which is refused.
    fn handshake(&mut self, bytes: &[u8]) -> Result<(), AlertDescription> {
        self.fruitless()?;
        if bytes.is_empty() {
            return Err(AlertDescription::UnexpectedMessage);
        }
        if !self.rx.is_tls13() {
            let len = |b: &[u8]| u32::from_be_bytes([0, b[1], b[2], b[3]]) as usize;
            let whole = bytes.len() >= 4 && bytes.len() == 4 + len(bytes);
            if bytes[0] != CLIENT_HELLO || !whole || self.renegotiated {
                return Err(AlertDescription::UnexpectedMessage);
            }
            self.renegotiated = true;
            self.due
                .push(Due::Alert(AlertDescription::NoRenegotiation, true));
            return Ok(());
        }
        let had = usize::from(self.handshake_len);
        let (message, rest) = bytes.split_at(bytes.len().min(MESSAGE - had));
        self.handshake[had..had + message.len()].copy_from_slice(message);
        self.handshake_len += message.len() as u8;
        if self.handshake[0] != KEY_UPDATE {
            return Err(AlertDescription::UnexpectedMessage);
        }
        if usize::from(self.handshake_len) < MESSAGE {
            return Ok(());
        }
        let [_, a, b, c, request] = self.handshake;
        if [a, b, c] != [0, 0, 1] {
            return Err(AlertDescription::DecodeError);
        }
        if request > 1 {
            return Err(AlertDescription::IllegalParameter);
        }
        if !rest.is_empty() {
            // What follows would be under the new key.
            return Err(AlertDescription::UnexpectedMessage);
        }
        self.handshake_len = 0;
        let new = self.kernel.update_rx_secret();
        (self.rx, self.rx_seq) = self.new_key(new)?;
        // One answer to several requests is enough.
        if request == 1 && !self.due.contains(&Due::KeyUpdate) {
            self.due.push(Due::KeyUpdate);
        }
        Ok(())
    }

    fn new_key(
        &self,
        new: Result<(u64, rustls::ConnectionTrafficSecrets), rustls::Error>,
    ) -> Result<(RecordKey, u64), AlertDescription> {
        let suite = self.kernel.negotiated_cipher_suite();
        let (seq, secrets) = new.map_err(|_| AlertDescription::InternalError)?;
        let key = RecordKey::extracted(suite, secrets);
        let key = key.map_err(|_| AlertDescription::InternalError)?;
        Ok((key, seq))
    }

    /// An alert before anything else that is not yet sealed.
    pub fn alert(&mut self, alert: AlertDescription) {
        self.due.clear();
        let warning = alert == AlertDescription::CloseNotify;
        self.due.push(Due::Alert(alert, warning));
    }

    /// Whether messages of TLS are due.
    pub fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Whether the key has sealed as many records as it may, but for two: an alert and what
    /// asks for a new key.
    pub fn is_worn(&self, most: u64) -> bool {
        self.tx_seq + 2 >= most.min(self.tx.confidentiality_limit())
    }

    /// Sees to it that a new key is made in time, where the version has that; in TLS 1.2 the
    /// connection has to end.
    pub fn renew(&mut self) -> bool {
        if !self.tx.is_tls13() {
            return false;
        }
        if !self.due.contains(&Due::KeyUpdate) {
            self.due.push(Due::KeyUpdate);
        }
        true
    }

    /// The next message that is due, with its type, and whether a new key follows it.
    pub fn take_due(&mut self) -> Option<(ContentType, Vec<u8>, bool)> {
        if self.due.is_empty() {
            return None;
        }
        Some(match self.due.remove(0) {
            Due::Alert(alert, warning) => {
                let level = if warning { 1 } else { 2 };
                (ContentType::Alert, vec![level, alert.into()], false)
            }
            Due::KeyUpdate => (ContentType::Handshake, vec![KEY_UPDATE, 0, 0, 1, 0], true),
        })
    }

    /// The key for what comes after a message that said so.
    ///
    /// # Errors
    /// Those of rustls.
    pub fn next_key(&mut self) -> Result<(), AlertDescription> {
        let new = self.kernel.update_tx_secret();
        (self.tx, self.tx_seq) = self.new_key(new)?;
        Ok(())
    }
}

impl Connection {
    pub fn new(socket: TcpStream, tls: Tls, deadline: Instant) -> Connection {
        Connection {
            socket,
            tls,
            partial: Vec::new(),
            pending: Vec::new(),
            pending_sent: 0,
            pending_data: false,
            exchange: Exchange::default(),
            room: ROOM as u16,
            burst: MAX_BURST as u8 / 4,
            readable: false,
            // A new socket has room, and no event need say so.
            writable: true,
            reads_to_end: false,
            hung_up: false,
            said_end: false,
            in_reading: false,
            in_sending: false,
            closing: Closing::No,
            deadline,
        }
    }

    /// Whether the connection has sealed bytes that wait for room in the socket.
    pub fn is_pending(&self) -> bool {
        (self.pending_sent as usize) < self.pending.len()
    }

    /// Something of every line of memory that a request and its answer take.
    pub fn look(&self) -> u64 {
        let own = self.exchange.left() + u64::from(self.readable) + self.partial.len() as u64;
        match &self.tls {
            Tls::Ours(records) => {
                let key = |key: &RecordKey| key.tag_bytes() as u64 + key.mode() as u64;
                own + key(&records.tx) + key(&records.rx) + records.tx_seq
            }
            _ => own,
        }
    }

    /// Whether nothing is to be done for it once everything is sent, as its deadline is what it
    /// would then become.
    pub fn rests(&self, deadline: Instant) -> bool {
        let due = matches!(&self.tls, Tls::Ours(records) if records.is_due());
        let more = self.readable || !self.partial.is_empty() || self.exchange.answering();
        let same = self.deadline == deadline && usize::from(self.burst) == MAX_BURST;
        same && !due && !more && self.closing == Closing::No
    }

    /// Whether the peer sends no more requests.
    pub fn is_ended(&self) -> bool {
        self.hung_up || self.said_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_connection() {
        assert!(size_of::<Connection>() <= 3 * 64);
        let end = std::mem::offset_of!(Records, kernel);
        let first = std::mem::offset_of!(Records, tx_seq);
        assert_eq!(first / 64, (end - 1) / 64, "a line for what is beside keys");
    }
}
