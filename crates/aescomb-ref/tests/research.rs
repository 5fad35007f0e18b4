//! The known answers of the modes that come from research, and what is particular to them.

mod common;

use aescomb_ref::{Aes, Sealed, modes, modes::Block, open, seal};
use common::{Vector, hex, research};

/// Every file with its mode, its number of vectors and the tag's length; but those of Julius, whose
/// tag comes first.
const FILES: [(&str, &str, usize, usize); 13] = [
    ("cloc/cloc", "cloc", 80, 8),
    ("silc/silc", "silc", 80, 8),
    ("jambu/jambu", "jambu", 81, 8),
    ("otr/otr-128", "otr", 80, 16),
    ("otr/otr-256", "otr", 80, 16),
    ("copa/copa", "copa", 81, 17),
    ("poet/poet", "poet", 81, 16),
    ("mcoe-g/mcoe-g", "mcoe-g", 79, 16),
    ("cobra/cobra", "cobra", 79, 16),
    ("cpfb/cpfb-128", "cpfb", 79, 16),
    ("cpfb/cpfb-256", "cpfb", 79, 16),
    ("silver/silver", "silver", 79, 16),
    ("pmac-ctr/pmac-ctr", "pmac-ctr", 79, 16),
];

/// The file of Julius and that of Julius as its reference code has it, with their constants.
const JULIUS: [(&str, Julius, usize); 2] = [
    ("julius/julius", Julius(modes::julius_delta), 81),
    (
        "julius-as-coded/julius-as-coded",
        Julius(modes::julius_delta_as_coded),
        81,
    ),
];

#[derive(Clone, Copy)]
struct Julius(fn(&Aes) -> Block);

impl Julius {
    fn seal(self, key: &[u8], nonce: &[u8], ad: &[u8], text: &[u8]) -> Sealed {
        let aes = Aes::new(key).unwrap();
        modes::julius_encrypt(&aes, &(self.0)(&aes), nonce.try_into().unwrap(), ad, text)
    }

    fn open(
        self,
        key: &[u8],
        nonce: &[u8],
        ad: &[u8],
        Sealed { text, tag }: &Sealed,
        length: usize,
    ) -> Option<Vec<u8>> {
        let aes = Aes::new(key).unwrap();
        let (nonce, tag) = (nonce.try_into().unwrap(), tag[..].try_into().unwrap());
        modes::julius_decrypt(&aes, &(self.0)(&aes), nonce, ad, text, tag, length)
    }
}

/// Strings that differ from the given one by a bit: some thirty, or all of a short one, from its
/// first bit to its last ones.
fn flipped(string: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let bits = 8 * string.len();
    // An odd step comes to every bit of a byte.
    let step = (bits / 30) | 1;
    (0..bits).step_by(step).map(|bit| {
        let mut string = string.to_vec();
        string[bit / 8] ^= 1 << (bit % 8);
        string
    })
}

/// Opens a vector, whole and with a bit of nonce, associated data, text or tag flipped; the tag is
/// at least 8 bytes long, so none is right by chance.
fn check(v: &Vector, sealed: &Sealed, open: impl Fn(&[u8], &[u8], &Sealed) -> Option<Vec<u8>>) {
    let opened = open(&v.nonce, &v.ad, sealed);
    assert_eq!(opened.as_ref(), Some(&v.text), "{}", v.id);
    for nonce in flipped(&v.nonce) {
        assert_eq!(open(&nonce, &v.ad, sealed), None, "{}, nonce", v.id);
    }
    for ad in flipped(&v.ad) {
        assert_eq!(open(&v.nonce, &ad, sealed), None, "{}, data", v.id);
    }
    for text in flipped(&sealed.text) {
        let tag = sealed.tag.clone();
        let changed = Sealed { text, tag };
        assert_eq!(open(&v.nonce, &v.ad, &changed), None, "{}, text", v.id);
    }
    for tag in flipped(&sealed.tag) {
        let text = sealed.text.clone();
        let changed = Sealed { text, tag };
        assert_eq!(open(&v.nonce, &v.ad, &changed), None, "{}, tag", v.id);
    }
}

#[test]
fn known_answers() {
    for (file, mode, count, tag_length) in FILES {
        let vectors = research(file);
        assert_eq!(vectors.len(), count, "{file}");
        for v in &vectors {
            let (text, tag) = v.out.split_at(v.out.len() - tag_length);
            let (text, tag) = (text.to_vec(), tag.to_vec());
            let expected = Sealed { text, tag };
            let sealed = seal(mode, &v.key, &v.nonce, &[&v.ad], &v.text, tag_length);
            assert_eq!(sealed.as_ref(), Some(&expected), "{}", v.id);
            check(v, &expected, |nonce, ad, Sealed { text, tag }| {
                open(mode, &v.key, nonce, &[ad], text, tag)
            });
        }
    }
}

#[test]
fn known_answers_of_julius() {
    for (file, julius, count) in JULIUS {
        let vectors = research(file);
        assert_eq!(vectors.len(), count, "{file}");
        for v in &vectors {
            let (tag, text) = v.out.split_at(16);
            let (text, tag) = (text.to_vec(), tag.to_vec());
            let expected = Sealed { text, tag };
            let sealed = julius.seal(&v.key, &v.nonce, &v.ad, &v.text);
            assert_eq!(sealed, expected, "{}", v.id);
            check(v, &expected, |nonce, ad, sealed| {
                julius.open(&v.key, nonce, ad, sealed, v.text.len())
            });
        }
    }
}

