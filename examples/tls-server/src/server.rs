//! The event loop.
//!
//! A turn waits for events, receives from all connections that have something, opens their
//! records together, makes records for all connections that can be written to, seals them
//! together, and sends them.

use crate::calls::{Call, Caller};
use crate::connection::{
    Closing, Connection, Handshake, MAX_BURST, MAX_RECEIVED, ROOM, Received, Records, Tls,
    handshake,
};
use crate::object::Objects;
use crate::records::{BUFFER, Count, Engine, Record};
use crate::{Layer, Options};
use aescomb::Mode;
use aescomb_rustls::record::{MAX_DATA, RecordKey};
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
use std::os::fd::AsRawFd;
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
    caller: Caller,
    calls: Vec<Call>,
    /// What was received in this turn, and what will be sent.
    inbox: Box<[u8]>,
    outbox: Box<[u8]>,
    /// Records of a turn, those of each mode by themselves: a call is for one mode.
    records: [Vec<Record>; 2],
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
    /// Whether it is among those that have called the system.
    called: bool,
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
    /// Whether nothing is to be done for the connection once all of it is sent: then it need
    /// not be looked at again, after the system has had the caches.
    rests: bool,
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
            caller: Caller::new(),
            calls: Vec::new(),
            options,
            objects,
            connections: Slab::new(),
            reading: VecDeque::new(),
            sending: VecDeque::new(),
            inbox: vec![0; BUFFER].into_boxed_slice(),
            outbox: vec![0; BUFFER].into_boxed_slice(),
            records: Default::default(),
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
                    .map(|tls| Tls::Handshake(Box::new((tls, 0)))),
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
        self.calls.clear();
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
            let kept = used + connection.partial.len();
            if kept > used {
                self.inbox[used..kept].copy_from_slice(&connection.partial);
                connection.partial.clear();
            }
            let end = (kept + usize::from(connection.room)).min(used + MAX_RECEIVED);
            let called = connection.readable && kept < end;
            if called {
                let socket = connection.socket.as_raw_fd();
                self.calls.push(Call::new(socket, kept..end));
            }
            self.slots.push(Slot {
                connection: id,
                at: used,
                end: kept,
                called,
                done: false,
            });
            used = if called { end } else { kept };
        }
        self.caller.receive(&mut self.inbox, &mut self.calls);
        let mut slots = std::mem::take(&mut self.slots);
        self.fetch(slots.iter().map(|slot| slot.connection));
        let calls = std::mem::take(&mut self.calls);
        let called = slots.iter_mut().filter(|slot| slot.called);
        for (slot, call) in called.zip(&calls) {
            slot.end += self.received(slot.connection, call);
        }
        self.calls = calls;
        for slot in &mut slots {
            slot.done = slot.at == slot.end;
        }
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

    /// What came of a call for a connection: how many bytes it has received.
    fn received(&mut self, id: usize, call: &Call) -> usize {
        let connection = &mut self.connections[id];
        match call.result() {
            Ok(None) => connection.readable = false,
            Ok(Some(0)) => {
                connection.hung_up = true;
                connection.readable = false;
            }
            Ok(Some(len)) => {
                // If there was less than room, there was no more, or an event will say so.
                let filled = len == call.room();
                connection.readable = filled || connection.reads_to_end;
                connection.room = if filled { MAX_RECEIVED } else { ROOM } as u16;
                return len;
            }
            Err(_) => self.remove(id),
        }
        0
    }

    /// Looks at all connections of a list, one right after the other: what of them is
    /// not in a cache comes from memory side by side, instead of one line at a time.
    fn fetch(&self, list: impl Iterator<Item = usize>) {
        let places = list.filter_map(|id| self.connections.get(id));
        let sum = places.fold(0, |sum: u64, connection| {
            sum.wrapping_add(connection.look())
        });
        std::hint::black_box(sum);
    }

    /// The next record of every slot: whether there may be more.
    fn open(&mut self, slots: &mut [Slot]) -> bool {
        for slot in slots.iter_mut().filter(|slot| !slot.done) {
            slot.done = !self.next_record(slot);
        }
        for i in 0..self.records.len() {
            let mut records = std::mem::take(&mut self.records[i]);
            let Server {
                engine,
                connections,
                inbox,
                bad,
                ..
            } = self;
            let opened = engine.open(inbox, &records, |id| &ours(connections, id).rx, bad);
            opened.expect("records of allowed lengths");
            bad.sort_unstable();
            for (i, record) in records.drain(..).enumerate() {
                let bad = self.bad.binary_search(&i).is_ok();
                self.opened(&record, bad);
            }
            self.records[i] = records;
        }
        slots.iter().any(|slot| !slot.done)
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
            Ok(Some(len)) => match records.rx.inbound(records.rx_seq, &received[..len]) {
                Ok(frame) => {
                    records.rx_seq += 1;
                    self.records[place(&records.rx)].push(Record {
                        range: slot.at..slot.at + len,
                        frame,
                        connection: id,
                    });
                    slot.at += len;
                    return slot.at < slot.end;
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
        let Tls::Handshake(tls) = &mut connection.tls else {
            return 0;
        };
        let (tls, seen) = &mut **tls;
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
            Tls::Handshake(tls) => tls.0,
            other => {
                connection.tls = other;
                return;
            }
        };
        match Records::taken(tls) {
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
        self.fetch(self.sending.iter().copied());
        self.calls.clear();
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
                Ok((new_key, data)) => {
                    let connection = &self.connections[id];
                    let socket = connection.socket.as_raw_fd();
                    self.calls.push(Call::new(socket, start..used));
                    self.spans.push(Span {
                        connection: id,
                        start,
                        end: used,
                        new_key,
                        data,
                        rests: !new_key && connection.rests(self.now + self.options.idle),
                    });
                }
                // An object that cannot be read: the peer sees that something is missing.
                Err(_) => {
                    for records in &mut self.records {
                        while records.last().is_some_and(|r| r.connection == id) {
                            records.pop();
                        }
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
        for records in records {
            let sealed = engine.seal(outbox, records, |id| &ours(connections, id).tx);
            sealed.expect("records of allowed lengths");
            records.clear();
        }
        let mut spans = std::mem::take(&mut self.spans);
        let mut calls = std::mem::take(&mut self.calls);
        self.caller.send(&self.outbox, &mut calls);
        for (span, call) in spans.drain(..).zip(&calls) {
            self.sent(span, call);
        }
        (self.spans, self.calls) = (spans, calls);
    }

    /// Makes the records of a connection from `used` on: whether a new key follows them,
    /// and whether they have data.
    fn fill(&mut self, id: usize, used: &mut usize) -> io::Result<(bool, bool)> {
        let connection = &mut self.connections[id];
        let ended = connection.is_ended();
        let Tls::Ours(ours) = &mut connection.tls else {
            return Ok((false, false));
        };
        let mut add = |tx: &RecordKey,
                       seq: &mut u64,
                       content: ContentType,
                       len: usize,
                       write: &mut dyn FnMut(&mut [u8]) -> io::Result<()>| {
            let record = &mut self.outbox[*used..][..tx.record_len(len)];
            let prefix = tx.prefix();
            write(&mut record[prefix..prefix + len])?;
            let frame = tx.frame(*seq, content, record);
            *seq += 1;
            let range = *used..*used + record.len();
            *used = range.end;
            self.records[place(tx)].push(Record {
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
                let room = add(
                    &ours.tx,
                    &mut ours.tx_seq,
                    content,
                    bytes.len(),
                    &mut |to| {
                        to.copy_from_slice(&bytes);
                        Ok(())
                    },
                )?;
                if new_key || !room {
                    return Ok((new_key, burst > 0));
                }
            }
            let exchange = &mut connection.exchange;
            if connection.closing != Closing::No || !exchange.answering() {
                return Ok((false, burst > 0));
            }
            if burst == usize::from(connection.burst) {
                return Ok((false, true));
            }
            burst += 1;
            let len = exchange.left().min(MAX_DATA as u64) as usize;
            let room = add(
                &ours.tx,
                &mut ours.tx_seq,
                ContentType::ApplicationData,
                len,
                &mut |to| exchange.read(to),
            )?;
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

    /// What came of sending a span.
    fn sent(&mut self, span: Span, call: &Call) {
        let (id, len) = (span.connection, span.end - span.start);
        let sent = call.result();
        if span.rests && matches!(sent, Ok(Some(sent)) if sent == len) {
            return;
        }
        let Ok(sent) = sent else {
            return self.remove(id);
        };
        let connection = &mut self.connections[id];
        if span.new_key
            && let Tls::Ours(records) = &mut connection.tls
            && records.next_key().is_err()
        {
            return self.remove(id);
        }
        let sent = sent.unwrap_or(0);
        if sent > 0 && span.data && connection.closing == Closing::No {
            connection.deadline = self.now + self.options.idle;
        }
        if sent < len {
            connection.writable = false;
            let rest = &self.outbox[span.start + sent..span.end];
            connection.pending.extend_from_slice(rest);
            connection.pending_data = span.data;
            connection.burst = (sent / MAX_RECORD).clamp(1, MAX_BURST) as u8;
            return;
        }
        connection.burst = (connection.burst * 2).min(MAX_BURST as u8);
        self.go_on(id);
    }

    /// Sends what is pending; what is due comes after it.
    fn flush(&mut self, id: usize) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let pending = std::mem::take(&mut connection.pending);
        let from = connection.pending_sent as usize;
        let sent = match send_bytes(connection, &pending[from..]) {
            Ok(sent) => sent,
            Err(_) => return self.remove(id),
        };
        if sent > 0 && connection.pending_data && connection.closing == Closing::No {
            connection.deadline = self.now + self.options.idle;
        }
        if from + sent < pending.len() {
            connection.pending = pending;
            connection.pending_sent = (from + sent) as u32;
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

/// Where records under a key are in a turn's lists.
fn place(key: &RecordKey) -> usize {
    usize::from(key.mode() == Mode::Gcm)
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
