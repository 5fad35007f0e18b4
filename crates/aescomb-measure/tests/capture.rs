//! Mixes that come from files.
//!
//! `data/http_espn.pcapng` is a real browsing session from the capture
//! collection "packets" by Chris Sanders.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aescomb_measure::{Error, Mix};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::pcapng::{Block, PcapNgReader};

fn session() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/http_espn.pcapng")
}

/// A file of its own for a test, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path =
            std::env::temp_dir().join(format!("aescomb-measure-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn mix(&self) -> Mix {
        Mix::Pcap(self.0.clone())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn browsing_session() {
    let source = Mix::Pcap(session()).open().unwrap();
    let packets = source.packets().unwrap();

    // Against another reader: all is Ethernet without tags.
    let file = fs::File::open(session()).unwrap();
    let mut reader = PcapNgReader::new(file).unwrap();
    let mut expected = Vec::new();
    let mut others = 0;
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            match packet.data[12..14] {
                [0x08, 0x00] | [0x86, 0xdd] => expected.push(packet.data[14..].to_vec()),
                _ => others += 1,
            }
        }
    }
    assert!(expected.len() > 500);
    assert_eq!(packets, expected);
    assert_eq!(source.skipped(), others);
    assert_eq!(source.count(), Some(expected.len()));

    let all = source.draw(None, 1);
    assert_eq!(
        all.lengths,
        expected.iter().map(Vec::len).collect::<Vec<_>>()
    );
    assert_eq!(all.ring(7).unwrap().split(), expected);
    // More than there are: over and over again.
    let more = source.draw(Some(expected.len() + 3), 1);
    assert_eq!(more.lengths[expected.len()..], all.lengths[..3]);
    assert_eq!(more.contents.unwrap()[expected.len()..], expected[..3]);
    assert_eq!(
        Mix::Pcap(session()).lengths(5, 1).unwrap(),
        all.lengths[..5]
    );
}

#[test]
fn cut_session_is_an_error() {
    let whole = fs::read(session()).unwrap();
    let cut = Scratch::new("cut.pcapng", &whole[..whole.len() - 5]);
    let error = cut.mix().open().unwrap_err();
    assert!(matches!(error, Error::Capture { .. }));
    let text = error.to_string();
    assert!(
        text.contains("cut.pcapng") && text.contains("truncated"),
        "{text}"
    );
}

/// A pcap file written by another library.
fn written(link: DataLink, packets: &[&[u8]]) -> Vec<u8> {
    let header = PcapHeader {
        datalink: link,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for packet in packets {
        let packet = PcapPacket {
            timestamp: Duration::from_secs(1),
            orig_len: u32::try_from(packet.len()).unwrap(),
            data: Cow::Borrowed(*packet),
        };
        writer.write_packet(&packet).unwrap();
    }
    let file = writer.into_writer();
    assert!(PcapReader::new(&file[..]).is_ok());
    file
}

#[test]
fn written_by_another_library() {
    let ip = [&[0x45; 20][..], &[1, 2, 3]].concat();
    let cooked = [&[0; 14][..], &[0x08, 0x00], &ip].concat();
    let file = Scratch::new(
        "sll.pcap",
        &written(DataLink::LINUX_SLL, &[&cooked, &[0; 16], &cooked]),
    );
    let source = file.mix().open().unwrap();
    assert_eq!(source.packets().unwrap(), [ip.clone(), ip]);
    assert_eq!(source.skipped(), 1);
    assert_eq!(source.draw(None, 1).lengths, [23, 23]);
}

#[test]
fn nothing_to_measure_is_an_error() {
    let none = Scratch::new("none.pcap", &written(DataLink::RAW, &[]));
    let text = none.mix().open().unwrap_err().to_string();
    assert!(
        text.ends_with("none.pcap: holds no IP packet (0 other packets)"),
        "{text}"
    );

    let other = Scratch::new("other.pcap", &written(DataLink::ETHERNET, &[&[0; 60]]));
    assert!(
        other
            .mix()
            .lengths(10, 1)
            .unwrap_err()
            .to_string()
            .ends_with("(1 other packets)")
    );

    let wireless = Scratch::new("wireless.pcap", &written(DataLink::IEEE802_11, &[&[0; 60]]));
    assert!(
        wireless
            .mix()
            .open()
            .unwrap_err()
            .to_string()
            .contains("link type 105 is not known")
    );

    let text = Scratch::new("text.pcap", b"40\n1500\n");
    assert!(
        text.mix()
            .open()
            .unwrap_err()
            .to_string()
            .contains("neither a pcap nor a pcapng")
    );

    let missing = Mix::Pcap("no/such/file.pcap".into()).open().unwrap_err();
    assert!(matches!(missing, Error::Read { .. }));
    assert!(
        missing
            .to_string()
            .starts_with("no/such/file.pcap: cannot be read")
    );
    assert!(matches!(
        Mix::Lengths("no/such/file".into()).open(),
        Err(Error::Read { .. })
    ));
}

#[test]
fn file_of_lengths() {
    let file = Scratch::new("lengths.txt", b"40\n1500\n0\n");
    let mix = Mix::Lengths(file.0.clone());
    assert_eq!(mix.lengths(5, 1).unwrap(), [40, 1500, 0, 40, 1500]);
    let source = mix.open().unwrap();
    assert_eq!(source.count(), Some(3));
    assert!(source.packets().is_none());
    assert_eq!(source.draw(None, 1).lengths, [40, 1500, 0]);
}