#[test]
fn every_file_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/research");
    let names = |folder: &str| -> Vec<String> {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "README.md")
            .collect()
    };
    let mut found = Vec::new();
    for mode in names(folder) {
        let files = names(&format!("{folder}/{mode}"));
        found.extend(files.into_iter().map(|file| format!("{mode}/{file}")));
    }
    found.sort();
    let all = FILES.iter().map(|(file, ..)| file);
    let all = all.chain(JULIUS.iter().map(|(file, ..)| file));
    let mut all: Vec<String> = all.map(|file| format!("{file}.json")).collect();
    all.sort();
    assert_eq!(found, all);
}

#[test]
fn julius_must_be_told_the_length() {
    let (key, nonce) = ([1; 16], [2; 16]);
    let plain: Vec<u8> = (0..70).collect();
    for (_, julius, _) in JULIUS {
        for length in 0..=70 {
            let plain = &plain[..length];
            let sealed = julius.seal(&key, &nonce, b"data", plain);
            assert_eq!(sealed.tag.len(), 16);
            assert_eq!(sealed.text.len(), length.next_multiple_of(16));
            let open = |length| julius.open(&key, &nonce, b"data", &sealed, length);
            assert_eq!(open(length).as_deref(), Some(plain));
            for wrong in (0..=100).chain([usize::MAX]).filter(|n| *n != length) {
                assert_eq!(open(wrong), None, "{length} and {wrong} bytes");
            }
        }
    }
}

#[test]
fn julius_is_sealed_by_name_and_not_opened() {
    let (key, nonce, ad, plain) = ([1; 16], [2; 16], b"data", [3; 21]);
    let aes = Aes::new(&key).unwrap();
    let sealed = seal("julius", &key, &nonce, &[ad], &plain, 16).unwrap();
    let delta = modes::julius_delta(&aes);
    assert_eq!(
        sealed,
        modes::julius_encrypt(&aes, &delta, &nonce, ad, &plain)
    );
    let opened = open("julius", &key, &nonce, &[ad], &sealed.text, &sealed.tag);
    assert_eq!(opened, None);
    for (key, nonce, tag) in [(24, 16, 16), (16, 12, 16), (16, 16, 12)] {
        let (key, nonce) = (vec![1; key], vec![2; nonce]);
        assert_eq!(seal("julius", &key, &nonce, &[ad], &plain, tag), None);
    }
    let two = seal("julius", &key, &nonce, &[ad, ad], &plain, 16);
    assert_eq!(two, None);
}

#[test]
fn copa_takes_whole_blocks_and_says_whether_the_last_was_padded() {
    let (key, nonce) = ([1; 16], [2; 16]);
    for length in 0..=70 {
        let sealed = seal("copa", &key, &nonce, &[], &vec![3; length], 17).unwrap();
        let padded = length == 0 || length % 16 != 0;
        assert_eq!(sealed.tag[16], u8::from(padded));
        for p in 0..=255 {
            let tag = [&sealed.tag[..16], &[p]].concat();
            let opened = open("copa", &key, &nonce, &[], &sealed.text, &tag);
            assert_eq!(opened.is_some(), p == u8::from(padded));
        }
        for cut in 1..=sealed.text.len() {
            let text = &sealed.text[cut..];
            assert_eq!(open("copa", &key, &nonce, &[], text, &sealed.tag), None);
        }
    }
}

/// Texts with two blocks and a right tag that says that the second one was padded, made by another
/// implementation: it is only padding, no padding, ends with another byte than the padding's first,
/// and is well padded.
#[test]
fn copa_looks_at_the_padding() {
    let first = "ab415446c5655cef609e0f67e2cd5e1a";
    for (second, tag, length) in [
        (
            "863dceda32455e17f19a47390dea0f90",
            "bffbf9759311a57e5bcf8d61d63a5c5301",
            Some(16),
        ),
        (
            "0432944c142526612a8ccae57cbbcee7",
            "1e417444238d978e7fbc6763ece0eba501",
            None,
        ),
        (
            "abf6fa707b3f539ad17cf47f221a3107",
            "b5b79d175820417a12b86d54f2eb539901",
            None,
        ),
        (
            "df473f7eef2d585168920131a231622f",
            "ff2f944eecaf3ab353967c36b56a42c401",
            Some(31),
        ),
    ] {
        let (text, tag) = (hex(&[first, second].concat()), hex(tag));
        let opened = open("copa", &[1; 16], &[2; 16], &[b"data"], &text, &tag);
        assert_eq!(opened, length.map(|length| vec![3; length]));
    }
}

/// In CPFB and Silver, a shorter tag is the first bytes of a longer one; in OTR, it is not.
#[test]
fn shorter_tags() {
    for (mode, nonce, prefixes) in [("cpfb", 12, true), ("silver", 16, true), ("otr", 12, false)] {
        let (key, nonce) = ([1; 16], vec![2; nonce]);
        let tag = |bytes| {
            let sealed = seal(mode, &key, &nonce, &[b"data"], &[3; 40], bytes);
            sealed.unwrap().tag
        };
        for bytes in 4..16 {
            assert_eq!(tag(16).starts_with(&tag(bytes)), prefixes, "{mode}");
        }
    }
}
