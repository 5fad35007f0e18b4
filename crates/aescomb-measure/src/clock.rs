//! The clock counter, and core cycles per tick of it.
//!
//! The counter (x86-64: time stamp counter; AArch64: virtual counter;
//! elsewhere: nanoseconds of [`std::time::Instant`]) runs at a constant rate
//! that is not the core's. How many core cycles one tick lasts is therefore
//! measured whenever it is needed, with a chain of dependent instructions of
//! known latency.
//!
//! On x86-64 the chain consists of multiplications. Their latency is a whole
//! number of cycles, 3 on nearly all cores; it is found when the clock is
//! calibrated, as a multiple of the addition of two registers, which takes
//! exactly one cycle. Additions themselves would do on a core that nobody else
//! uses, but while another hardware thread of the same core computes, a chain
//! of them loses some 3 % of its cycles to the contention for execution
//! ports; the multiplications lose nothing. Additions of a constant, `inc` and
//! `dec` will not do at all: some cores (Golden Cove and later) carry them out
//! while renaming registers, several in one cycle. On AArch64, where hardware
//! threads are rare, the chain consists of additions of registers.

// Reading the counter and the chains of known length are inline assembly.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::stats;

/// Links in one pass of a chain's loop.
pub(crate) const LINKS: u64 = 100;
/// A reading of the frequency takes the fastest of this many chains.
const CHAINS_PER_READING: u32 = 4;
/// Ticks a single chain must last at least, so that the counter's resolution
/// and the start of the chain stay under 0.1 %.
const MIN_CHAIN_TICKS: u64 = 1_000;
/// Seconds a single chain lasts at least.
const CHAIN_SECONDS: f64 = 5e-6;
/// Core cycles that an addition may seem to take on a core of its own.
const MAX_ADDITION_CYCLES: f64 = 1.015;
/// Empty measurements taken to learn the overhead.
const EMPTY_MEASUREMENTS: usize = 1_001;

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::asm;

    pub const NAME: &str = "time stamp counter (rdtsc)";

    /// A chain that loses cycles while another hardware thread uses the core.
    pub const ADDITIONS: Option<fn(u64)> = Some(additions);

    #[inline(always)]
    pub fn read() -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: every x86-64 CPU has `lfence` and `rdtsc`, and the systems
        // Rust runs on leave `rdtsc` open to programs; the instructions write
        // only rax and rdx, both named as outputs.
        unsafe {
            asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high,
                 options(nostack, preserves_flags));
        }
        (high << 32) | low
    }

    /// `passes` times 100 dependent multiplications.
    #[inline(never)]
    pub fn chain(passes: u64) {
        // SAFETY: touches only the three registers handed in, no memory and no
        // stack; the loop ends because `passes` is at least 1.
        unsafe {
            asm!("2:", ".rept 100", "imul {product}, {three}", ".endr", "dec {n}", "jnz 2b",
                 product = inout(reg) 1_u64 => _, three = in(reg) 3_u64, n = inout(reg) passes.max(1) => _,
                 options(nomem, nostack));
        }
    }

    /// `passes` times 100 dependent additions of one register to another, one
    /// cycle each.
    #[inline(never)]
    fn additions(passes: u64) {
        // SAFETY: touches only the three registers handed in, no memory and no
        // stack; the loop ends because `passes` is at least 1.
        unsafe {
            asm!("2:", ".rept 100", "add {sum}, {one}", ".endr", "dec {n}", "jnz 2b",
                 sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, n = inout(reg) passes.max(1) => _,
                 options(nomem, nostack));
        }
    }

    /// Core cycles of one link of [`chain`]: a whole number of additions, from
    /// 3 (nearly all cores) to 6. `None` if it is not found to be one.
    pub fn link_cycles() -> Option<u64> {
        // Shared machines: the first plausible one of several attempts.
        (0..16).find_map(|_| {
            let ratio = shortest(chain, 100) / shortest(additions, 100);
            let cycles = ratio.round();
            let plausible = (ratio - cycles).abs() < 0.04 * cycles && (3.0..=6.0).contains(&cycles);
            plausible.then_some(cycles as u64)
        })
    }

    fn shortest(chain: fn(u64), passes: u64) -> f64 {
        let once = |_| {
            let start = read();
            chain(passes);
            read().wrapping_sub(start)
        };
        (0..16).map(once).min().unwrap_or(0).max(1) as f64
    }
}

