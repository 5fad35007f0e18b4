//! What the sampler says of functions whose cost is known, on this machine:
//! `cargo run --release -p aescomb-measure --example known_cost`.
//! On a quiet machine each share is between 0.99 and 1.01; a larger one at many cycles says that
//! other programs interrupt the core.
// Functions of known cost are inline assembly.
#![allow(unsafe_code)]

use aescomb_measure::Sampler;

/// `LINKS` dependent rotations of one cycle each. Not the multiplications and
/// additions that the clock itself is calibrated with.
#[cfg(target_arch = "x86_64")]
fn known<const LINKS: u64>() {
    // SAFETY: touches only the registers handed in, no memory and no
    // stack; the loop ends because every count below is at least 100.
    unsafe {
        std::arch::asm!("2:", ".rept 100", "ror {word}, 3", ".endr", "dec {n}", "jnz 2b",
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
        std::arch::asm!("2:", ".rept 100", "eor {sum}, {sum}, {one}", ".endr", "subs {n}, {n}, #1", "b.ne 2b",
             sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, n = inout(reg) LINKS / 100 => _,
             options(nomem, nostack));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn known<const LINKS: u64>() {}

fn main() {
    if cfg!(not(any(target_arch = "x86_64", target_arch = "aarch64"))) {
        println!("no function of known cost on this kind of processor");
        return;
    }
    if let Err(error) = aescomb_measure::pin::pin_any() {
        eprintln!("not pinned to a core: {error}");
    }
    let results = Sampler::default().run(&mut [
        &mut known::<6_000>,
        &mut known::<12_000>,
        &mut known::<30_000>,
        &mut known::<1_500_000>,
    ]);
    println!("{:>9} {:>11} {:>6}", "cycles", "measured", "share");
    for (result, cycles) in results.iter().zip([6e3, 12e3, 30e3, 1.5e6]) {
        let (median, noise) = (result.median, result.noise());
        println!(
            "{cycles:>9} {median:>11.0} {:>6.3}   {noise}",
            median / cycles
        );
    }
}
