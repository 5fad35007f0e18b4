//! The records of a turn: those of all connections that can be written to, or have something
//! to be read, side by side in one buffer and sealed or opened together.

use aescomb::modes::AnyMode;
use aescomb::{Comb, Error, Keys, Message, Messages, OpenError, Status};
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
    messages: Messages,
    pub sealed: Count,
    pub opened: Count,
}

impl Engine {
    /// One that does the records of a turn together, or one after the other.
    pub fn new(one_by_one: bool) -> Engine {
        Engine {
            comb: Comb::new(),
            one_by_one,
            messages: Messages::new(),
            sealed: Count::default(),
            opened: Count::default(),
        }
    }

    /// Seals records in `buffer`, in the order of whose places they are, under keys of one mode.
    ///
    /// # Errors
    /// If a record is too long for its suite: none is sealed then.
    pub fn seal<'a>(
        &mut self,
        buffer: &mut [u8],
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
        for (part, alone) in parts(records) {
            let part = &records[part];
            count.add(part.len(), 1);
            let messages = messages(buffer, part, Frame::to_seal);
            if alone {
                let key = key(part[0].connection).key();
                comb.seal(key, self.messages.collect(messages))?;
            } else {
                let keys = part.iter().map(|record| key(record.connection).key());
                let messages = messages.zip(keys).map(|(message, key)| message.key(key));
                comb.seal(
                    Keys::<AnyMode>::of_messages(),
                    self.messages.collect(messages),
                )?;
            }
        }
        Ok(())
    }

    /// Opens records in `buffer`, in the order of whose places they are, under keys of one mode.
    /// Those whose tags are wrong are put into `bad`, by their places in `records`.
    ///
    /// # Errors
    /// If a record is too long for its suite: none is opened then.
    pub fn open<'a>(
        &mut self,
        buffer: &mut [u8],
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
        for (places, alone) in parts(records) {
            let part = &records[places.clone()];
            count.add(part.len(), 1);
            let messages = messages(buffer, part, Frame::to_open);
            let (opened, batch) = if alone {
                let key = key(part[0].connection).key();
                let batch = self.messages.collect(messages);
                (comb.open(key, batch), batch)
            } else {
                let keys = part.iter().map(|record| key(record.connection).key());
                let messages = messages.zip(keys).map(|(message, key)| message.key(key));
                let batch = self.messages.collect(messages);
                (comb.open(Keys::<AnyMode>::of_messages(), batch), batch)
            };
            match opened {
                Ok(()) => {}
                Err(OpenError::Refused(error)) => return Err(error),
                Err(OpenError::Failed(_)) => {
                    let wrong = |message: &Message| message.status() != Status::Done;
                    let outcomes = places.zip(batch);
                    bad.extend(outcomes.filter(|(_, m)| wrong(m)).map(|(place, _)| place));
                }
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

/// Where the records are that go in a call each, and whether they are of one connection, which
/// has enough by itself.
fn parts(records: &[Record]) -> impl Iterator<Item = (Range<usize>, bool)> {
    let (mut done, mut end) = (0, 0);
    let mut runs = records.chunk_by(|a, b| a.connection == b.connection);
    let mut next = None;
    std::iter::from_fn(move || {
        if let Some(part) = next.take() {
            return Some(part);
        }
        for run in runs.by_ref() {
            let first = end;
            end += run.len();
            if run.len() >= OWN_CALL {
                let before = std::mem::replace(&mut done, end)..first;
                if before.is_empty() {
                    return Some((first..end, true));
                }
                next = Some((first..end, true));
                return Some((before, false));
            }
        }
        let rest = std::mem::replace(&mut done, end)..end;
        (!rest.is_empty()).then_some((rest, false))
    })
}

/// The records' messages.
#[inline(always)]
fn messages<'a>(
    mut buffer: &'a mut [u8],
    records: &'a [Record],
    message: impl Fn(&'a Frame, &'a mut [u8]) -> Message<'a>,
) -> impl Iterator<Item = Message<'a>> {
    let mut start = 0;
    records.iter().map(move |record| {
        let bytes = buffer.split_off_mut(..record.range.end - start);
        let bytes = &mut bytes.expect("a place in the buffer")[record.range.start - start..];
        start = record.range.end;
        message(&record.frame, bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_records() {
        let key = RecordKey::extracted(
            aescomb_rustls::kernel::TLS13_AES_128_CCM_SHA256,
            rustls::ConnectionTrafficSecrets::Aes128Gcm {
                key: [1; 32].into(),
                iv: [2; 12].into(),
            },
        );
        let frame = key.expect("a key").inbound(0, &[23; 60]).expect("a record");
        for (runs, expected) in [
            (&[][..], &[][..]),
            (&[1, 2, 15], &[(0..18, false)]),
            (&[16], &[(0..16, true)]),
            (
                &[16, 17, 1],
                &[(0..16, true), (16..33, true), (33..34, false)],
            ),
            (
                &[1, 16, 3, 2],
                &[(0..1, false), (1..17, true), (17..22, false)],
            ),
        ] {
            let records: Vec<_> = (0..runs.len())
                .flat_map(|connection| std::iter::repeat_n(connection, runs[connection]))
                .map(|connection| Record {
                    range: 0..60,
                    frame,
                    connection,
                })
                .collect();
            let found: Vec<_> = parts(&records).collect();
            assert_eq!(found, expected, "{runs:?}");
        }
    }
}
