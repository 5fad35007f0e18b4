//! The event loop.
//!
//! A turn waits for events, receives from all connections that have something, opens their
//! records together, makes records for all connections that can be written to, seals them
//! together, and sends them.

use crate::connection::{
    Closing, Connection, Direction, Handshake, MAX_BURST, MAX_RECEIVED, Received, Records, Tls,
    handshake,
};
use crate::object::Objects;
use crate::records::{BUFFER, Count, Engine, Record};
use crate::{Layer, Options};
use aescomb_rustls::record::MAX_DATA;
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use rustls::server::UnbufferedServerConnection;
use rustls::{AlertDescription, ContentType, ServerConfig, ServerConnection};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use slab::Slab;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
const SIGNALS: Token = Token(usize::MAX - 1);

/// How long a handshake, a request from its first to its last byte, and the peer's last words
/// may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
const REQUEST: Duration = Duration::from_secs(30);
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How often connections are looked at for what has taken too long.
const SWEEP: Duration = Duration::from_secs(1);

/// Room for the longest record.
const MAX_RECORD: usize = MAX_DATA + 64;

/// What a server has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub connections: u64,
    pub sealed: Count,
    pub opened: Count,
}

pub struct Server {
    poll: Poll,
    /// None when no more connections are accepted.
    listener: Option<TcpListener>,
    signals: Signals,
    tls: Arc<ServerConfig>,
    options: Options,
    objects: Objects,
    connections: Slab<Connection>,
    /// Those with something to be read, and those with something to send, in turn.
    reading: VecDeque<usize>,
    sending: VecDeque<usize>,
    engine: Engine,
    /// What was received in this turn, and what will be sent.
    inbox: Box<[u8]>,
    outbox: Box<[u8]>,
    records: Vec<Record>,
    bad: Vec<usize>,
    slots: Vec<Slot>,
    spans: Vec<Span>,
    accepting: bool,
    stopping: Option<Instant>,
    accepted: u64,
    now: Instant,
    swept: Instant,
}

/// What a connection has received, in the inbox.
struct Slot {
    connection: usize,
    at: usize,
    end: usize,
    done: bool,
}

/// What a connection sends, in the outbox.
struct Span {
    connection: usize,
    start: usize,
    end: usize,
    /// What comes after it is under a new key.
    new_key: bool,
    /// Whether there is data of an answer in it.
    data: bool,
}

