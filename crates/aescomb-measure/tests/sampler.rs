//! The sampler finds the cost of functions whose cost is known.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
// Functions of known cost are inline assembly.
#![allow(unsafe_code)]

use std::arch::asm;

use aescomb_measure::{Measurement, Options, Sampler};

/// `LINKS` dependent rotations of one cycle each. Not the multiplications and
/// additions that the clock itself is calibrated with.
#[cfg(target_arch = "x86_64")]
fn known<const LINKS: u64>() {
    // SAFETY: touches only the registers handed in, no memory and no
    // stack; the loop ends because every count below is at least 100.
    unsafe {
        asm!("2:", ".rept 100", "ror {word}, 3", ".endr", "dec {n}", "jnz 2b",
             word = inout(reg) 1_u64 => _, n = inout(reg) LINKS / 100 => _,
             options(nomem, nostack));
    }
}

/// `LINKS` dependent exclusive-ors of one cycle each.
#[cfg(target_arch = "aarch64")]
fn known<const LINKS: u64>() {
    // SAFETY: touches only the registers handed in, no memory and no
    // stack; the loop ends because every count below is at least 100.
    unsafe {
        asm!("2:", ".rept 100", "eor {sum}, {sum}, {one}", ".endr", "subs {n}, {n}, #1", "b.ne 2b",
             sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, n = inout(reg) LINKS / 100 => _,
             options(nomem, nostack));
    }
}

const ATTEMPTS: usize = 40;

/// Whether the measured cost is within 2 % of what `links` links cost, a cycle
/// each. The call itself costs some cycles more, which is why chains are long.
fn right(result: &Measurement, links: u64) -> bool {
    let cost = links as f64;
    (result.median - cost).abs() < 0.02 * cost
}

#[test]
fn known_cost_is_found_within_two_per_cent() {
    let sampler = Sampler::default();
    let mut seen = Vec::new();
    let mut found = [false; 3];
    // Shared machine: for each function the best of several attempts counts.
    for _ in 0..ATTEMPTS {
        let results = sampler.run(&mut [
            &mut known::<6_000>,
            &mut known::<30_000>,
            &mut known::<1_500_000>,
        ]);
        assert_eq!(results[2].calls_per_sample, 1);
        assert!(results[0].calls_per_sample > 1);
        for (found, (result, steps)) in found
            .iter_mut()
            .zip(results.iter().zip([6_000, 30_000, 1_500_000]))
        {
            *found |= right(result, steps);
        }
        if found == [true; 3] {
            return;
        }
        seen.push(results);
    }
    panic!("never within 2 %: {found:?} {seen:#?}");
}

#[test]
fn twice_the_work_costs_twice_as_much() {
    let sampler = Sampler::new(Options {
        samples: 31,
        ..Options::default()
    });
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let results = sampler.run(&mut [&mut known::<60_000>, &mut known::<120_000>]);
        let ratio = results[1].median / results[0].median;
        if (ratio - 2.0).abs() < 0.04 {
            return;
        }
        seen.push(ratio);
    }
    panic!("never twice as much: {seen:?}");
}