#[cfg(target_arch = "aarch64")]
mod counter {
    use std::arch::asm;

    pub const NAME: &str = "virtual counter (cntvct_el0)";

    /// A chain that loses cycles while another hardware thread uses the core.
    pub const ADDITIONS: Option<fn(u64)> = None;

    #[inline(always)]
    pub fn read() -> u64 {
        let ticks: u64;
        // SAFETY: the systems Rust runs on leave `cntvct_el0` readable by
        // programs (their own clock functions use it); only the named output
        // register is written.
        unsafe {
            asm!("isb", "mrs {ticks}, cntvct_el0", "isb", ticks = out(reg) ticks,
                 options(nostack, preserves_flags));
        }
        ticks
    }

    /// `passes` times 100 dependent register additions of one cycle each.
    #[inline(never)]
    pub fn chain(passes: u64) {
        // SAFETY: touches only the three registers handed in, no memory and no
        // stack; the loop ends because `passes` is at least 1.
        unsafe {
            asm!("2:", ".rept 100", "add {sum}, {sum}, {one}", ".endr", "subs {n}, {n}, #1", "b.ne 2b",
                 sum = inout(reg) 0_u64 => _, one = in(reg) 1_u64, n = inout(reg) passes.max(1) => _,
                 options(nomem, nostack));
        }
    }

    /// Core cycles of one link of [`chain`].
    pub fn link_cycles() -> Option<u64> {
        Some(1)
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod counter {
    use std::sync::OnceLock;
    use std::time::Instant;

    pub const NAME: &str = "std::time::Instant (nanoseconds)";

    /// A chain that loses cycles while another hardware thread uses the core.
    pub const ADDITIONS: Option<fn(u64)> = None;

    pub fn read() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    /// No chain of known length here: the frequency is assumed, not measured.
    pub fn chain(_passes: u64) {}

    /// Core cycles of one link of [`chain`].
    pub fn link_cycles() -> Option<u64> {
        None
    }
}

/// Name of the clock counter in use.
pub const COUNTER: &str = counter::NAME;

/// The clock counter now, in ticks. Everything before the call is finished
/// and nothing after it has begun when the counter is read.
#[inline(always)]
pub fn now() -> u64 {
    counter::read()
}

/// What a clock reads: the real processor, or in tests one whose costs are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processor {
    /// The counter, in ticks.
    pub now: fn() -> u64,
    /// Takes `passes` times [`LINKS`] times the cycles of a link.
    pub chain: fn(u64),
    /// Core cycles of one link; `None` if it has no known length.
    pub link_cycles: Option<u64>,
    /// A chain of links of one cycle, which another hardware thread makes longer.
    pub additions: Option<fn(u64)>,
}

impl Processor {
    fn real() -> Self {
        Self {
            now,
            chain: counter::chain,
            link_cycles: counter::link_cycles(),
            additions: counter::ADDITIONS,
        }
    }

    /// Ticks that `calls` calls of `f` take, the overhead included.
    #[inline(never)]
    fn calls(self, f: &mut dyn FnMut(), calls: u64) -> u64 {
        let start = (self.now)();
        for _ in 0..calls {
            f();
        }
        (self.now)().wrapping_sub(start)
    }

    /// Ticks that a chain takes, overhead included.
    fn chain(self, chain: fn(u64), passes: u64) -> u64 {
        let start = (self.now)();
        chain(passes);
        (self.now)().wrapping_sub(start)
    }
}

/// The core's frequency relative to the clock counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency {
    /// Core cycles in one tick of the clock counter.
    pub cycles_per_tick: f64,
    /// True if this figure is an assumption (one cycle per tick) and not a
    /// measurement, because the target has no chain of known length or the
    /// chain proved implausible. Cycles are ticks then.
    pub estimated: bool,
}

impl Frequency {
    /// Whether two readings differ by more than the share `tolerance`
    /// (0.01: one per cent) of the smaller one.
    pub fn differs(self, other: Self, tolerance: f64) -> bool {
        let (a, b) = (self.cycles_per_tick, other.cycles_per_tick);
        (a - b).abs() > tolerance * a.min(b)
    }
}

