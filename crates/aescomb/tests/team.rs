//! Several threads: the same results, statuses and errors as one.
#![cfg(feature = "rayon")]

use aescomb::{Comb, Key, Keys, Message, Mode, Status, Team, Text};

fn packets(n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|i| (0..(i * 97) % 1600).map(|b| (b % 251) as u8).collect())
        .collect()
}

fn batch<'a>(packets: &'a mut [Vec<u8>], nonce: &'a [u8]) -> Vec<Message<'a>> {
    packets
        .iter_mut()
        .enumerate()
        .map(|(i, p)| {
            Message::new(Text::in_place(p))
                .nonce(nonce)
                .key(i as u32 % 3)
        })
        .collect()
}

#[test]
fn a_team_does_what_one_does() {
    let raw = [&[1u8; 16][..], &[2; 24], &[3; 32]];
    let mut table = Vec::new();
    Key::expand_many(Mode::Cfb128, &raw, &mut table).unwrap();
    for threads in [1, 2, 3, 7] {
        let mut team = Team::new((0..threads).map(|_| Comb::new()));
        for n in [0, 1, 2, 5, 100, 1000] {
            for keys in [Keys::Shared(&table[0]), Keys::Table(&table)] {
                let (mut one, mut many) = (packets(n), packets(n));
                let nonce = [9; 16];
                Comb::new()
                    .encrypt(keys, &mut batch(&mut one, &nonce))
                    .unwrap();
                team.encrypt(keys, &mut batch(&mut many, &nonce)).unwrap();
                assert_eq!(one, many);
                let mut back = batch(&mut many, &nonce);
                assert!(team.decrypt(keys, &mut back).unwrap().all_good());
                assert!(back.iter().all(|m| m.status() == Status::Done));
                drop(back);
                assert_eq!(many, packets(n));
            }
        }
    }
}

#[test]
fn failures_and_mistakes_are_found_where_they_are() {
    let key = Key::new(Mode::Cmac, &[7; 16]).unwrap();
    let mut team = Team::new((0..3).map(|_| Comb::new()));
    let texts = packets(300);
    let mut tags = vec![[0u8; 16]; 300];
    let mut list: Vec<Message> = texts
        .iter()
        .zip(&mut tags)
        .map(|(t, tag)| Message::new(Text::read_only(t)).tag(tag))
        .collect();
    team.mac(&key, &mut list).unwrap();
    assert!(team.verify(&key, &mut list).unwrap().all_good());
    drop(list);
    tags[250][3] ^= 1;
    let mut list: Vec<Message> = texts
        .iter()
        .zip(&mut tags)
        .map(|(t, tag)| Message::new(Text::read_only(t)).tag(tag))
        .collect();
    assert_eq!(team.verify(&key, &mut list).unwrap().failed, 1);
    assert_eq!(list[250].status(), Status::BadTag);

    // A message that is refused stops all threads before they start.
    let key = Key::new(Mode::Ctr, &[7; 16]).unwrap();
    let (good, bad) = ([1u8; 16], [1u8; 12]);
    let mut texts = packets(300);
    let mut list = batch(&mut texts, &good);
    let last = list.pop().unwrap();
    list.push(last.nonce(&bad));
    let error = team.encrypt(&key, &mut list).unwrap_err();
    assert_eq!(error.message, Some(299));
    assert!(list.iter().all(|m| m.status() == Status::Pending));
    drop(list);
    assert_eq!(texts, packets(300));
}
