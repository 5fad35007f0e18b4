//! Message lengths and where the messages lie.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::capture::{Capture, Problem};

/// Messages drawn from a mix that has no natural number of them, if the
/// number is not given.
pub const DEFAULT_MESSAGES: usize = 256;

/// The longest message of a mix, in bytes (1 GiB).
pub const MAX_LENGTH: usize = 1 << 30;

/// Alignment of a message's first byte in a [`Ring`], in bytes.
pub const ALIGNMENT: usize = 64;

/// Size of a memory page as far as [`Ring`] offsets go, in bytes.
pub const PAGE: usize = 4096;

/// A seed that differs from run to run.
pub fn fresh_seed() -> u64 {
    fastrand::u64(..)
}

/// What can be wrong with a workload.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name of a mix is not understood.
    Mix {
        /// What was given.
        given: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file could not be read.
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is not a packet capture, or is truncated or damaged.
    Capture {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and at which byte.
        what: String,
    },
    /// A line of a file of lengths is not a length.
    Line {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What the line holds.
        given: String,
    },
    /// A file holds no message, or only empty ones.
    Empty {
        /// The file.
        file: PathBuf,
        /// Why nothing is left.
        what: String,
    },
    /// The messages do not fit into memory.
    TooLarge {
        /// Bytes that would be needed; `None` if not even their number fits.
        bytes: Option<usize>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mix { given, what } => write!(
                f,
                "length mix `{given}`: {what} (there are internet, ipi, imix, fixed:N, pcap:FILE, lengths:FILE)"
            ),
            Self::Read { file, source } => {
                write!(f, "{}: cannot be read: {source}", file.display())
            }
            Self::Capture { file, what } => write!(f, "{}: {what}", file.display()),
            Self::Line { file, line, given } => write!(
                f,
                "{}: line {line}: `{given}` is not a length in bytes (a whole number up to {MAX_LENGTH})",
                file.display()
            ),
            Self::Empty { file, what } => write!(f, "{}: {what}", file.display()),
            Self::TooLarge { bytes: Some(bytes) } => {
                write!(
                    f,
                    "the messages need {bytes} bytes of memory, which are not to be had"
                )
            }
            Self::TooLarge { bytes: None } => write!(f, "the messages are too large for memory"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A distribution of message lengths.
///
/// Its name, as [`FromStr`] reads and [`fmt::Display`] writes it, is given
/// with each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mix {
    /// `internet`: 44 % of the messages uniform in 40..=100 bytes, 37 % uniform
    /// in 1400..=1500 bytes, the rest uniform in 101..=1399 bytes.
    Internet,
    /// `ipi`: 44, 552, 576 and 1500 bytes with weights 0.05, 0.15, 0.20 and
    /// 0.60 (Internet Performance Index).
    Ipi,
    /// `imix`: 64, 594 and 1518 bytes as 7 : 4 : 1.
    Imix,
    /// `fixed:N`: every message N bytes, at least 1.
    Fixed(usize),
    /// `pcap:FILE`: the IP packets of a capture (pcap or pcapng), every one
    /// the bytes captured from its IP header on; packets that are not IP are
    /// left out.
    Pcap(PathBuf),
    /// `lengths:FILE`: one length in bytes per line.
    Lengths(PathBuf),
}

/// Shares in per cent, first and last length of each part.
const INTERNET: [(u128, usize, usize); 3] = [(44, 40, 100), (19, 101, 1399), (37, 1400, 1500)];
const IPI: [(usize, u32); 4] = [(44, 5), (552, 15), (576, 20), (1500, 60)];
const IMIX: [(usize, u32); 3] = [(64, 7), (594, 4), (1518, 1)];

impl FromStr for Mix {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        let error = |what| Error::Mix {
            given: given.to_string(),
            what,
        };
        let (name, argument) = match given.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (given, None),
        };
        let file = |argument: Option<&str>| match argument {
            Some(file) if !file.is_empty() => Ok(PathBuf::from(file)),
            _ => Err(error("names no file")),
        };
        match (name, argument) {
            ("internet", None) => Ok(Self::Internet),
            ("ipi", None) => Ok(Self::Ipi),
            ("imix", None) => Ok(Self::Imix),
            ("internet" | "ipi" | "imix", Some(_)) => Err(error("takes nothing after a colon")),
            ("fixed", argument) => match argument.and_then(|number| number.parse().ok()) {
                Some(0) => Err(error("a message has at least 1 byte")),
                Some(length) if length <= MAX_LENGTH => Ok(Self::Fixed(length)),
                Some(_) => Err(error("a message has at most 1073741824 bytes")),
                None => Err(error("needs a whole number of bytes")),
            },
            ("pcap", argument) => Ok(Self::Pcap(file(argument)?)),
            ("lengths", argument) => Ok(Self::Lengths(file(argument)?)),
            _ => Err(error("there is no such mix")),
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internet => f.pad("internet"),
            Self::Ipi => f.pad("ipi"),
            Self::Imix => f.pad("imix"),
            Self::Fixed(length) => f.pad(&format!("fixed:{length}")),
            Self::Pcap(file) => f.pad(&format!("pcap:{}", file.display())),
            Self::Lengths(file) => f.pad(&format!("lengths:{}", file.display())),
        }
    }
}

