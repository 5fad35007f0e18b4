//! IP packets out of packet captures, pcap and pcapng.

use std::fmt;

use byteorder_slice::{BigEndian, LittleEndian};
use pcap_file::PcapError;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::RawBlock;
use pcap_file::pcapng::blocks::{
    ENHANCED_PACKET_BLOCK, INTERFACE_DESCRIPTION_BLOCK, PACKET_BLOCK, SECTION_HEADER_BLOCK,
    SIMPLE_PACKET_BLOCK,
};

/// First four bytes of a pcapng file, in either byte order.
const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Byte-order magic of a pcapng section, as a big-endian file has it.
const BIG_ENDIAN_MAGIC: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// What a capture holds.
#[derive(Debug, Default)]
pub struct Capture {
    /// The captured bytes of every IP packet, from its IP header on.
    pub packets: Vec<Vec<u8>>,
    /// Packets left out because they are not IP.
    pub skipped: usize,
    /// A link type that is not understood, if a packet had one.
    pub unknown_link: Option<u32>,
}

/// What is wrong with a capture.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// Neither pcap nor pcapng.
    NotACapture,
    /// The file ends inside the record that begins at this byte.
    Truncated { at: usize },
    /// The record that begins at this byte contradicts itself.
    Damaged { at: usize, what: String },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACapture => write!(f, "is neither a pcap nor a pcapng capture"),
            Self::Truncated { at } => {
                write!(
                    f,
                    "ends inside the record at byte {at} (truncated, or that record's length is damaged)"
                )
            }
            Self::Damaged { at, what } => write!(f, "is damaged at byte {at}: {what}"),
        }
    }
}

impl Problem {
    fn new(at: usize, error: PcapError) -> Self {
        match error {
            PcapError::IncompleteBuffer => Self::Truncated { at },
            other => Self::Damaged {
                at,
                what: other.to_string(),
            },
        }
    }

    fn damaged(at: usize, what: impl Into<String>) -> Self {
        Self::Damaged {
            at,
            what: what.into(),
        }
    }
}

impl Capture {
    /// Reads a whole capture file.
    pub fn parse(file: &[u8]) -> Result<Self, Problem> {
        let mut capture = Self::default();
        if file.starts_with(&PCAPNG_MAGIC) {
            capture.parse_pcapng(file)?;
        } else {
            capture.parse_pcap(file)?;
        }
        Ok(capture)
    }

    fn parse_pcap(&mut self, file: &[u8]) -> Result<(), Problem> {
        let known = matches!(
            file.get(..4),
            Some(
                [0xa1, 0xb2, 0xc3, 0xd4]
                    | [0xd4, 0xc3, 0xb2, 0xa1]
                    | [0xa1, 0xb2, 0x3c, 0x4d]
                    | [0x4d, 0x3c, 0xb2, 0xa1]
            )
        );
        if !known {
            return Err(Problem::NotACapture);
        }
        let (mut rest, parser) = PcapParser::new(file).map_err(|error| Problem::new(0, error))?;
        // The upper half of the field tells of a frame check sequence.
        let link = u32::from(parser.header().datalink) & 0xffff;
        while !rest.is_empty() {
            let at = file.len() - rest.len();
            let (after, packet) = parser
                .next_raw_packet(rest)
                .map_err(|error| Problem::new(at, error))?;
            if packet.incl_len > packet.orig_len {
                return Err(Problem::damaged(
                    at,
                    format!(
                        "{} bytes captured of a packet of {}",
                        packet.incl_len, packet.orig_len
                    ),
                ));
            }
            self.add(link, &packet.data);
            rest = after;
        }
        Ok(())
    }

