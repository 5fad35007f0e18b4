//! The records of a turn: those of all connections that can be written to, or have something
//! to be read, side by side in one buffer and sealed or opened together.

use aescomb::{AnyKey, Comb, Error, Message, Mode, OpenError, Status};
use aescomb_rustls::record::{Frame, RecordKey};
use std::ops::Range;

/// Bytes of the buffer: what stays in a core's second-level cache beside everything else, and
/// enough records for all lanes.
pub const BUFFER: usize = 1 << 20;

/// So many records of one connection go in a call of their own: they fill all lanes, and
/// lanes under one key share its round keys.
const OWN_CALL: usize = 16;

/// A record of a turn.
pub struct Record {
    /// Where it is in the buffer, header included.
    pub range: Range<usize>,
    pub frame: Frame,
    /// Whose it is.
    pub connection: usize,
}

/// How many records were done, in how many calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub records: u64,
    pub calls: u64,
}

/// Seals and opens.
pub struct Engine {
    comb: Comb,
    one_by_one: bool,
    pub sealed: Count,
    pub opened: Count,
}

impl Engine {
    /// One that does the records of a turn together, or one after the other.
    pub fn new(one_by_one: bool) -> Engine {
        Engine {
            comb: Comb::new(),
            one_by_one,
            sealed: Count::default(),
            opened: Count::default(),
        }
    }

    /// Seals records in `buffer`, in the order of whose places they are.
    ///
    /// # Errors
    /// If a record is too long for its suite: none is sealed then.
    pub fn seal<'a>(
        &mut self,
        buffer: &'a mut [u8],
        records: &'a [Record],
        key: impl Fn(usize) -> &'a RecordKey,
    ) -> Result<(), Error> {
        let (comb, count) = (&mut self.comb, &mut self.sealed);
        if self.one_by_one {
            for record in records {
                let key = key(record.connection).key();
                record.frame.seal(key, &mut buffer[record.range.clone()])?;
            }
            count.add(records.len(), records.len());
            return Ok(());
        }
        for mut group in groups(buffer, records, key, Frame::to_seal) {
            group.run(count, |keys, batch| match keys {
                [key] => comb.seal(*key, batch),
                keys => comb.seal(keys, batch),
            })?;
        }
        Ok(())
    }

    /// Opens records in `buffer`, in the order of whose places they are. Those whose tags are
    /// wrong are put into `bad`, by their places in `records`.
    ///
    /// # Errors
    /// If a record is too long for its suite: none is opened then.
    pub fn open<'a>(
        &mut self,
        buffer: &'a mut [u8],
        records: &'a [Record],
        key: impl Fn(usize) -> &'a RecordKey,
        bad: &mut Vec<usize>,
    ) -> Result<(), Error> {
        bad.clear();
        let (comb, count) = (&mut self.comb, &mut self.opened);
        if self.one_by_one {
            for (i, record) in records.iter().enumerate() {
                let key = key(record.connection).key();
                if record
                    .frame
                    .open(key, &mut buffer[record.range.clone()])
                    .is_err()
                {
                    bad.push(i);
                }
            }
            count.add(records.len(), records.len());
            return Ok(());
        }
        for mut group in groups(buffer, records, key, Frame::to_open) {
            let mut failed = false;
            group.run(count, |keys, batch| {
                let opened = match keys {
                    [key] => comb.open(*key, batch),
                    keys => comb.open(keys, batch),
                };
                match opened {
                    Err(OpenError::Refused(error)) => return Err(error),
                    Err(OpenError::Failed(_)) => failed = true,
                    Ok(()) => {}
                }
                Ok(())
            })?;
            if failed {
                let outcomes = group.places.iter().zip(&group.batch);
                let wrong = outcomes.filter(|(_, message)| message.status() != Status::Done);
                bad.extend(wrong.map(|(place, _)| *place));
            }
        }
        Ok(())
    }
}

impl Count {
    fn add(&mut self, records: usize, calls: usize) {
        self.records += records as u64;
        self.calls += calls as u64;
    }
}

/// The records of one mode.
#[derive(Default)]
struct Group<'a> {
    keys: Vec<&'a AnyKey>,
    batch: Vec<Message<'a>>,
    /// For each key, where its messages begin.
    firsts: Vec<usize>,
    /// The messages' places among the records.
    places: Vec<usize>,
}

fn groups<'a>(
    mut buffer: &'a mut [u8],
    records: &'a [Record],
    key: impl Fn(usize) -> &'a RecordKey,
    message: impl Fn(&'a Frame, &'a mut [u8]) -> Message<'a>,
) -> [Group<'a>; 2] {
    let mut groups = [Group::default(), Group::default()];
    if let Some(first) = records.first() {
        // Mostly all are of one mode.
        let group = &mut groups[usize::from(key(first.connection).mode() == Mode::Gcm)];
        group.keys.reserve(records.len());
        group.firsts.reserve(records.len());
        group.batch.reserve(records.len());
        group.places.reserve(records.len());
    }
    let (mut start, mut last) = (0, None);
    let mut which = 0;
    for (place, record) in records.iter().enumerate() {
        let (_, rest) = buffer.split_at_mut(record.range.start - start);
        let (bytes, rest) = rest.split_at_mut(record.range.len());
        (buffer, start) = (rest, record.range.end);
        let another = last != Some(record.connection);
        if another {
            last = Some(record.connection);
            let key = key(record.connection);
            which = usize::from(key.mode() == Mode::Gcm);
            groups[which].keys.push(key.key());
            let first = groups[which].batch.len();
            groups[which].firsts.push(first);
        }
        let group = &mut groups[which];
        let at = (group.keys.len() - 1) as u32;
        group
            .batch
            .push(message(&record.frame, bytes).key_index(at));
        group.places.push(place);
    }
    groups
}

impl<'a> Group<'a> {
    /// One call for all messages, but for those keys that have enough by themselves.
    fn run(
        &mut self,
        count: &mut Count,
        mut call: impl FnMut(&[&'a AnyKey], &mut [Message<'a>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Group {
            keys,
            batch,
            firsts,
            ..
        } = self;
        let mut run = |keys: &[&'a AnyKey], batch: &mut [Message<'a>]| {
            if batch.is_empty() {
                return Ok(());
            }
            count.add(batch.len(), 1);
            call(keys, batch)
        };
        let mut done = 0;
        for (i, &first) in firsts.iter().enumerate() {
            let end = firsts.get(i + 1).copied().unwrap_or(batch.len());
            if end - first >= OWN_CALL {
                run(keys, &mut batch[done..first])?;
                run(&keys[i..=i], &mut batch[first..end])?;
                done = end;
            }
        }
        run(keys, &mut batch[done..])
    }
}
