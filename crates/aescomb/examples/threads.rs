//! How much faster a large batch is on several threads: CBC encryption of 20,000
//! packets, threads in turn, medians.
//!
//! `cargo run --release -p aescomb --features threads --example threads`

use aescomb::{AnyKey, Comb, Message, Mode, Team, Text};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Instant;

fn main() -> Result<(), aescomb::Error> {
    let key = AnyKey::for_mode(Mode::Cbc, &[7; 16])?;
    let mut packets: Vec<Vec<u8>> = (0..20_000).map(|i| vec![0; 16 + i * 16 % 1488]).collect();
    let nonce = [1; 16];
    let mut batch: Vec<Message> = packets
        .iter_mut()
        .map(|packet| Message::new(Text::in_place(packet)).nonce(&nonce))
        .collect();

    let most = available_parallelism().map_or(1, NonZeroUsize::get);
    let mut teams: Vec<Team> = (1..=most)
        .map(|threads| Team::new((0..threads).map(|_| Comb::new())))
        .collect();
    let mut times = vec![Vec::new(); most];
    for _ in 0..91 {
        for (team, times) in teams.iter_mut().zip(&mut times) {
            let start = Instant::now();
            team.encrypt(&key, &mut batch)?;
            times.push(start.elapsed());
        }
    }
    for times in &mut times {
        times.sort();
    }
    for (i, sorted) in times.iter().enumerate() {
        let gain = times[0][45].as_secs_f64() / sorted[45].as_secs_f64();
        println!("{} threads: {gain:.2} times as fast as one", i + 1);
    }
    Ok(())
}