impl Mix {
    /// The lengths, in bytes, of `messages` messages. A mix that is drawn gives
    /// the same lengths every time, as evenly spread as so many can be, and
    /// the seed draws their order: the mean of more than 16 messages is the
    /// mix's within 1 % (of `imix`, whose one long length in twelve is hard to
    /// share out, of more than 54). Mixes that come from a file give the
    /// file's lengths in its order, over and over again.
    pub fn lengths(&self, messages: usize, seed: u64) -> Result<Vec<usize>, Error> {
        Ok(self.open()?.draw(Some(messages), seed).lengths)
    }

    /// Reads the file behind the mix, if there is one.
    pub fn open(&self) -> Result<Source, Error> {
        let mut source = Source {
            mix: self.clone(),
            lengths: None,
            packets: None,
            skipped: 0,
        };
        match self {
            Self::Pcap(file) => {
                let capture =
                    Capture::parse(&read(file)?).map_err(|problem: Problem| Error::Capture {
                        file: file.clone(),
                        what: problem.to_string(),
                    })?;
                if capture.packets.is_empty() {
                    let what = match capture.unknown_link {
                        Some(link) => format!(
                            "holds no IP packet that can be found: link type {link} is not known"
                        ),
                        None => format!("holds no IP packet ({} other packets)", capture.skipped),
                    };
                    return Err(Error::Empty {
                        file: file.clone(),
                        what,
                    });
                }
                source.skipped = capture.skipped;
                source.lengths = Some(capture.packets.iter().map(Vec::len).collect());
                source.packets = Some(capture.packets);
            }
            Self::Lengths(file) => source.lengths = Some(parse_lengths(file, &read(file)?)?),
            Self::Internet | Self::Ipi | Self::Imix | Self::Fixed(_) => {}
        }
        Ok(source)
    }

    /// The lengths in bytes that the mix consists of and the share of the
    /// messages that has each, if they are few and fixed: the weighted mean of
    /// costs at these lengths is what the mix is held against.
    pub fn weights(&self) -> Option<Vec<(usize, f64)>> {
        let shares = |table: &[(usize, u32)]| {
            let sum: u32 = table.iter().map(|row| row.1).sum();
            table
                .iter()
                .map(|row| (row.0, f64::from(row.1) / f64::from(sum)))
                .collect()
        };
        match self {
            Self::Ipi => Some(shares(&IPI)),
            Self::Imix => Some(shares(&IMIX)),
            Self::Fixed(length) => Some(vec![(*length, 1.0)]),
            Self::Internet | Self::Pcap(_) | Self::Lengths(_) => None,
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|source| Error::Read {
        file: file.to_path_buf(),
        source,
    })
}

/// One length per line; empty lines and what follows a `#` do not count.
fn parse_lengths(file: &Path, bytes: &[u8]) -> Result<Vec<usize>, Error> {
    let mut lengths = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let text = line.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        match text.parse() {
            Ok(length) if length <= MAX_LENGTH => lengths.push(length),
            _ => {
                let given = text.chars().take(40).collect();
                return Err(Error::Line {
                    file: file.to_path_buf(),
                    line: index + 1,
                    given,
                });
            }
        }
    }
    if lengths.iter().all(|length| *length == 0) {
        let what = if lengths.is_empty() {
            "holds no length"
        } else {
            "holds only lengths of 0"
        };
        return Err(Error::Empty {
            file: file.to_path_buf(),
            what: what.to_string(),
        });
    }
    Ok(lengths)
}

