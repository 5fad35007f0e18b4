//! The system's calls of a turn: what is received from all sockets, or sent to all of them, by
//! one call of io_uring; by a call for each where the system has no io_uring.
//!
//! `unsafe` here rests on one fact: when a function returns, none of its calls is in flight, so
//! that the system reads and writes a buffer only while it is borrowed.
#![allow(unsafe_code)]

use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::RawFd;

/// The most calls that the system is given at once.
const MOST: usize = 1024;

/// A call never waits: it is over as soon as the system has looked at it.
const FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// What one socket receives or sends.
pub struct Call {
    socket: RawFd,
    range: Range<usize>,
    result: i32,
}

impl Call {
    /// Into, or from, this place in the buffer.
    pub fn new(socket: RawFd, range: Range<usize>) -> Call {
        Call {
            socket,
            range,
            result: 0,
        }
    }

    /// Bytes of its place.
    pub fn room(&self) -> usize {
        self.range.len()
    }

    /// How many bytes were received or sent; `None` if the socket has none now, or no room.
    ///
    /// # Errors
    /// Those of the system.
    pub fn result(&self) -> io::Result<Option<usize>> {
        if self.result >= 0 {
            return Ok(Some(self.result as usize));
        }
        let error = io::Error::from_raw_os_error(-self.result);
        match error.kind() {
            ErrorKind::WouldBlock => Ok(None),
            _ => Err(error),
        }
    }
}

/// Makes calls.
pub struct Caller {
    ring: Option<IoUring>,
}

impl Caller {
    /// With io_uring, if the system has it and permits it.
    pub fn new() -> Caller {
        let ring = IoUring::builder()
            .setup_submit_all()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(MOST as u32);
        Caller { ring: ring.ok() }
    }

    /// Receives into places in `buffer`.
    ///
    /// # Panics
    /// If a place is not in the buffer.
    pub fn receive(&mut self, buffer: &mut [u8], calls: &mut [Call]) {
        check(buffer, calls);
        let entry = |socket, to, len| opcode::Recv::new(socket, to, len).flags(FLAGS).build();
        // SAFETY: see `run`.
        let alone = |socket, to: *mut u8, len| unsafe { libc::recv(socket, to.cast(), len, FLAGS) };
        // SAFETY: places are in the buffer, which is borrowed, and may be written.
        unsafe { self.run(buffer.as_mut_ptr(), calls, entry, alone) }
    }

    /// Sends what is at places in `buffer`.
    ///
    /// # Panics
    /// If a place is not in the buffer.
    pub fn send(&mut self, buffer: &[u8], calls: &mut [Call]) {
        check(buffer, calls);
        let entry =
            |socket, from: *mut u8, len| opcode::Send::new(socket, from, len).flags(FLAGS).build();
        // SAFETY: see `run`.
        let alone =
            |socket, from: *mut u8, len| unsafe { libc::send(socket, from.cast(), len, FLAGS) };
        // SAFETY: places are in the buffer, which is borrowed, and only read.
        unsafe { self.run(buffer.as_ptr().cast_mut(), calls, entry, alone) }
    }