    fn parse_pcapng(&mut self, file: &[u8]) -> Result<(), Problem> {
        let mut big_endian = false;
        // (link type, greatest captured length or 0) of the section's interfaces
        let mut interfaces: Vec<(u32, u32)> = Vec::new();
        let mut rest = file;
        while !rest.is_empty() {
            let at = file.len() - rest.len();
            if rest.starts_with(&PCAPNG_MAGIC) {
                big_endian = rest.get(8..12) == Some(&BIG_ENDIAN_MAGIC);
                interfaces.clear();
            }
            let (after, block) = if big_endian {
                RawBlock::from_slice::<BigEndian>(rest)
            } else {
                RawBlock::from_slice::<LittleEndian>(rest)
            }
            .map_err(|error| Problem::new(at, error))?;
            let fields = Fields {
                at,
                big_endian,
                body: &block.body,
            };
            match block.type_ {
                SECTION_HEADER_BLOCK => {
                    let major = fields.u16(4)?;
                    if major != 1 {
                        return Err(Problem::damaged(
                            at,
                            format!("pcapng version {major} is unknown"),
                        ));
                    }
                }
                INTERFACE_DESCRIPTION_BLOCK => {
                    interfaces.push((u32::from(fields.u16(0)?), fields.u32(4)?));
                }
                ENHANCED_PACKET_BLOCK | PACKET_BLOCK => {
                    let interface = if block.type_ == PACKET_BLOCK {
                        u32::from(fields.u16(0)?)
                    } else {
                        fields.u32(0)?
                    };
                    let (captured, original) = (fields.u32(12)?, fields.u32(16)?);
                    if captured > original {
                        return Err(Problem::damaged(
                            at,
                            format!("{captured} bytes captured of a packet of {original}"),
                        ));
                    }
                    let &(link, _) = usize::try_from(interface)
                        .ok()
                        .and_then(|interface| interfaces.get(interface))
                        .ok_or_else(|| {
                            Problem::damaged(at, format!("interface {interface} is not described"))
                        })?;
                    self.add(link, fields.bytes(20, captured)?);
                }
                SIMPLE_PACKET_BLOCK => {
                    let &(link, limit) = interfaces
                        .first()
                        .ok_or_else(|| Problem::damaged(at, "no interface is described"))?;
                    let original = fields.u32(0)?;
                    let captured = if limit == 0 {
                        original
                    } else {
                        original.min(limit)
                    };
                    self.add(link, fields.bytes(4, captured)?);
                }
                _ => {}
            }
            rest = after;
        }
        Ok(())
    }

    /// Takes one captured packet, link header and all.
    fn add(&mut self, link: u32, packet: &[u8]) {
        match ip_packet(link, packet) {
            Ok(Some(ip)) => self.packets.push(ip.to_vec()),
            Ok(None) => self.skipped += 1,
            Err(UnknownLink) => {
                self.unknown_link = Some(link);
                self.skipped += 1;
            }
        }
    }
}

/// The body of a pcapng block.
struct Fields<'a> {
    at: usize,
    big_endian: bool,
    body: &'a [u8],
}

impl<'a> Fields<'a> {
    fn array<const N: usize>(&self, offset: usize) -> Result<[u8; N], Problem> {
        self.body
            .get(offset..)
            .and_then(|rest| rest.first_chunk::<N>())
            .copied()
            .ok_or_else(|| Problem::damaged(self.at, "the block is too short for its kind"))
    }