/// A [`Mix`] with its file read.
#[derive(Clone, Debug)]
pub struct Source {
    mix: Mix,
    lengths: Option<Vec<usize>>,
    packets: Option<Vec<Vec<u8>>>,
    skipped: usize,
}

impl Source {
    /// The mix this is.
    pub fn mix(&self) -> &Mix {
        &self.mix
    }

    /// The natural number of messages: packets of a capture, lengths of a
    /// file. `None` for mixes that are drawn.
    pub fn count(&self) -> Option<usize> {
        self.lengths.as_ref().map(Vec::len)
    }

    /// Packets of a capture that were left out because they are not IP.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The packets of a capture, from their IP headers on.
    pub fn packets(&self) -> Option<&[Vec<u8>]> {
        self.packets.as_deref()
    }

    /// Draws `messages` messages, as [`Mix::lengths`] says. `None` takes all
    /// that a file has, and [`DEFAULT_MESSAGES`] of a mix that is drawn.
    pub fn draw(&self, messages: Option<usize>, seed: u64) -> Workload {
        let messages = messages.or(self.count()).unwrap_or(DEFAULT_MESSAGES);
        let mut rng = fastrand::Rng::with_seed(seed);
        let lengths = match (&self.lengths, &self.mix) {
            (Some(lengths), _) => lengths.iter().copied().cycle().take(messages).collect(),
            (None, mix) => draw(mix, messages, &mut rng),
        };
        let contents = self
            .packets
            .as_ref()
            .map(|packets| packets.iter().cycle().take(messages).cloned().collect());
        Workload { lengths, contents }
    }
}

/// The lengths of a mix that has no file, as many as `messages`: the mix cut into so many
/// equal parts and the middle of each, so that not only many batches together but every
/// single one has the mix's mean. The order is drawn.
fn draw(mix: &Mix, messages: usize, rng: &mut fastrand::Rng) -> Vec<usize> {
    let mut lengths = match mix {
        Mix::Internet => (0..messages).map(|i| internet(i, messages)).collect(),
        Mix::Ipi => table(&IPI, messages),
        Mix::Imix => table(&IMIX, messages),
        Mix::Fixed(length) => vec![*length; messages],
        Mix::Pcap(_) | Mix::Lengths(_) => Vec::new(),
    };
    rng.shuffle(&mut lengths);
    lengths
}

/// The length in the middle of part `index` of `parts` equal parts of the internet mix.
fn internet(index: usize, parts: usize) -> usize {
    // In two hundredths of a part, of which there are `whole`: no fractions.
    let whole = 200 * parts as u128;
    let mut place = (200 * index as u128) + 100;
    for (share, first, last) in INTERNET {
        let width = whole * share / 100;
        if place < width {
            return first + (place * (last - first + 1) as u128 / width) as usize;
        }
        place -= width;
    }
    INTERNET[INTERNET.len() - 1].2
}

/// Lengths of a mix of few lengths. Of the numbers of each that are close to its share,
/// those that are closest and have the mix's mean within 1 %; if none has, which happens to
/// batches of some ten messages, those with the closest mean.
fn table(table: &[(usize, u32)], messages: usize) -> Vec<usize> {
    let sum = |of: &dyn Fn(usize, u32) -> i128| -> i128 {
        table.iter().map(|row| of(row.0, row.1)).sum()
    };
    let tickets = sum(&|_, weight| weight.into());
    let mean = sum(&|length, weight| length as i128 * i128::from(weight));
    let messages = messages as i128;

    let mut best = None;
    // One digit, 0 to 5, for each length but the last, of which there are what is left.
    let digits = table.len() as u32 - 1;
    for code in 0..6_u32.pow(digits) {
        let mut counts: Vec<i128> = (0..digits)
            .map(|place| {
                let digit = code / 6_u32.pow(place) % 6;
                let weight = table[place as usize].1;
                messages * i128::from(weight) / tickets + i128::from(digit) - 2
            })
            .collect();
        counts.push(messages - counts.iter().sum::<i128>());
        if counts.iter().any(|count| *count < 0) {
            continue;
        }
        let rows = || table.iter().zip(&counts);
        let bytes: i128 = rows().map(|(row, count)| row.0 as i128 * count).sum();
        let off = (bytes * tickets - messages * mean).abs();
        let far: i128 = rows()
            .map(|(row, count)| (count * tickets - messages * i128::from(row.1)).pow(2))
            .sum();
        let rank = ((off - messages * mean / 100).max(0), far);
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, counts));
        }
    }
    let counts = best.map(|(_, counts)| counts).unwrap_or_default();
    table
        .iter()
        .zip(counts)
        .flat_map(|(row, count)| std::iter::repeat_n(row.0, count as usize))
        .collect()
}

