//! What the compiler promises for the public types, and what `Debug` keeps quiet
//! about.

use crate::common;
use aescomb::{
    Algorithm, Allowed, AnyKey, Backend, Comb, Error, Field, Info, Keys, Kind, Layout, Lengths,
    Message, MessageResult, Mode, Op, OpenError, Packed, Status, Text, UnknownName,
};
use std::fmt::Debug;

/// Compiles only if `T` is these.
const fn shared_between_threads<T: Send + Sync>() {}
const fn thrown<T: std::error::Error + Send + Sync + Clone + 'static>() {}

const _: () = {
    shared_between_threads::<AnyKey>();
    shared_between_threads::<Keys<'_>>();
    shared_between_threads::<Comb>();
    shared_between_threads::<Message<'_>>();
    shared_between_threads::<Text<'_>>();
    shared_between_threads::<Packed<'_, u32>>();
    shared_between_threads::<Layout<'_, i64>>();
    shared_between_threads::<aescomb::ff1::Ff1>();
    shared_between_threads::<aescomb::ff1::Values<'_, u8, u32>>();
    shared_between_threads::<MessageResult>();
    shared_between_threads::<Status>();
    shared_between_threads::<OpenError>();
    shared_between_threads::<aescomb::Key<aescomb::modes::Gcm>>();
    shared_between_threads::<aescomb::Messages>();
    shared_between_threads::<Info>();
    shared_between_threads::<(Mode, Backend, Op, Kind, Lengths, Algorithm, Field, Allowed)>();
    thrown::<Error>();
    thrown::<OpenError>();
    thrown::<UnknownName>();
};

#[test]
fn a_key_used_by_many_threads() {
    let key = &common::table(Mode::Cbc)[0];
    std::thread::scope(|scope| {
        for variant in 0..4 {
            scope.spawn(move || {
                let heap = common::Heap::new(None);
                let shape = common::Shape::usual(Mode::Cbc);
                let samples = vec![common::sample(Mode::Cbc, 0, variant, shape, 64); 40];
                let call = common::Call::new(Op::Encrypt, key, common::Form::InPlace);
                common::check(&mut Comb::new(), &heap, &call, &samples);
            });
        }
    });
}

/// The inverse cipher's round keys are made when they are first wanted, here by several
/// threads at once.
#[test]
fn a_key_first_used_for_decryption_by_many_threads() {
    for mode in [Mode::Ecb, Mode::Cbc, Mode::Xts] {
        let key = &common::table(mode)[0].clone();
        let barrier = &std::sync::Barrier::new(4);
        let nonce = &[9; 16][..mode.info().nonce_bytes.1];
        let raw = common::raw_key(mode, 0);
        let sealed = aescomb_ref::encrypt(mode.info().name, &raw, nonce, &[7; 48]);
        let sealed = &sealed.expect("a mode of the oracle");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..3 {
                        let mut data = sealed.clone();
                        barrier.wait();
                        key.decrypt_in_place(nonce, &mut data)
                            .expect("a good message");
                        assert_eq!(data, [7; 48], "{mode}");
                    }
                });
            }
        });
    }
}

/// A scheduler that wandered to another thread, with a batch made here.
#[test]
fn a_batch_run_by_another_thread() {
    let key = &common::table(Mode::Ofb)[0];
    let mut comb = Comb::new();
    let mut data = [[1; 40], [2; 40]];
    let [a, b] = &mut data;
    let mut batch = [a, b].map(|data| Message::new(Text::in_place(data)).nonce(&[3; 16]));
    std::thread::scope(|scope| {
        scope.spawn(|| comb.encrypt(key, &mut batch).expect("a good batch"));
    });
    assert!(batch.iter().all(|m| m.status() == Status::Done));
    for (data, plain) in data.iter().zip([1, 2]) {
        let want = aescomb_ref::encrypt(
            "ofb",
            &common::raw_key(Mode::Ofb, 0),
            &[3; 16],
            &[plain; 40],
        );
        assert_eq!(Some(&data[..]), want.as_deref());
    }
}

#[test]
fn debug_shows_no_key_bytes() {
    fn texts(value: &dyn Debug) -> [String; 2] {
        [format!("{value:?}"), format!("{value:#?}")]
    }
    for mode in Mode::ALL {
        for len in mode.info().key_bytes {
            // No byte that could be a number of lanes, an index or a short length.
            let raw: Vec<u8> = (0..*len)
                .map(|i| 0x80 | (i as u8).wrapping_mul(5))
                .collect();
            let key = AnyKey::for_mode(*mode, &raw).expect("a good key");
            let [plain, pretty] = texts(&key);
            let bits = len * 8 / (1 + usize::from(mode.info().two_keys));
            assert_eq!(plain, format!("Key(aes-{bits}-{mode})"));
            assert_eq!(plain, pretty);
            let table = [key.clone(), key.clone()];
            let mut comb = Comb::new();
            let mut data = [5; 32];
            let nonce = common::nonce(*mode, 0);
            let mut tag = vec![0; mode.info().longest_tag()];
            let mut copy = [0; 48];
            let message = Message::new(Text::copy(&data, &mut copy))
                .nonce(&nonce)
                .tag(&mut tag);
            let op = common::ops(*mode)[0];
            let _ = common::call(&mut comb, op, &table[..], &mut [message]).expect("a good batch");
            data.fill(0);
            let things: [&dyn Debug; 4] = [
                &comb,
                &Keys::from(&key),
                &Keys::from(&table),
                &vec![key.clone()],
            ];
            for text in things.iter().flat_map(|thing| texts(*thing)) {
                for byte in &raw {
                    let numbers = text.split(|c: char| !c.is_ascii_alphanumeric());
                    let forms = [
                        format!("{byte}"),
                        format!("{byte:x}"),
                        format!("{byte:02X}"),
                    ];
                    for number in numbers {
                        let shown = forms.iter().any(|form| form == number);
                        assert!(!shown || ["128", "192", "256"].contains(&number), "{text}");
                    }
                }
            }
        }
    }
}