impl Server {
    /// A server that listens, and the address at which it does.
    pub fn new(
        options: Options,
        tls: Arc<ServerConfig>,
        objects: Objects,
    ) -> io::Result<(Server, SocketAddr)> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(options.listen)?;
        let address = listener.local_addr()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        poll.registry()
            .register(&mut signals, SIGNALS, Interest::READABLE)?;
        let now = Instant::now();
        let server = Server {
            poll,
            listener: Some(listener),
            signals,
            tls,
            engine: Engine::new(options.layer == Layer::Single),
            options,
            objects,
            connections: Slab::new(),
            reading: VecDeque::new(),
            sending: VecDeque::new(),
            inbox: vec![0; BUFFER].into_boxed_slice(),
            outbox: vec![0; BUFFER].into_boxed_slice(),
            records: Vec::new(),
            bad: Vec::new(),
            slots: Vec::new(),
            spans: Vec::new(),
            accepting: true,
            stopping: None,
            accepted: 0,
            now,
            swept: now,
        };
        Ok((server, address))
    }

    /// Serves until a signal says to stop, and then until all answers are sent.
    ///
    /// # Errors
    /// Those of the system that have nothing to do with one connection.
    pub fn run(mut self) -> io::Result<Summary> {
        let mut events = Events::with_capacity(1024);
        loop {
            let busy = !self.reading.is_empty() || !self.sending.is_empty();
            let wait = if busy { Duration::ZERO } else { SWEEP };
            self.wait(&mut events, wait)?;
            if !busy && !events.is_empty() && !self.options.gather.is_zero() {
                self.events(&events);
                std::thread::sleep(self.options.gather);
                self.wait(&mut events, Duration::ZERO)?;
            }
            self.now = Instant::now();
            self.events(&events);
            self.receive();
            self.send();
            if self.now.duration_since(self.swept) >= SWEEP {
                self.sweep();
            }
            // Not before: a place is not given away as long as the turn knows it.
            if !self.accepting && self.connections.len() < self.options.connections {
                self.accepting = true;
                self.accept();
            }
            let over = self.stopping.is_some_and(|end| self.now >= end);
            if self.stopping.is_some() && (self.connections.is_empty() || over) {
                return Ok(Summary {
                    connections: self.accepted,
                    sealed: self.engine.sealed,
                    opened: self.engine.opened,
                });
            }
        }
    }

    fn wait(&mut self, events: &mut Events, wait: Duration) -> io::Result<()> {
        match self.poll.poll(events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    fn events(&mut self, events: &Events) {
        let mut accept = false;
        for event in events {
            match event.token() {
                LISTENER => accept = true,
                SIGNALS => {
                    if self.signals.pending().next().is_some() {
                        self.stop();
                    }
                }
                Token(id) => self.event(id, event),
            }
        }
        if accept {
            self.accept();
        }
    }

    fn event(&mut self, id: usize, event: &Event) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.reads_to_end |= event.is_read_closed();
        connection.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        if event.is_writable() {
            connection.writable = true;
        }
        if connection.readable {
            self.wants_read(id);
        }
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.writable && connection.is_pending() {
            self.flush(id);
        } else if connection.writable && matches!(connection.tls, Tls::Rustls(_)) {
            self.wants_send(id);
        }
    }

    fn accept(&mut self) {
        loop {
            if self.connections.len() >= self.options.connections {
                // Those that wait are accepted when others have ended.
                self.accepting = false;
                return;
            }
            let Some(listener) = &self.listener else {
                return;
            };
            let socket = match listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => continue,
                    ErrorKind::WouldBlock => return,
                    // The system has nothing left for another one; it passes.
                    _ => {
                        self.accepting = false;
                        return;
                    }
                },
            };
            let tls = match self.options.layer {
                Layer::Batch | Layer::Single => UnbufferedServerConnection::new(self.tls.clone())
                    .map(|tls| Tls::Handshake(Box::new(tls), 0)),
                _ => ServerConnection::new(self.tls.clone()).map(|mut tls| {
                    // A turn puts no more into it than ours has.
                    tls.set_buffer_limit(None);
                    Tls::Rustls(Box::new(tls))
                }),
            };
            let Ok(tls) = tls else {
                self.accepting = false;
                return;
            };
            let _ = socket.set_nodelay(true);
            let entry = self.connections.vacant_entry();
            let token = Token(entry.key());
            let connection = entry.insert(Connection::new(socket, tls, self.now + HANDSHAKE));
            let both = Interest::READABLE | Interest::WRITABLE;
            let registered = self
                .poll
                .registry()
                .register(&mut connection.socket, token, both);
            if registered.is_err() {
                self.connections.remove(token.0);
                self.accepting = false;
                return;
            }
            self.accepted += 1;
        }
    }

    fn wants_read(&mut self, id: usize) {
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.in_reading
        {
            connection.in_reading = true;
            self.reading.push_back(id);
        }
    }

    fn wants_send(&mut self, id: usize) {
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.in_sending
            && !connection.is_pending()
        {
            connection.in_sending = true;
            self.sending.push_back(id);
        }
    }

    /// Ends a connection at once. Its place may still be in the lists.
    fn remove(&mut self, id: usize) {
        if self.connections.contains(id) {
            let mut connection = self.connections.remove(id);
            let _ = self.poll.registry().deregister(&mut connection.socket);
        }
    }

    /// Receives from all connections that have something, opens their records, one of each
    /// connection at a time, as it may say that the next one is under another key, and does
    /// what is in them.
    fn receive(&mut self) {
        let mut used = 0;
        self.fetch(&self.reading);
        for _ in 0..self.reading.len() {
            if used + MAX_RECEIVED > BUFFER {
                break;
            }
            let id = self.reading.pop_front().expect("counted");
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            if !std::mem::take(&mut connection.in_reading) {
                // Of another connection that had this place.
                continue;
            }
            if matches!(connection.tls, Tls::Rustls(_)) {
                self.receive_by_rustls(id);
                continue;
            }
            let room = &mut self.inbox[used..used + MAX_RECEIVED];
            match receive_bytes(connection, room) {
                Ok(0) => self.nothing_more(id),
                Ok(len) => {
                    self.slots.push(Slot {
                        connection: id,
                        at: used,
                        end: used + len,
                        done: false,
                    });
                    used += len;
                }
                Err(_) => self.remove(id),
            }
        }
        let mut slots = std::mem::take(&mut self.slots);
        while self.open(&mut slots) {}
        for slot in slots.drain(..) {
            let Some(connection) = self.connections.get_mut(slot.connection) else {
                continue;
            };
            connection
                .partial
                .extend_from_slice(&self.inbox[slot.at..slot.end]);
            if connection.readable && !connection.exchange.is_full() {
                self.wants_read(slot.connection);
            }
            self.nothing_more(slot.connection);
        }
        self.slots = slots;
    }

    /// Looks at all connections of a list, one right after the other: what of them is
    /// not in a cache comes from memory side by side, instead of one line at a time between
    /// calls of the system.
    fn fetch(&self, list: &VecDeque<usize>) {
        let places = list.iter().filter_map(|id| self.connections.get(*id));
        let sum = places.fold(0, |sum: u64, connection| {
            sum.wrapping_add(connection.look())
        });
        std::hint::black_box(sum);
    }

    /// The next record of every slot: whether there may be more.
    fn open(&mut self, slots: &mut [Slot]) -> bool {
        self.records.clear();
        for slot in slots.iter_mut().filter(|slot| !slot.done) {
            slot.done = !self.next_record(slot);
        }
        let Server {
            engine,
            connections,
            inbox,
            records,
            bad,
            ..
        } = self;
        if records.is_empty() {
            return slots.iter().any(|slot| !slot.done);
        }
        let opened = engine.open(inbox, records, |id| &ours(connections, id).rx.key, bad);
        opened.expect("records of allowed lengths");
        bad.sort_unstable();
        let records = std::mem::take(&mut self.records);
        for (i, record) in records.iter().enumerate() {
            self.opened(record, self.bad.binary_search(&i).is_ok());
        }
        self.records = records;
        true
    }

    /// Puts the next record of a slot among those that are to be opened, or goes on with its
    /// handshake: whether there may be more.
    fn next_record(&mut self, slot: &mut Slot) -> bool {
        let id = slot.connection;
        let Some(connection) = self.connections.get_mut(id) else {
            return false;
        };
        if connection.closing != Closing::No || connection.said_end {
            slot.at = slot.end;
            return false;
        }
        let received = &mut self.inbox[slot.at..slot.end];
        let records = match &mut connection.tls {
            Tls::Ours(records) => records,
            Tls::Handshake(..) => {
                slot.at += self.handshake(id, slot.at..slot.end);
                let going = self.connections.get(id);
                return going.is_some_and(|c| matches!(c.tls, Tls::Ours(_)));
            }
            Tls::Rustls(_) | Tls::Gone => return false,
        };
        if connection.exchange.is_full() && connection.exchange.answering() {
            return false;
        }
        let alert = match records.next_record(received) {
            Ok(None) => return false,
            Ok(Some(len)) => match records.rx.key.inbound(records.rx.seq, &received[..len]) {
                Ok(frame) => {
                    records.rx.seq += 1;
                    self.records.push(Record {
                        range: slot.at..slot.at + len,
                        frame,
                        connection: id,
                    });
                    slot.at += len;
                    return true;
                }
                Err(alert) => alert,
            },
            Err(alert) => alert,
        };
        slot.at = slot.end;
        self.fail(id, alert);
        false
    }

    /// Goes on with a handshake: how many bytes are done with.
    fn handshake(&mut self, id: usize, received: std::ops::Range<usize>) -> usize {
        let connection = &mut self.connections[id];
        let Tls::Handshake(tls, seen) = &mut connection.tls else {
            return 0;
        };
        let mut used = 0;
        let full = received.len() >= MAX_RECEIVED;
        let step = handshake(
            tls,
            &mut self.inbox[received],
            &mut used,
            seen,
            &mut connection.pending,
        );
        match step {
            // A message that never ends.
            Handshake::Going if full && used == 0 => self.remove(id),
            Handshake::Going => self.flush(id),
            Handshake::Failed => {
                connection.closing = Closing::Sending;
                self.flush(id);
            }
            Handshake::Done => self.shaken(id),
        }
        used
    }

    /// Takes the keys of a connection that has shaken hands.
    fn shaken(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        let tls = match std::mem::replace(&mut connection.tls, Tls::Gone) {
            Tls::Handshake(tls, _) => tls,
            other => {
                connection.tls = other;
                return;
            }
        };
        match Records::taken(*tls) {
            Ok(records) => connection.tls = Tls::Ours(Box::new(records)),
            Err(_) => return self.remove(id),
        }
        connection.deadline = self.now + self.options.idle;
        self.flush(id);
    }

    /// Does what is in a record.
    fn opened(&mut self, record: &Record, bad: bool) {
        let id = record.connection;
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let Tls::Ours(records) = &mut connection.tls else {
            return;
        };
        let bytes = &self.inbox[record.range.clone()];
        let (exchange, objects, now) = (&mut connection.exchange, &mut self.objects, self.now);
        let begun = exchange.answering();
        let received = match bad {
            true => Err(AlertDescription::BadRecordMac),
            false => record.frame.contents(bytes).and_then(|(content, range)| {
                records.receive(content, &bytes[range], |data| {
                    exchange.receive(data, objects, now)
                })
            }),
        };
        match received {
            Ok(Received::Data) if begun => {}
            Ok(Received::Data) => self.answer(id),
            Ok(Received::Nothing) => {
                if records.is_due() {
                    self.wants_send(id);
                }
            }
            Ok(Received::End) => {
                connection.said_end = true;
                self.nothing_more(id);
            }
            Ok(Received::Lost) => self.remove(id),
            Err(alert) => self.fail(id, alert),
        }
    }

    /// After data has come: sends the answer, or waits for the rest of the request.
    fn answer(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        if connection.exchange.answering() {
            connection.deadline = self.now + self.options.idle;
            if self.stopping.is_some() {
                connection.exchange.end();
            }
            self.wants_send(id);
        } else if connection.exchange.has_begun() {
            // From the first byte on, however slowly others follow.
            connection.deadline = self.now + REQUEST;
        }
    }

    /// The peer sends no more: when everything is answered, the connection is closed.
    fn nothing_more(&mut self, id: usize) {
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        match connection.closing {
            Closing::Waiting if connection.hung_up => self.remove(id),
            Closing::No if connection.is_ended() && !connection.exchange.answering() => {
                self.close(id);
            }
            _ => {}
        }
    }

    /// Says that nothing more comes, and then ends the connection.
    fn close(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        match &mut connection.tls {
            Tls::Ours(records) => records.alert(AlertDescription::CloseNotify),
            Tls::Rustls(tls) => tls.send_close_notify(),
            _ => return self.remove(id),
        }
        connection.closing = Closing::Sending;
        connection.deadline = self.now + LAST_WORDS;
        self.wants_send(id);
    }

    /// Ends a connection with an alert.
    fn fail(&mut self, id: usize, alert: AlertDescription) {
        let connection = &mut self.connections[id];
        if let Tls::Ours(records) = &mut connection.tls {
            records.alert(alert);
        }
        connection.exchange = Default::default();
        connection.closing = Closing::Sending;
        connection.deadline = self.now + LAST_WORDS;
        self.wants_send(id);
    }

    /// Makes records for all connections that can be written to, seals and sends them.
    fn send(&mut self) {
        let mut used = 0;
        self.fetch(&self.sending);
        self.records.clear();
        for _ in 0..self.sending.len() {
            if used + MAX_RECORD > BUFFER {
                break;
            }
            let id = self.sending.pop_front().expect("counted");
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            if !std::mem::take(&mut connection.in_sending) {
                continue;
            }
            if connection.is_pending() || connection.closing == Closing::Waiting {
                continue;
            }
            if matches!(connection.tls, Tls::Rustls(_)) {
                self.send_by_rustls(id);
                continue;
            }
            let start = used;
            match self.fill(id, &mut used) {
                Ok((new_key, data)) => self.spans.push(Span {
                    connection: id,
                    start,
                    end: used,
                    new_key,
                    data,
                }),
                // An object that cannot be read: the peer sees that something is missing.
                Err(_) => {
                    while self.records.last().is_some_and(|r| r.connection == id) {
                        self.records.pop();
                    }
                    used = start;
                    self.remove(id);
                }
            }
        }
        let Server {
            engine,
            connections,
            outbox,
            records,
            ..
        } = self;
        if !records.is_empty() {
            let sealed = engine.seal(outbox, records, |id| &ours(connections, id).tx.key);
            sealed.expect("records of allowed lengths");
        }
        let mut spans = std::mem::take(&mut self.spans);
        for span in spans.drain(..) {
            self.send_span(span);
        }
        self.spans = spans;
    }

    /// Makes the records of a connection from `used` on: whether a new key follows them,
    /// and whether they have data.
    fn fill(&mut self, id: usize, used: &mut usize) -> io::Result<(bool, bool)> {
        let connection = &mut self.connections[id];
        let ended = connection.is_ended();
        let Tls::Ours(ours) = &mut connection.tls else {
            return Ok((false, false));
        };
        let mut add = |tx: &mut Direction,
                       content: ContentType,
                       len: usize,
                       write: &mut dyn FnMut(&mut [u8]) -> io::Result<()>| {
            let record = &mut self.outbox[*used..][..tx.key.record_len(len)];
            let prefix = tx.key.prefix();
            write(&mut record[prefix..prefix + len])?;
            let frame = tx.key.frame(tx.seq, content, record);
            tx.seq += 1;
            let range = *used..*used + record.len();
            *used = range.end;
            self.records.push(Record {
                range,
                frame,
                connection: id,
            });
            io::Result::Ok(*used + MAX_RECORD <= BUFFER)
        };
        let mut burst = 0;
        loop {
            let worn = ours.is_worn(self.options.rekey) && connection.closing == Closing::No;
            if worn && !ours.renew() {
                ours.alert(AlertDescription::CloseNotify);
                connection.closing = Closing::Sending;
            }
            while let Some((content, bytes, new_key)) = ours.take_due() {
                let room = add(&mut ours.tx, content, bytes.len(), &mut |to| {
                    to.copy_from_slice(&bytes);
                    Ok(())
                })?;
                if new_key || !room {
                    return Ok((new_key, burst > 0));
                }
            }
            let exchange = &mut connection.exchange;
            if connection.closing != Closing::No || !exchange.answering() {
                return Ok((false, burst > 0));
            }
            if burst == connection.burst {
                return Ok((false, true));
            }
            burst += 1;
            let len = exchange.left().min(MAX_DATA as u64) as usize;
            let room = add(&mut ours.tx, ContentType::ApplicationData, len, &mut |to| {
                exchange.read(to)
            })?;
            if !exchange.answering() {
                exchange.next(&mut self.objects, self.now);
                if !exchange.answering() && (exchange.is_last() || self.stopping.is_some() || ended)
                {
                    ours.alert(AlertDescription::CloseNotify);
                    connection.closing = Closing::Sending;
                }
            }
            if !room {
                return Ok((false, true));
            }
        }
    }

    fn send_span(&mut self, span: Span) {
        let id = span.connection;
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if span.new_key
            && let Tls::Ours(records) = &mut connection.tls
            && records.next_key().is_err()
        {
            return self.remove(id);
        }
        let bytes = &self.outbox[span.start..span.end];
        let sent = match send_bytes(connection, bytes) {
            Ok(sent) => sent,
            Err(_) => return self.remove(id),
        };
        if sent > 0 && span.data && connection.closing == Closing::No {
            connection.deadline = self.now + self.options.idle;
        }
        if sent < bytes.len() {
            connection.pending.extend_from_slice(&bytes[sent..]);
            connection.pending_data = span.data;
            connection.burst = (sent / MAX_RECORD).clamp(1, MAX_BURST);
            return;
        }
        connection.burst = (connection.burst * 2).min(MAX_BURST);
        self.go_on(id);
    }

    /// Sends what is pending; what is due comes after it.
    fn flush(&mut self, id: usize) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let pending = std::mem::take(&mut connection.pending);
        let from = connection.pending_sent;
        let sent = match send_bytes(connection, &pending[from..]) {
            Ok(sent) => sent,
            Err(_) => return self.remove(id),
        };
        if sent > 0 && connection.pending_data && connection.closing == Closing::No {
            connection.deadline = self.now + self.options.idle;
        }
        if from + sent < pending.len() {
            connection.pending = pending;
            connection.pending_sent = from + sent;
        } else {
            // Its memory is given back.
            connection.pending_sent = 0;
            connection.pending_data = false;
            self.go_on(id);
        }
    }

    /// What a connection does that has sent everything.
    fn go_on(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        let due = match &connection.tls {
            Tls::Ours(records) => records.is_due(),
            _ => false,
        };
        let answering = connection.exchange.answering() && connection.closing == Closing::No;
        if due || answering {
            self.wants_send(id);
        } else if connection.closing != Closing::No {
            self.finish(id);
        } else if connection.readable || !connection.partial.is_empty() {
            // It was not read while too much waited for an answer.
            self.wants_read(id);
        }
    }

    /// After the last record: no more is sent, and what comes is not looked at until the peer
    /// ends, too, or it takes too long. Without that, it might never see the last record.
    fn finish(&mut self, id: usize) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.is_pending() {
            return;
        }
        let shut = connection.socket.shutdown(Shutdown::Write);
        if shut.is_err() || connection.hung_up {
            return self.remove(id);
        }
        connection.closing = Closing::Waiting;
        connection.deadline = self.now + LAST_WORDS;
        self.wants_read(id);
    }

    fn receive_by_rustls(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        if connection.closing == Closing::Waiting {
            match receive_bytes(connection, &mut self.inbox[..MAX_RECEIVED]) {
                Ok(_) if connection.readable => self.wants_read(id),
                Ok(_) => self.nothing_more(id),
                Err(_) => self.remove(id),
            }
            return;
        }
        let Tls::Rustls(tls) = &mut connection.tls else {
            return;
        };
        let handshaking = tls.is_handshaking();
        let (mut came, mut left) = (false, MAX_RECEIVED);
        while connection.readable && !connection.exchange.is_full() && left > 0 {
            match tls.read_tls(&mut connection.socket) {
                Ok(0) => {
                    connection.hung_up = true;
                    connection.readable = false;
                }
                // The others want a turn, too.
                Ok(n) => left = left.saturating_sub(n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => connection.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return self.remove(id),
            }
            let state = match tls.process_new_packets() {
                Ok(state) => state,
                Err(_) => {
                    connection.exchange = Default::default();
                    connection.closing = Closing::Sending;
                    return self.wants_send(id);
                }
            };
            connection.said_end |= state.peer_has_closed();
            let room = &mut self.inbox[..MAX_RECEIVED];
            while let Ok(len @ 1..) = tls.reader().read(room) {
                connection
                    .exchange
                    .receive(&room[..len], &mut self.objects, self.now);
                came = true;
            }
        }
        if handshaking && !tls.is_handshaking() {
            connection.deadline = self.now + self.options.idle;
        }
        let more = left == 0 && connection.readable;
        if tls.wants_write() {
            self.wants_send(id);
        }
        if more {
            self.wants_read(id);
        }
        if came {
            self.answer(id);
        }
        self.nothing_more(id);
    }

    fn send_by_rustls(&mut self, id: usize) {
        let connection = &mut self.connections[id];
        let ended = connection.is_ended();
        let Tls::Rustls(tls) = &mut connection.tls else {
            return;
        };
        for turn in 0..2 {
            while tls.wants_write() {
                match tls.write_tls(&mut connection.socket) {
                    Ok(_) => {
                        if connection.pending_data && connection.closing == Closing::No {
                            connection.deadline = self.now + self.options.idle;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        connection.writable = false;
                        return;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return self.remove(id),
                }
            }
            connection.pending_data = false;
            if turn == 1 || tls.is_handshaking() {
                break;
            }
            // As many records as ours makes for a connection in a turn.
            for _ in 0..MAX_BURST {
                let exchange = &mut connection.exchange;
                if !exchange.answering() || connection.closing != Closing::No {
                    break;
                }
                connection.pending_data = true;
                let len = exchange.left().min(MAX_DATA as u64) as usize;
                let data = &mut self.outbox[..len];
                if exchange.read(data).is_err() || tls.writer().write_all(data).is_err() {
                    return self.remove(id);
                }
                if !exchange.answering() {
                    exchange.next(&mut self.objects, self.now);
                    if !exchange.answering()
                        && (exchange.is_last() || self.stopping.is_some() || ended)
                    {
                        tls.send_close_notify();
                        connection.closing = Closing::Sending;
                    }
                }
            }
        }
        let connection = &self.connections[id];
        if connection.exchange.answering() && connection.closing == Closing::No {
            self.wants_send(id);
        } else if connection.closing != Closing::No {
            self.finish(id);
        } else if connection.readable {
            self.wants_read(id);
        }
    }

    /// No more connections, and no more requests on those there are.
    fn stop(&mut self) {
        if self.stopping.is_some() {
            // The second signal does not wait.
            self.stopping = Some(self.now);
            return;
        }
        self.stopping = Some(self.now + self.options.grace);
        self.listener = None;
        let all: Vec<usize> = self.connections.iter().map(|(id, _)| id).collect();
        for id in all {
            let connection = &mut self.connections[id];
            connection.exchange.end();
            if !connection.exchange.answering() && connection.closing == Closing::No {
                self.close(id);
            }
        }
    }

    /// Ends what has taken too long.
    fn sweep(&mut self) {
        self.swept = self.now;
        let late = |(id, c): (usize, &Connection)| (c.deadline <= self.now).then_some(id);
        let late: Vec<usize> = self.connections.iter().filter_map(late).collect();
        for id in late {
            let connection = &self.connections[id];
            let idle = !connection.exchange.answering() && !connection.is_pending();
            match &connection.tls {
                _ if !idle || connection.closing != Closing::No => self.remove(id),
                Tls::Rustls(tls) if tls.is_handshaking() => self.remove(id),
                _ => self.close(id),
            }
        }
    }
}

fn ours(connections: &Slab<Connection>, id: usize) -> &Records {
    match &connections[id].tls {
        Tls::Ours(records) => records,
        _ => unreachable!("records are made for such connections only"),
    }
}

/// What was kept of a connection and what has come, in `room`.
fn receive_bytes(connection: &mut Connection, room: &mut [u8]) -> io::Result<usize> {
    let mut len = connection.partial.len();
    room[..len].copy_from_slice(&connection.partial);
    connection.partial.clear();
    while connection.readable && len < room.len() {
        match connection.socket.read(&mut room[len..]) {
            Ok(0) => {
                connection.hung_up = true;
                connection.readable = false;
            }
            Ok(n) => {
                len += n;
                // There was no more, or an event will say so.
                connection.readable = len == room.len() || connection.reads_to_end;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => connection.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// How many bytes the socket takes: fewer than there are if it has no more room.
fn send_bytes(connection: &mut Connection, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() && connection.writable {
        match connection.socket.write(&bytes[sent..]) {
            Ok(n) => sent += n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => connection.writable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