/// The messages of one run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Length of every message, in bytes.
    pub lengths: Vec<usize>,
    /// The messages themselves, if they come from a capture.
    pub contents: Option<Vec<Vec<u8>>>,
}

impl Workload {
    /// Sum of the lengths, in bytes.
    pub fn total_bytes(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Rounds every length up to a multiple of `unit` bytes, for modes that
    /// take whole blocks only; contents are filled up with zeros.
    pub fn round_up(&mut self, unit: usize) {
        let unit = unit.max(1);
        for length in &mut self.lengths {
            *length = length.next_multiple_of(unit);
        }
        for content in self.contents.iter_mut().flatten() {
            content.resize(content.len().next_multiple_of(unit), 0);
        }
    }

    /// Lays the messages out in a [`Ring`] with `room` spare bytes after each:
    /// their own contents if they have them, random ones otherwise.
    pub fn ring_with_room(&self, room: usize, seed: u64) -> Result<Ring, Error> {
        let mut ring = Ring::with_room(&self.lengths, room, seed)?;
        for (index, content) in self.contents.iter().flatten().enumerate() {
            ring.message_mut(index).copy_from_slice(content);
        }
        Ok(ring)
    }

    /// Lays the messages out in a [`Ring`]: their own contents if they have
    /// them, random ones otherwise.
    pub fn ring(&self, seed: u64) -> Result<Ring, Error> {
        self.ring_with_room(0, seed)
    }
}

/// Where a message lies in a [`Ring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// First byte, counted from the start of [`Ring::bytes`].
    pub offset: usize,
    /// Bytes of the message.
    pub len: usize,
}

/// One buffer in which messages lie as a network ring packs them: one after
/// another, each starting on an address that is a multiple of 64 bytes. The
/// first one starts at a random multiple of 64 bytes within a page.
#[derive(Debug)]
pub struct Ring {
    // Never grows or shrinks, so its contents never move.
    storage: Vec<u8>,
    start: usize,
    end: usize,
    room: usize,
    slots: Vec<Slot>,
}

impl Ring {
    /// A ring for messages of these lengths (in bytes) with random contents.
    /// The seed decides contents and page offset.
    pub fn new(lengths: &[usize], seed: u64) -> Result<Self, Error> {
        Self::with_room(lengths, 0, seed)
    }