    fn u16(&self, offset: usize) -> Result<u16, Problem> {
        let bytes = self.array(offset)?;
        Ok(if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    fn u32(&self, offset: usize) -> Result<u32, Problem> {
        let bytes = self.array(offset)?;
        Ok(if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn bytes(&self, offset: usize, len: u32) -> Result<&'a [u8], Problem> {
        self.body
            .get(offset..)
            .and_then(|rest| rest.get(..usize::try_from(len).ok()?))
            .ok_or_else(|| {
                Problem::damaged(
                    self.at,
                    format!("a packet of {len} bytes in a smaller block"),
                )
            })
    }
}

struct UnknownLink;

/// What follows an EtherType field.
#[derive(Clone, Copy)]
enum Link {
    /// The EtherType is at this offset, what it announces right after it.
    EtherType(usize),
    /// As in Linux cooked v2: EtherType at 0, what it announces at this offset.
    EtherTypeFirst(usize),
    /// Four bytes of protocol family, in either byte order, then the packet.
    Family,
    /// The packet itself.
    Raw,
}

/// The bytes from the IP header on; `None` if this is not an IP packet.
fn ip_packet(link: u32, packet: &[u8]) -> Result<Option<&[u8]>, UnknownLink> {
    // Numbers of https://www.tcpdump.org/linktypes.html; 12 and 14 are what
    // some systems write for raw IP.
    let kind = match link {
        0 | 108 => Link::Family,
        1 => Link::EtherType(12),
        12 | 14 | 101 | 228 | 229 => Link::Raw,
        113 => Link::EtherType(14),
        276 => Link::EtherTypeFirst(20),
        _ => return Err(UnknownLink),
    };
    let found = match kind {
        Link::EtherType(offset) => packet.get(offset..).and_then(|rest| {
            let (kind, rest) = rest.split_first_chunk::<2>()?;
            after_ether_type(u16::from_be_bytes(*kind), rest)
        }),
        Link::EtherTypeFirst(header) => packet.get(header..).and_then(|rest| {
            after_ether_type(u16::from_be_bytes(*packet.first_chunk::<2>()?), rest)
        }),
        Link::Family => packet.split_first_chunk::<4>().and_then(|(family, rest)| {
            let family = u32::from_le_bytes(*family).min(u32::from_be_bytes(*family));
            match family {
                2 => Some((4, rest)),
                // AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, macOS.
                10 | 24 | 28 | 30 => Some((6, rest)),
                _ => None,
            }
        }),
        Link::Raw => match (link, packet.first().map(|first| first >> 4)) {
            (228, Some(4)) => Some((4, packet)),
            (229, Some(6)) => Some((6, packet)),
            (12 | 14 | 101, Some(version @ (4 | 6))) => Some((version, packet)),
            _ => None,
        },
    };
    Ok(found.and_then(|(version, ip)| (ip.first()? >> 4 == version).then_some(ip)))
}

/// IP version and packet after an EtherType, VLAN tags passed over.
fn after_ether_type(mut kind: u16, mut rest: &[u8]) -> Option<(u8, &[u8])> {
    // 802.1Q, 802.1ad (QinQ) and the older QinQ numbers.
    while matches!(kind, 0x8100 | 0x88a8 | 0x9100 | 0x9200) {
        let (tag, after) = rest.split_first_chunk::<4>()?;
        kind = u16::from_be_bytes([tag[2], tag[3]]);
        rest = after;
    }
    match kind {
        0x0800 => Some((4, rest)),
        0x86dd => Some((6, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pcap file: link type and packets, little-endian or big-endian.
    fn pcap(link: u32, packets: &[&[u8]], big_endian: bool) -> Vec<u8> {
        let word = |value: u32| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let half = |value: u16| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let mut file = word(0xa1b2_c3d4).to_vec();
        file.extend([half(2), half(4)].concat());
        // A snapshot length shorter than the packets on the wire is normal.
        file.extend([word(0), word(0), word(96), word(link)].concat());
        for packet in packets {
            let len = u32::try_from(packet.len()).unwrap();
            file.extend([word(7), word(8), word(len), word(len + 1000)].concat());
            file.extend_from_slice(packet);
        }
        file
    }

    /// A pcapng block of this type with this body, which is padded.
    fn block(kind: u32, body: &[u8], big_endian: bool) -> Vec<u8> {
        let word = |value: u32| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let padded = body.len().next_multiple_of(4);
        let len = u32::try_from(padded + 12).unwrap();
        let mut bytes = [word(kind), word(len)].concat();
        bytes.extend_from_slice(body);
        bytes.resize(8 + padded, 0);
        bytes.extend(word(len));
        bytes
    }

    fn section(big_endian: bool) -> Vec<u8> {
        let half = |value: u16| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let mut body = if big_endian {
            BIG_ENDIAN_MAGIC
        } else {
            [0x4d, 0x3c, 0x2b, 0x1a]
        }
        .to_vec();
        body.extend([half(1), half(0)].concat());
        body.extend([0xff; 8]);
        block(SECTION_HEADER_BLOCK, &body, big_endian)
    }

    fn interface(link: u16, limit: u32, big_endian: bool) -> Vec<u8> {
        let mut body = if big_endian {
            link.to_be_bytes()
        } else {
            link.to_le_bytes()
        }
        .to_vec();
        body.extend([0, 0]);
        body.extend(if big_endian {
            limit.to_be_bytes()
        } else {
            limit.to_le_bytes()
        });
        block(INTERFACE_DESCRIPTION_BLOCK, &body, big_endian)
    }

    fn enhanced(interface: u32, packet: &[u8], big_endian: bool) -> Vec<u8> {
        let word = |value: u32| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let len = u32::try_from(packet.len()).unwrap();
        let mut body = [word(interface), word(0), word(0), word(len), word(len)].concat();
        body.extend_from_slice(packet);
        block(ENHANCED_PACKET_BLOCK, &body, big_endian)
    }

    const IPV4: [u8; 24] = [
        0x45, 0, 0, 24, 1, 2, 3, 4, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0xde, 0xad, 0xbe, 0xef,
    ];

    fn ipv6() -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 4, 59, 64];
        packet.extend([0xfe; 32]);
        packet.extend([1, 2, 3, 4]);
        packet
    }

    fn behind(header: &[u8], packet: &[u8]) -> Vec<u8> {
        [header, packet].concat()
    }

    fn ethernet(rest: &[u8]) -> Vec<u8> {
        behind(&[0x22; 12], rest)
    }

    #[test]
    fn ethernet_and_vlan_tags() {
        let packets = [
            ethernet(&behind(&[0x08, 0x00], &IPV4)),
            ethernet(&behind(&[0x86, 0xdd], &ipv6())),
            ethernet(&behind(&[0x81, 0x00, 0, 5, 0x08, 0x00], &IPV4)),
            ethernet(&behind(
                &[0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x86, 0xdd],
                &ipv6(),
            )),
            ethernet(&[0x08, 0x06, 0, 1, 8, 0]),       // ARP
            ethernet(&behind(&[0x08, 0x00], &ipv6())), // wrong version
            ethernet(&[0x81, 0x00, 0]),                // cut inside the tag
            ethernet(&[0x08, 0x00]),                   // nothing after it
            vec![1, 2, 3],
            vec![],
        ];
        let packets: Vec<&[u8]> = packets.iter().map(Vec::as_slice).collect();
        for big_endian in [false, true] {
            let capture = Capture::parse(&pcap(1, &packets, big_endian)).unwrap();
            assert_eq!(
                capture.packets,
                [IPV4.to_vec(), ipv6(), IPV4.to_vec(), ipv6()]
            );
            assert_eq!(capture.skipped, 6);
            assert_eq!(capture.unknown_link, None);
        }
        // Told of a frame check sequence, in the field's upper half.
        let capture = Capture::parse(&pcap(0x2400_0001, &packets, false)).unwrap();
        assert_eq!(capture.packets.len(), 4);
    }

    #[test]
    fn other_link_types() {
        let sll = behind(
            &[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x08, 0x00],
            &IPV4,
        );
        let sll_vlan = behind(
            &[
                0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x81, 0x00, 0, 9, 0x08, 0x00,
            ],
            &IPV4,
        );
        let sll2 = behind(
            &[
                0x86, 0xdd, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0,
            ],
            &ipv6(),
        );
        for (link, packet, ip) in [
            (113, sll, IPV4.to_vec()),
            (113, sll_vlan, IPV4.to_vec()),
            (276, sll2, ipv6()),
            (0, behind(&[2, 0, 0, 0], &IPV4), IPV4.to_vec()),
            (0, behind(&[0, 0, 0, 2], &IPV4), IPV4.to_vec()),
            (0, behind(&[30, 0, 0, 0], &ipv6()), ipv6()),
            (108, behind(&[0, 0, 0, 24], &ipv6()), ipv6()),
            (101, IPV4.to_vec(), IPV4.to_vec()),
            (101, ipv6(), ipv6()),
            (12, ipv6(), ipv6()),
            (228, IPV4.to_vec(), IPV4.to_vec()),
            (229, ipv6(), ipv6()),
        ] {
            let capture = Capture::parse(&pcap(link, &[&packet, &[0xff; 30], &[]], false)).unwrap();
            assert_eq!(capture.packets, [ip], "link type {link}");
            assert_eq!(capture.skipped, 2, "link type {link}");
        }
        let capture = Capture::parse(&pcap(105, &[&IPV4], false)).unwrap();
        assert!(capture.packets.is_empty());
        assert_eq!((capture.skipped, capture.unknown_link), (1, Some(105)));
    }

    #[test]
    fn pcapng_sections_and_interfaces() {
        let frame = ethernet(&behind(&[0x08, 0x00], &IPV4));
        let simple = |packet: &[u8]| {
            let mut body = 5000_u32.to_le_bytes().to_vec();
            body.extend_from_slice(packet);
            block(SIMPLE_PACKET_BLOCK, &body, false)
        };
        let obsolete = {
            let mut body = vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            body.extend(IPV4.len().to_be_bytes()[4..].iter());
            body.extend(IPV4.len().to_be_bytes()[4..].iter());
            body.extend(IPV4);
            block(PACKET_BLOCK, &body, true)
        };
        // An option list without an end marker is allowed.
        let unended = block(
            INTERFACE_DESCRIPTION_BLOCK,
            &[101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 6, 0, 0, 0],
            false,
        );
        let file = [
            section(false),
            interface(1, 38, false),
            unended,
            enhanced(1, &ipv6(), false),
            enhanced(0, &frame, false),
            simple(&frame),
            block(0x0bad, &[1, 2, 3], false),
            section(true),
            interface(101, 0, true),
            enhanced(0, &IPV4, true),
            obsolete,
        ]
        .concat();
        let capture = Capture::parse(&file).unwrap();
        let four = IPV4.to_vec();
        assert_eq!(
            capture.packets,
            [ipv6(), four.clone(), four.clone(), four.clone(), four]
        );
        assert_eq!(capture.skipped, 0);
    }

    #[test]
    fn truncation_is_an_error_wherever_it_falls() {
        let frame = ethernet(&behind(&[0x08, 0x00], &IPV4));
        let file = pcap(1, &[&frame, &frame], false);
        let record = 16 + frame.len();
        for end in 0..file.len() {
            let result = Capture::parse(&file[..end]);
            if end < 4 {
                assert_eq!(result.unwrap_err(), Problem::NotACapture);
            } else if end == 24 || end == 24 + record {
                assert!(result.is_ok());
            } else {
                assert!(
                    matches!(result.unwrap_err(), Problem::Truncated { .. }),
                    "{end}"
                );
            }
        }
        let parts = [
            section(false),
            interface(1, 0, false),
            enhanced(0, &frame, false),
        ];
        let file = parts.concat();
        let whole = [parts[0].len(), parts[0].len() + parts[1].len()];
        for end in 4..file.len() {
            let result = Capture::parse(&file[..end]);
            assert_eq!(result.is_ok(), whole.contains(&end), "{end}");
        }
    }

    #[test]
    fn damage_is_named() {
        let damaged = |file: &[u8]| match Capture::parse(file).unwrap_err() {
            Problem::Damaged { at, what } => (at, what),
            other => panic!("{other:?}"),
        };
        // More captured than there was.
        let mut file = pcap(101, &[&IPV4], false);
        file[24 + 12] = 1;
        file[24 + 13] = 0;
        assert_eq!(
            damaged(&file),
            (24, "24 bytes captured of a packet of 1".to_string())
        );

        let start = section(false).len() + interface(101, 0, false).len();
        let build = |last: Vec<u8>| [section(false), interface(101, 0, false), last].concat();
        assert_eq!(
            damaged(&build(enhanced(3, &IPV4, false))),
            (start, "interface 3 is not described".into())
        );
        assert_eq!(
            damaged(&[section(false), enhanced(0, &IPV4, false)].concat()).0,
            section(false).len()
        );
        assert_eq!(
            damaged(&build(block(ENHANCED_PACKET_BLOCK, &[0; 8], false))),
            (start, "the block is too short for its kind".into())
        );
        // Packet longer than its block.
        let mut long = enhanced(0, &IPV4, false);
        long[20..24].copy_from_slice(&90_u32.to_le_bytes());
        long[24..28].copy_from_slice(&90_u32.to_le_bytes());
        assert_eq!(
            damaged(&build(long)).1,
            "a packet of 90 bytes in a smaller block"
        );
        // The two lengths of a block differ.
        let mut file = build(enhanced(0, &IPV4, false));
        *file.last_mut().unwrap() = 1;
        assert_eq!(damaged(&file).0, start);
        assert_eq!(
            Capture::parse(b"hello, world").unwrap_err(),
            Problem::NotACapture
        );
        assert_eq!(Capture::parse(b"").unwrap_err(), Problem::NotACapture);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let frame = ethernet(&behind(&[0x81, 0x00, 0, 5, 0x08, 0x00], &IPV4));
        let files = [
            pcap(1, &[&frame, &frame], false),
            [
                section(false),
                interface(1, 60, false),
                enhanced(0, &frame, false),
            ]
            .concat(),
            [
                section(true),
                interface(0, 60, true),
                enhanced(0, &frame, true),
            ]
            .concat(),
        ];
        let mut rng = fastrand::Rng::with_seed(11);
        for file in files {
            for _ in 0..20_000 {
                let mut file = file.clone();
                for _ in 0..rng.usize(1..4) {
                    let place = rng.usize(..file.len());
                    file[place] = if rng.bool() { rng.u8(..) } else { 0xff };
                }
                file.truncate(rng.usize(..=file.len()));
                let _ = Capture::parse(&file);
            }
        }
    }
}