/// A calibrated clock: the overhead of a measurement, the counter's rate and
/// the means to read the core's frequency.
#[derive(Clone, Debug)]
pub struct Clock {
    overhead_min: u64,
    overhead_median: u64,
    resolution: u64,
    ticks_per_second: f64,
    processor: Processor,
    /// Passes of the chain in one reading.
    chain_passes: u64,
    /// Ticks that reading the counter and starting a chain take.
    chain_overhead: f64,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// Calibrates the clock on the current core; takes about 15 milliseconds.
    /// Pin the thread first.
    pub fn new() -> Self {
        let ticks_per_second = measure_rate(Duration::from_millis(10));
        Self::calibrated(Processor::real(), ticks_per_second)
    }

    pub(crate) fn calibrated(processor: Processor, ticks_per_second: f64) -> Self {
        let mut empty = || {
            black_box(());
        };
        let empty: &mut dyn FnMut() = &mut empty;
        let mut ticks: Vec<u64> = (0..EMPTY_MEASUREMENTS)
            .map(|_| processor.calls(empty, black_box(1)))
            .collect();
        ticks.sort_unstable();
        let mut clock = Self {
            overhead_min: ticks[0],
            overhead_median: ticks[EMPTY_MEASUREMENTS / 2],
            resolution: measure_resolution(processor.now),
            ticks_per_second,
            processor,
            chain_passes: 1,
            chain_overhead: 0.0,
        };
        if processor.link_cycles.is_some() {
            clock.fit_chain();
        }
        clock
    }

    /// Finds how many passes of the chain one reading takes, and the overhead.
    fn fit_chain(&mut self) {
        let wanted = ((self.ticks_per_second * CHAIN_SECONDS) as u64)
            .max(MIN_CHAIN_TICKS)
            .max(self.resolution.saturating_mul(MIN_CHAIN_TICKS));
        let processor = self.processor;
        let shortest = |passes: u64| {
            (0..64)
                .map(|_| processor.chain(processor.chain, passes))
                .min()
                .unwrap_or(0) as f64
        };
        while self.chain_passes < 1 << 30 && shortest(self.chain_passes) < wanted as f64 {
            self.chain_passes += self.chain_passes.div_ceil(4);
        }
        // What the ticks of a chain of no length would be, from two lengths.
        let (one, all) = (shortest(1), shortest(self.chain_passes));
        let per_pass = (all - one) / (self.chain_passes - 1).max(1) as f64;
        self.chain_overhead = (one - per_pass).clamp(0.0, 0.02 * all);
    }

    /// Ticks of `calls` calls of `f`, the overhead subtracted.
    pub(crate) fn ticks(&self, f: &mut dyn FnMut(), calls: u64) -> u64 {
        self.processor
            .calls(f, calls)
            .saturating_sub(self.overhead_median)
    }

    /// The least number of ticks an empty measurement took.
    pub fn overhead_min(&self) -> u64 {
        self.overhead_min
    }

    /// The median number of ticks an empty measurement (one call of an empty
    /// function) took; the sampler subtracts it from every sample.
    pub fn overhead_median(&self) -> u64 {
        self.overhead_median
    }

    /// The smallest step of the clock counter that was seen, in ticks.
    pub fn resolution(&self) -> u64 {
        self.resolution
    }

    /// Ticks of the clock counter per second.
    pub fn ticks_per_second(&self) -> f64 {
        self.ticks_per_second
    }

    /// Measures the core's frequency now; takes about 20 microseconds.
    pub fn frequency(&self) -> Frequency {
        let Some(link_cycles) = self.processor.link_cycles else {
            return Frequency {
                cycles_per_tick: 1.0,
                estimated: true,
            };
        };
        // An interruption can only lengthen a chain: take the shortest.
        let ticks = (0..CHAINS_PER_READING)
            .map(|_| {
                self.processor
                    .chain(self.processor.chain, self.chain_passes)
            })
            .min()
            .unwrap_or(0);
        let cycles = (self.chain_passes * LINKS * link_cycles) as f64;
        let cycles_per_tick = cycles / (ticks as f64 - self.chain_overhead).max(1.0);
        Frequency {
            cycles_per_tick,
            estimated: false,
        }
    }