    /// The same with `room` spare bytes after every message, for a tag or
    /// padding. They are random, too.
    pub fn with_room(lengths: &[usize], room: usize, seed: u64) -> Result<Self, Error> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut slots = Vec::with_capacity(lengths.len());
        let mut end = 0_usize;
        for &len in lengths {
            // Even an empty message has a place of its own.
            let offset = end.next_multiple_of(ALIGNMENT);
            end = len
                .checked_add(room)
                .and_then(|bytes| offset.checked_add(bytes.max(1)))
                .filter(|end| *end <= isize::MAX as usize - 3 * PAGE)
                .ok_or(Error::TooLarge { bytes: None })?;
            slots.push(Slot { offset, len });
        }
        let size = end + 2 * PAGE;
        let mut storage = Vec::new();
        storage
            .try_reserve_exact(size)
            .map_err(|_| Error::TooLarge { bytes: Some(size) })?;
        storage.resize(size, 0);
        let to_page = (storage.as_ptr() as usize).wrapping_neg() % PAGE;
        let start = to_page + ALIGNMENT * rng.usize(..PAGE / ALIGNMENT);
        let mut ring = Self {
            storage,
            start,
            end: start + end,
            room,
            slots,
        };
        rng.fill(ring.bytes_mut());
        Ok(ring)
    }

    /// A ring that holds these messages, with `room` spare bytes after each.
    /// The seed decides the page offset.
    pub fn from_contents(contents: &[Vec<u8>], room: usize, seed: u64) -> Result<Self, Error> {
        let lengths: Vec<usize> = contents.iter().map(Vec::len).collect();
        let mut ring = Self::with_room(&lengths, room, seed)?;
        for (index, content) in contents.iter().enumerate() {
            ring.message_mut(index).copy_from_slice(content);
        }
        Ok(ring)
    }

    /// Where the messages lie, in their order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Spare bytes after every message.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Sum of the messages' lengths, in bytes; neither gaps nor spare bytes
    /// count.
    pub fn total_bytes(&self) -> usize {
        self.slots.iter().map(|slot| slot.len).sum()
    }

    /// Offset of the first message within its memory page, in bytes.
    pub fn page_offset(&self) -> usize {
        self.bytes().as_ptr() as usize % PAGE
    }

    /// All messages with the gaps between them.
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.end]
    }

    /// All messages with the gaps between them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..self.end]
    }

    /// The message with this index.
    ///
    /// # Panics
    /// If there are not that many messages.
    pub fn message(&self, index: usize) -> &[u8] {
        let Slot { offset, len } = self.slots[index];
        &self.bytes()[offset..offset + len]
    }

    /// The message with this index.
    ///
    /// # Panics
    /// If there are not that many messages.
    pub fn message_mut(&mut self, index: usize) -> &mut [u8] {
        let Slot { offset, len } = self.slots[index];
        &mut self.bytes_mut()[offset..offset + len]
    }

    /// All messages as slices.
    pub fn split(&self) -> Vec<&[u8]> {
        let bytes = self.bytes();
        self.slots
            .iter()
            .map(|slot| &bytes[slot.offset..slot.offset + slot.len])
            .collect()
    }

    /// All messages as slices that can be written at the same time.
    pub fn split_mut(&mut self) -> Vec<&mut [u8]> {
        self.split_with(0)
    }

    /// All messages, each with its spare bytes, as slices that can be written
    /// at the same time.
    pub fn split_room_mut(&mut self) -> Vec<&mut [u8]> {
        self.split_with(self.room)
    }

    fn split_with(&mut self, room: usize) -> Vec<&mut [u8]> {
        let mut rest = &mut self.storage[self.start..self.end];
        let mut passed = 0;
        let mut messages = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let (message, after) = rest.split_at_mut(slot.offset + slot.len + room - passed);
            messages.push(&mut message[slot.offset - passed..]);
            passed = slot.offset + slot.len + room;
            rest = after;
        }
        messages
    }

    /// Fills messages, spare bytes and gaps with other random bytes.
    pub fn refill(&mut self, seed: u64) {
        fastrand::Rng::with_seed(seed).fill(self.bytes_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(lengths: &[usize], range: std::ops::RangeInclusive<usize>) -> f64 {
        lengths
            .iter()
            .filter(|length| range.contains(length))
            .count() as f64
            / lengths.len() as f64
    }

    #[test]
    fn names_go_both_ways() {
        for name in [
            "internet",
            "ipi",
            "imix",
            "fixed:1",
            "fixed:2048",
            "pcap:a b:c.pcap",
            "lengths:/x/y",
        ] {
            assert_eq!(name.parse::<Mix>().unwrap().to_string(), name);
        }
        assert_eq!("pcap:a:b".parse::<Mix>().unwrap(), Mix::Pcap("a:b".into()));
        for name in [
            "",
            "Internet",
            "internet:",
            "imix:3",
            "fixed",
            "fixed:",
            "fixed:0",
            "fixed:-1",
            "fixed:x",
            "fixed:99999999999",
            "fixed:99999999999999999999999",
            "pcap",
            "pcap:",
            "lengths:",
            "other",
        ] {
            let error = name.parse::<Mix>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("there are internet, ipi, imix, fixed:N"),
                "{name}"
            );
        }
    }

    #[test]
    fn internet_mix() {
        let lengths = Mix::Internet.lengths(200_000, 1).unwrap();
        assert_eq!(lengths.len(), 200_000);
        assert_eq!(share(&lengths, 40..=100), 0.44);
        assert_eq!(share(&lengths, 1400..=1500), 0.37);
        assert_eq!(share(&lengths, 101..=1399), 0.19);
        // Uniform within each part, ends included.
        for end in [40, 100, 101, 1399, 1400, 1500] {
            assert!(lengths.contains(&end), "{end}");
        }
        for (few, all) in [
            (40..=69, 40..=100),
            (101..=749, 101..=1399),
            (1400..=1419, 1400..=1500),
        ] {
            let expected = few.clone().count() as f64 / all.clone().count() as f64;
            assert!((share(&lengths, few) / share(&lengths, all) - expected).abs() < 1e-4);
        }
    }

    #[test]
    fn mixes_of_few_lengths() {
        for mix in [Mix::Ipi, Mix::Imix, Mix::Fixed(77)] {
            let lengths = mix.lengths(120_000, 3).unwrap();
            let weights = mix.weights().unwrap();
            assert!((weights.iter().map(|row| row.1).sum::<f64>() - 1.0).abs() < 1e-12);
            let mut seen = 0.0;
            for (length, weight) in weights {
                let share = share(&lengths, length..=length);
                assert!((share - weight).abs() < 1e-9, "{mix}: {length}: {share}");
                seen += share;
            }
            assert!((seen - 1.0).abs() < 1e-9);
        }
        assert_eq!(Mix::Imix.weights().unwrap()[0], (64, 7.0 / 12.0));
        assert_eq!(Mix::Ipi.weights().unwrap()[3], (1500, 0.6));
        assert!(Mix::Internet.weights().is_none());
    }

    /// Every batch of the mix has its mean within 1 % from `least` messages on.
    fn has_its_mean(mix: &Mix, mean: f64, least: usize) {
        let mut rng = fastrand::Rng::with_seed(4);
        let sizes = (17..=4000).chain([5000, 8192, 65_536, 1_000_003]);
        for messages in sizes {
            let lengths = mix.lengths(messages, rng.u64(..)).unwrap();
            assert_eq!(lengths.len(), messages);
            let drawn = lengths.iter().sum::<usize>() as f64 / messages as f64;
            let off = (drawn / mean - 1.0).abs();
            let allowed = if messages < least { 0.031 } else { 0.01 };
            assert!(off <= allowed, "{mix}, {messages}: {drawn} for {mean}");
        }
    }

    #[test]
    fn every_batch_has_the_mean_of_its_mix() {
        // Of whole ranges: 44 % of 70, 19 % of 750, 37 % of 1450.
        has_its_mean(&Mix::Internet, 709.8, 17);
        has_its_mean(&Mix::Ipi, 1100.2, 17);
        // 18 messages, for example, have it within 3 % at best.
        has_its_mean(&Mix::Imix, 4342.0 / 12.0, 55);
        has_its_mean(&Mix::Fixed(77), 77.0, 17);
    }

    #[test]
    fn batches_of_few_messages() {
        for mix in [Mix::Internet, Mix::Ipi, Mix::Imix, Mix::Fixed(1)] {
            for messages in 0..=16 {
                assert_eq!(mix.lengths(messages, 1).unwrap().len(), messages);
            }
        }
        let sorted = |mix: Mix, messages| {
            let mut lengths = mix.lengths(messages, 8).unwrap();
            lengths.sort_unstable();
            lengths
        };
        assert_eq!(sorted(Mix::Internet, 4), [57, 91, 1365, 1466]);
        assert_eq!(
            sorted(Mix::Imix, 12),
            [[64; 4], [64, 64, 64, 594], [594, 594, 594, 1518]].concat()
        );
    }

    #[test]
    fn seeds_repeat() {
        let draw = |seed| Mix::Internet.lengths(100, seed).unwrap();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
        let sorted = |mut lengths: Vec<usize>| {
            lengths.sort_unstable();
            lengths
        };
        assert_eq!(sorted(draw(5)), sorted(draw(6)));
        let source = Mix::Ipi.open().unwrap();
        assert_eq!(source.count(), None);
        assert_eq!(source.draw(None, 1).lengths.len(), DEFAULT_MESSAGES);
        assert_eq!(source.draw(Some(0), 1).lengths.len(), 0);
    }

    #[test]
    fn lengths_from_lines() {
        let parse = |text: &str| parse_lengths(Path::new("some.txt"), text.as_bytes());
        assert_eq!(
            parse("40\n1500\r\n\n 7 \n0 # an empty one\n").unwrap(),
            [40, 1500, 7, 0]
        );
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("40\nforty\n").starts_with("some.txt: line 2: `forty` is not a length"));
        assert!(message("1\n2\n-3").contains("line 3"));
        assert!(message("99999999999").contains("line 1"));
        assert!(message("1,2").contains("`1,2`"));
        assert_eq!(message(""), "some.txt: holds no length");
        assert_eq!(message("0\n0\n"), "some.txt: holds only lengths of 0");
        assert!(parse_lengths(Path::new("x"), &[0xff, 0xfe, b'\n']).is_err());
    }

    #[test]
    fn ring_keeps_messages_apart_and_aligned() {
        let lengths = Mix::Internet.lengths(300, 9).unwrap();
        let mut offsets = std::collections::BTreeSet::new();
        for seed in 0..40 {
            for room in [0, 16] {
                let mut ring = Ring::with_room(&lengths, room, seed).unwrap();
                offsets.insert(ring.page_offset());
                assert_eq!(ring.len(), 300);
                assert_eq!(ring.total_bytes(), lengths.iter().sum::<usize>());
                let mut end = 0;
                for (index, slot) in ring.slots().iter().enumerate() {
                    assert_eq!(slot.len, lengths[index]);
                    assert_eq!(ring.message(index).as_ptr() as usize % ALIGNMENT, 0);
                    assert!(slot.offset >= end && slot.offset < end + ALIGNMENT);
                    end = slot.offset + slot.len + room;
                }
                assert_eq!(end, ring.bytes().len());
                let places: Vec<_> = ring.split().iter().map(|m| (m.as_ptr(), m.len())).collect();
                let writable: Vec<_> = ring
                    .split_mut()
                    .iter()
                    .map(|m| (m.as_ptr(), m.len()))
                    .collect();
                assert_eq!(places, writable);
                let roomy: Vec<_> = ring
                    .split_room_mut()
                    .iter()
                    .map(|m| (m.as_ptr(), m.len() - room))
                    .collect();
                assert_eq!(places, roomy);
            }
        }
        assert!(offsets.len() > 10, "page offsets vary");
        assert!(offsets.iter().all(|offset| offset % ALIGNMENT == 0));
    }

    #[test]
    fn ring_contents() {
        let mut ring = Ring::new(&[64, 0, 0, 100, 1], 4).unwrap();
        assert_eq!(
            ring.slots()
                .iter()
                .map(|slot| slot.offset)
                .collect::<Vec<_>>(),
            [0, 64, 128, 192, 320]
        );
        let first = ring.message(0).to_vec();
        assert_ne!(first, [0; 64]);
        let addresses: Vec<_> = ring
            .split()
            .iter()
            .map(|message| message.as_ptr())
            .collect();
        ring.refill(5);
        assert_ne!(first, ring.message(0));
        assert_eq!(
            addresses,
            ring.split()
                .iter()
                .map(|message| message.as_ptr())
                .collect::<Vec<_>>()
        );

        let contents = vec![b"abc".to_vec(), Vec::new(), vec![7; 90]];
        let ring = Ring::from_contents(&contents, 16, 1).unwrap();
        assert_eq!(ring.split(), contents);
        assert!(Ring::new(&[], 1).unwrap().is_empty());
    }

    #[test]
    fn ring_too_large_is_an_error() {
        assert!(matches!(
            Ring::new(&[usize::MAX], 1),
            Err(Error::TooLarge { bytes: None })
        ));
        assert!(matches!(
            Ring::new(&[usize::MAX / 4; 4], 1),
            Err(Error::TooLarge { .. })
        ));
        #[cfg(target_pointer_width = "64")]
        assert!(matches!(
            Ring::new(&[1 << 60], 1),
            Err(Error::TooLarge { bytes: Some(_) })
        ));
    }

    #[test]
    fn rounding_up() {
        let mut workload = Workload {
            lengths: vec![1, 16, 17, 0],
            contents: Some(vec![vec![9], vec![1; 16], vec![2; 17], vec![]]),
        };
        workload.round_up(16);
        assert_eq!(workload.lengths, [16, 16, 32, 0]);
        assert_eq!(workload.total_bytes(), 64);
        let ring = workload.ring(3).unwrap();
        assert_eq!(
            ring.message(0),
            [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(ring.message(2)[16..18], [2, 0]);
    }
}