    /// Makes the calls: together, as entries of a queue, or alone.
    ///
    /// # Safety
    /// What `entry` and `alone` do with memory at the calls' places from `buffer` on may be
    /// done until this returns.
    unsafe fn run(
        &mut self,
        buffer: *mut u8,
        calls: &mut [Call],
        entry: impl Fn(types::Fd, *mut u8, u32) -> Entry,
        alone: impl Fn(RawFd, *mut u8, usize) -> isize,
    ) {
        // SAFETY: it is in the buffer, or at its end.
        let place = |call: &Call| unsafe { buffer.add(call.range.start) };
        let Some(ring) = &mut self.ring else {
            for call in calls {
                call.result = loop {
                    let result = alone(call.socket, place(call), call.range.len());
                    let error = io::Error::last_os_error();
                    match error.kind() {
                        _ if result >= 0 => break result as i32,
                        ErrorKind::Interrupted => {}
                        _ => break -error.raw_os_error().unwrap_or(libc::EIO),
                    }
                };
            }
            return;
        };
        for calls in calls.chunks_mut(MOST) {
            let mut queue = ring.submission();
            for (i, call) in calls.iter().enumerate() {
                let (socket, len) = (types::Fd(call.socket), call.range.len() as u32);
                let entry = entry(socket, place(call), len).user_data(i as u64);
                // SAFETY: its memory may be used until it is over, which is waited for below.
                unsafe { queue.push(&entry) }.expect("an empty queue");
            }
            drop(queue);
            let mut left = calls.len();
            while left > 0 {
                if let Err(error) = ring.submit_and_wait(left)
                    && !matches!(
                        error.raw_os_error(),
                        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
                    )
                {
                    // To return would be unsound.
                    eprintln!("tls-server: io_uring: {error}");
                    std::process::abort();
                }
                for done in ring.completion() {
                    calls[done.user_data() as usize].result = done.result();
                    left -= 1;
                }
            }
        }
    }
}

/// All of them first: nothing may go wrong while some are in the queue.
fn check(buffer: &[u8], calls: &[Call]) {
    let inside = |range: &Range<usize>| range.start <= range.end && range.end <= buffer.len();
    assert!(
        calls.iter().all(|call| inside(&call.range)),
        "places in the buffer"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let one = TcpStream::connect(address).expect("a connection");
        (one, listener.accept().expect("a connection").0)
    }

    #[test]
    fn calls_together_and_alone() {
        for mut caller in [Caller::new(), Caller { ring: None }] {
            let pairs: Vec<_> = (0..100).map(|_| pair()).collect();
            let sent: Vec<u8> = (0..100).flat_map(|i| [i; 10]).collect();
            let call = |(i, socket): (usize, &TcpStream)| {
                Call::new(socket.as_raw_fd(), 10 * i..10 * (i + 1))
            };
            // The last of them sends nothing.
            let mut calls: Vec<_> = pairs.iter().map(|p| &p.0).enumerate().map(call).collect();
            caller.send(&sent, &mut calls[..99]);
            assert!(
                calls[..99]
                    .iter()
                    .all(|c| c.result().ok() == Some(Some(10)))
            );
            let mut received = vec![0; 1000];
            let mut calls: Vec<_> = pairs.iter().map(|p| &p.1).enumerate().map(call).collect();
            caller.receive(&mut received, &mut calls);
            assert!(
                calls[..99]
                    .iter()
                    .all(|c| c.result().ok() == Some(Some(10)))
            );
            assert_eq!(calls[99].result().ok(), Some(None));
            assert!(received[..990] == sent[..990] && received[990..] == [0; 10]);
        }
    }

    #[test]
    fn ends_and_errors() {
        for mut caller in [Caller::new(), Caller { ring: None }] {
            let ((ended, mut one), (reset, two)) = (pair(), pair());
            drop(ended);
            two.set_nodelay(true).expect("an option");
            (&reset).write_all(b"x").expect("room");
            // An unread byte makes the end of a socket a reset.
            drop(two);
            let mut buffer = [0; 20];
            let mut calls = [
                Call::new(one.as_raw_fd(), 0..10),
                Call::new(reset.as_raw_fd(), 10..20),
                Call::new(-1, 0..10),
            ];
            caller.receive(&mut buffer, &mut calls);
            assert_eq!(calls[0].result().ok(), Some(Some(0)));
            assert!(calls[1].result().is_err() && calls[2].result().is_err());
            let _ = one.write(b"x");
        }
    }

    #[test]
    #[should_panic(expected = "places in the buffer")]
    fn places_are_in_the_buffer() {
        Caller::new().receive(&mut [0; 10], &mut [Call::new(-1, 5..11)]);
    }
}