    /// Whether another hardware thread uses the core right now, given the
    /// frequency just measured; takes about 10 microseconds. `None` where
    /// there is no telling.
    ///
    /// Such a thread takes execution ports away, so that what is measured
    /// costs more than on a core of its own, up to twice as much, at an
    /// unchanged frequency. It shows in a chain of one-cycle additions.
    pub fn contended(&self, frequency: Frequency) -> Option<bool> {
        let (additions, link_cycles) = (self.processor.additions?, self.processor.link_cycles?);
        let passes = self.chain_passes * link_cycles;
        let ticks = (0..2)
            .map(|_| self.processor.chain(additions, passes))
            .min()?;
        let cycles = (ticks as f64 - self.chain_overhead) * frequency.cycles_per_tick;
        Some(cycles > MAX_ADDITION_CYCLES * (passes * LINKS) as f64)
    }

    /// The core's frequency now, in hertz (cycles per second). Where
    /// [`Frequency::estimated`] is set this is the counter's rate.
    pub fn core_hertz(&self) -> f64 {
        self.frequency().cycles_per_tick * self.ticks_per_second
    }
}

/// Ticks per second, against the system's clock over `span`.
fn measure_rate(span: Duration) -> f64 {
    // A pair of readings taken close together: of several tries the one in
    // which the counter advanced least while the system clock was read.
    let pair = || {
        (0..8)
            .map(|_| {
                let before = now();
                let instant = Instant::now();
                let after = now();
                (
                    after.wrapping_sub(before),
                    before.wrapping_add(after.wrapping_sub(before) / 2),
                    instant,
                )
            })
            .min_by_key(|reading| reading.0)
            .unwrap_or_else(|| (0, now(), Instant::now()))
    };
    let (_, first_ticks, first_instant) = pair();
    while first_instant.elapsed() < span {
        std::hint::spin_loop();
    }
    let (_, last_ticks, last_instant) = pair();
    let seconds = last_instant.duration_since(first_instant).as_secs_f64();
    last_ticks.wrapping_sub(first_ticks).max(1) as f64 / seconds.max(1e-9)
}

/// The smallest step between two readings that differ, capped by what the
/// reading itself costs.
fn measure_resolution(now: fn() -> u64) -> u64 {
    // A counter that advances with every reading shows only the cost of the
    // reading; its step is then a divisor common to all differences.
    let mut step = 0;
    let mut last = now();
    for _ in 0..256 {
        let ticks = now();
        step = gcd(step, ticks.wrapping_sub(last));
        last = ticks;
    }
    step.max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The median of several readings of the frequency, for a figure to print:
/// `readings` times about 20 microseconds.
pub fn typical_frequency(clock: &Clock, readings: usize) -> Frequency {
    let all: Vec<f64> = (0..readings.max(1))
        .map(|_| clock.frequency().cycles_per_tick)
        .collect();
    Frequency {
        cycles_per_tick: stats::median(&all).unwrap_or(1.0),
        estimated: clock.processor.link_cycles.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_does_not_run_backwards() {
        let mut last = now();
        for _ in 0..10_000 {
            let ticks = now();
            assert!(ticks >= last);
            last = ticks;
        }
    }

    #[test]
    fn overheads_are_ordered() {
        let clock = Clock::new();
        assert!(clock.overhead_min() <= clock.overhead_median());
        assert!(clock.resolution() >= 1);
        assert!(clock.ticks_per_second() > 0.0);
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn frequency_is_measured() {
        let clock = Clock::new();
        let frequency = clock.frequency();
        assert!(frequency.cycles_per_tick.is_finite() && frequency.cycles_per_tick > 0.0);
        // On a machine that is busy while it is asked how long a link takes, no answer is found.
        assert_eq!(frequency.estimated, clock.processor.link_cycles.is_none());
        assert!(clock.core_hertz() > 0.0);
        assert!(typical_frequency(&clock, 5).cycles_per_tick > 0.0);
    }

    #[test]
    fn differing_readings() {
        let at = |cycles_per_tick| Frequency {
            cycles_per_tick,
            estimated: false,
        };
        assert!(!at(1.0).differs(at(1.0099), 0.01));
        assert!(at(1.0).differs(at(1.0101), 0.01));
        assert!(at(1.0101).differs(at(1.0), 0.01));
    }

    #[test]
    fn greatest_common_divisor() {
        assert_eq!(gcd(0, 5), 5);
        assert_eq!(gcd(12, 18), 6);
        assert_eq!(gcd(7, 0), 7);
    }
}
