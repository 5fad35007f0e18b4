//! The sampler: what calls of several competitors cost in core cycles.
//!
//! One *sample* is as many calls in a row as make the clock's overhead a
//! negligible share of it. Samples of all competitors are interleaved in one
//! process, so that whatever the machine does meets them alike. The core's
//! frequency is measured right before and right after every sample; when the
//! two readings disagree the sample is thrown away, counted, and taken again.

use std::fmt;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::stats;

/// How samples are taken.
#[derive(Clone, Debug)]
pub struct Options {
    /// Samples wanted per competitor.
    pub samples: usize,
    /// Greatest share of a sample that the clock's overhead may be (0.001:
    /// 0.1 %).
    pub max_overhead: f64,
    /// Greatest difference, as a share (0.01: 1 %), between the frequency
    /// before and after a sample that is kept.
    pub max_drift: f64,
    /// How many times one sample is taken again after being thrown away.
    pub max_retries: usize,
    /// Least time a competitor runs before its first sample.
    pub warmup: Duration,
    /// Whether a call that is not timed precedes every sample, so that a
    /// competitor finds its data in the caches as if it ran alone.
    pub warm_call: bool,
    /// Greatest time spent on one competitor (warming up, samples thrown away
    /// and all): past it no further sample is begun. The first sample is
    /// always taken. `None`: no limit.
    pub budget: Option<Duration>,
}

impl Default for Options {
    /// 91 samples, overhead under 0.1 %, frequencies within 1 %, 8 retries,
    /// 3 ms of warming up, a warm call before every sample, no budget.
    fn default() -> Self {
        Self {
            samples: 91,
            max_overhead: 0.001,
            max_drift: 0.01,
            max_retries: 8,
            warmup: Duration::from_millis(3),
            warm_call: true,
            budget: None,
        }
    }
}

/// What one competitor costs. All costs are core cycles per call.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Median over the samples.
    pub median: f64,
    /// The cheapest sample.
    pub min: f64,
    /// Lower quartile over the samples.
    pub lower_quartile: f64,
    /// Upper quartile over the samples.
    pub upper_quartile: f64,
    /// Samples behind these figures.
    pub kept: usize,
    /// Samples thrown away because the core's frequency changed meanwhile.
    pub discarded: usize,
    /// Samples asked for.
    pub requested: usize,
    /// Calls in one sample.
    pub calls_per_sample: u64,
    /// Median core cycles per tick of the clock counter, over the samples.
    pub cycles_per_tick: f64,
    /// True if the core's frequency could not be measured: the costs are in
    /// ticks of the clock counter.
    pub estimated: bool,
    /// True if no sample at all had a steady frequency: the figures come from
    /// samples that should have been thrown away (`kept` is 0).
    pub unsteady: bool,
    /// True if the time budget ended before all samples were taken.
    pub out_of_time: bool,
    /// Share of the samples during which another hardware thread seemed to use
    /// the core (see [`Clock::contended`]); 0 where there is no telling.
    pub contended_share: f64,
}

impl Measurement {
    /// The median cost per unit, where one call handles `units` of them:
    /// cycles per byte, per block or per message.
    pub fn per(&self, units: f64) -> f64 {
        self.median / units
    }

    /// How far the figures can be relied on.
    pub fn noise(&self) -> Noise {
        let taken = self.kept + self.discarded;
        Noise {
            relative_iqr: if self.median > 0.0 {
                (self.upper_quartile - self.lower_quartile) / self.median
            } else {
                0.0
            },
            discarded_share: if taken == 0 {
                0.0
            } else {
                self.discarded as f64 / taken as f64
            },
            kept: self.kept,
            requested: self.requested,
            unsteady: self.unsteady,
            out_of_time: self.out_of_time,
            contended_share: self.contended_share,
        }
    }
}

/// How noisy a measurement was. Displays as one line, with advice if noisy.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Distance of the quartiles as a share of the median.
    pub relative_iqr: f64,
    /// Samples thrown away as a share of all samples taken.
    pub discarded_share: f64,
    /// Samples kept.
    pub kept: usize,
    /// Samples asked for.
    pub requested: usize,
    /// No sample had a steady frequency.
    pub unsteady: bool,
    /// The time budget ended before all samples were taken.
    pub out_of_time: bool,
    /// Share of the samples during which another hardware thread seemed to use
    /// the core.
    pub contended_share: f64,
}

impl Noise {
    /// [`Noise::relative_iqr`] above this is noisy.
    pub const MAX_RELATIVE_IQR: f64 = 0.05;
    /// [`Noise::discarded_share`] above this is noisy.
    pub const MAX_DISCARDED_SHARE: f64 = 0.25;
    /// [`Noise::contended_share`] above this is noisy.
    pub const MAX_CONTENDED_SHARE: f64 = 0.25;
    /// Fewer samples than this (and than asked for) are too few.
    pub const MIN_KEPT: usize = 11;

    /// Whether the measurement had better be repeated.
    pub fn is_noisy(&self) -> bool {
        self.warning().is_some()
    }

    /// What is wrong and what to do about it; `None` if nothing is.
    pub fn warning(&self) -> Option<String> {
        let advice_frequency = "fix the core's frequency (performance governor, turbo off)";
        let advice_load = "stop other programs or choose another core";
        if self.unsteady {
            return Some(format!(
                "no sample had a steady core frequency: {advice_frequency}, {advice_load}"
            ));
        }
        let mut parts = Vec::new();
        if self.relative_iqr > Self::MAX_RELATIVE_IQR {
            parts.push(format!(
                "samples spread over {:.1} % of the median: {advice_load}, then measure again",
                100.0 * self.relative_iqr
            ));
        }
        if self.discarded_share > Self::MAX_DISCARDED_SHARE {
            parts.push(format!(
                "{:.0} % of the samples thrown away as the core's frequency changed: {advice_frequency}",
                100.0 * self.discarded_share
            ));
        }
        if self.contended_share > Self::MAX_CONTENDED_SHARE {
            parts.push(format!(
                "another hardware thread shared the core during {:.0} % of the samples, costs are too high: \
                 {advice_load}",
                100.0 * self.contended_share
            ));
        }
        if self.kept < Self::MIN_KEPT.min(self.requested) {
            let advice = if self.out_of_time {
                "allow more time or fewer messages"
            } else {
                advice_frequency
            };
            parts.push(format!(
                "only {} of {} samples: {advice}",
                self.kept, self.requested
            ));
        }
        if parts.is_empty() {
            None
        } else {
            Some(parts.join("; "))
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} samples, quartiles {:.1} % apart, {:.0} % thrown away",
            self.kept,
            self.requested,
            100.0 * self.relative_iqr,
            100.0 * self.discarded_share
        )?;
        match self.warning() {
            Some(warning) => write!(f, "; noisy: {warning}"),
            None => Ok(()),
        }
    }
}

/// Takes samples; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    clock: Clock,
    options: Options,
}

/// A competitor's state while it is being sampled.
#[derive(Default)]
struct State {
    calls: u64,
    spent: Duration,
    /// (cycles per call, cycles per tick)
    kept: Vec<(f64, f64)>,
    /// The same of samples thrown away.
    thrown: Vec<(f64, f64)>,
    estimated: bool,
    out_of_time: bool,
    /// Samples, thrown away or not, during which the core was contended.
    contended: usize,
}

impl Sampler {
    /// A sampler with a new [`Clock`]. Pin the thread first.
    pub fn new(options: Options) -> Self {
        Self::with_clock(Clock::new(), options)
    }

    /// A sampler with a clock that is calibrated already.
    pub fn with_clock(clock: Clock, options: Options) -> Self {
        Self { clock, options }
    }

    /// The clock in use.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The options in use.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Measures the competitors, interleaved sample by sample: in every round
    /// each of them is sampled once. The results are in the same order.
    pub fn run(&self, competitors: &mut [&mut dyn FnMut()]) -> Vec<Measurement> {
        let mut states: Vec<State> = competitors
            .iter_mut()
            .map(|f| self.prepare(&mut **f))
            .collect();
        for _ in 0..self.options.samples.max(1) {
            for (f, state) in competitors.iter_mut().zip(&mut states) {
                let begun = Instant::now();
                self.sample(&mut **f, state, begun);
                state.spent += begun.elapsed();
            }
        }
        states
            .into_iter()
            .map(|state| self.summary(state))
            .collect()
    }

    /// Measures one function alone.
    pub fn run_one(&self, f: &mut dyn FnMut()) -> Measurement {
        let state = &mut self.prepare(f);
        for _ in 0..self.options.samples.max(1) {
            let begun = Instant::now();
            self.sample(f, state, begun);
            state.spent += begun.elapsed();
        }
        self.summary(std::mem::take(state))
    }

    /// Least ticks of a sample for which overhead and the counter's resolution
    /// stay under the share asked for.
    fn sample_ticks(&self) -> u64 {
        let least = self.clock.overhead_median().max(self.clock.resolution()) as f64;
        (least / self.options.max_overhead.clamp(1e-6, 1.0)).ceil() as u64
    }

    /// Works out the calls per sample, and warms up by doing so.
    fn prepare(&self, f: &mut dyn FnMut()) -> State {
        let begun = Instant::now();
        let wanted = self.sample_ticks();
        let limit = self.options.budget.map_or(self.options.warmup, |budget| {
            self.options.warmup.min(budget / 4)
        });
        let mut calls = 1_u64;
        // Doubling until one run is long enough; the first run also pays for
        // page faults and cold caches, so a single one never decides.
        let mut ticks = self.clock.ticks(f, calls);
        if begun.elapsed() < limit {
            ticks = self.clock.ticks(f, calls);
        }
        while ticks < wanted && calls < 1 << 40 {
            calls *= 2;
            ticks = self.clock.ticks(f, calls);
        }
        let mut per_call = ticks as f64 / calls as f64;
        while begun.elapsed() < limit {
            per_call = per_call.min(self.clock.ticks(f, calls) as f64 / calls as f64);
        }
        // The cheapest call seen, so that no sample is too short.
        calls = calls.max((wanted as f64 / per_call.max(1e-3)).ceil() as u64);
        State {
            calls,
            spent: begun.elapsed(),
            ..State::default()
        }
    }

    /// Takes one sample, again if the frequency changed meanwhile.
    fn sample(&self, f: &mut dyn FnMut(), state: &mut State, begun: Instant) {
        for _ in 0..=self.options.max_retries {
            let some = !state.kept.is_empty() || !state.thrown.is_empty();
            if some
                && self
                    .options
                    .budget
                    .is_some_and(|budget| state.spent + begun.elapsed() >= budget)
            {
                state.out_of_time = true;
                return;
            }
            if self.options.warm_call {
                f();
            }
            let before = self.clock.frequency();
            let ticks = self.clock.ticks(f, state.calls);
            let after = self.clock.frequency();
            let cycles_per_tick = f64::midpoint(before.cycles_per_tick, after.cycles_per_tick);
            let sample = (
                ticks as f64 * cycles_per_tick / state.calls as f64,
                cycles_per_tick,
            );
            state.estimated |= before.estimated || after.estimated;
            state.contended += usize::from(self.clock.contended(after) == Some(true));
            if before.differs(after, self.options.max_drift) {
                state.thrown.push(sample);
            } else {
                state.kept.push(sample);
                return;
            }
        }
    }

    fn summary(&self, state: State) -> Measurement {
        let unsteady = state.kept.is_empty();
        let used = if unsteady { &state.thrown } else { &state.kept };
        let costs: Vec<f64> = used.iter().map(|sample| sample.0).collect();
        let rates: Vec<f64> = used.iter().map(|sample| sample.1).collect();
        let (lower_quartile, median, upper_quartile) =
            stats::quartiles(&costs).unwrap_or((f64::NAN, f64::NAN, f64::NAN));
        Measurement {
            median,
            min: costs.iter().copied().fold(f64::INFINITY, f64::min),
            lower_quartile,
            upper_quartile,
            kept: state.kept.len(),
            discarded: state.thrown.len(),
            requested: self.options.samples.max(1),
            calls_per_sample: state.calls,
            cycles_per_tick: stats::median(&rates).unwrap_or(1.0),
            estimated: state.estimated,
            unsteady,
            out_of_time: state.out_of_time,
            contended_share: state.contended as f64
                / (state.kept.len() + state.thrown.len()).max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{LINKS, Processor};
    use std::cell::RefCell;

    /// A processor on which each cost is known.
    struct Simulated {
        ticks: f64,
        cycles_per_tick: f64,
        cycles_per_addition: f64,
        calls: u64,
    }

    impl Simulated {
        const READING: f64 = 20.0;
        const LINK: u64 = 3;
    }

    thread_local! {
        static SIMULATED: RefCell<Simulated> = const {
            RefCell::new(Simulated { ticks: 0.0, cycles_per_tick: 1.4, cycles_per_addition: 1.0, calls: 0 })
        };
    }

    fn simulated<R>(f: impl FnOnce(&mut Simulated) -> R) -> R {
        SIMULATED.with_borrow_mut(f)
    }

    /// Lets `cycles` of the core go by.
    fn work(cycles: f64) {
        simulated(|s| {
            s.calls += 1;
            s.ticks += cycles / s.cycles_per_tick;
        });
    }

    /// A sampler on the simulated processor.
    fn sampler(options: Options) -> Sampler {
        let processor = Processor {
            now: || {
                simulated(|s| {
                    s.ticks += Simulated::READING;
                    s.ticks as u64
                })
            },
            chain: |passes| {
                work((passes * LINKS * Simulated::LINK) as f64);
            },
            link_cycles: Some(Simulated::LINK),
            additions: Some(|passes| {
                work((passes * LINKS) as f64 * simulated(|s| s.cycles_per_addition));
            }),
        };
        let options = Options {
            warmup: Duration::ZERO,
            ..options
        };
        Sampler::with_clock(Clock::calibrated(processor, 2e9), options)
    }

    fn is_near(found: f64, cost: f64) -> bool {
        (found - cost).abs() < 0.002 * cost
    }

    #[test]
    fn known_costs_are_found() {
        let sampler = sampler(Options::default());
        assert_eq!(sampler.clock().overhead_median(), 20);
        assert!(is_near(sampler.clock().frequency().cycles_per_tick, 1.4));
        let results = sampler.run(&mut [&mut || work(60.0), &mut || work(6_000.0), &mut || {
            work(1_500_000.0)
        }]);
        for (result, cost) in results.iter().zip([60.0, 6_000.0, 1_500_000.0]) {
            assert!(is_near(result.median, cost), "{cost}: {result:#?}");
            assert!(is_near(result.cycles_per_tick, 1.4));
            assert_eq!((result.kept, result.discarded), (91, 0));
            assert!(!result.estimated && !result.noise().is_noisy());
        }
        // The overhead is at most 0.1 %; calls are doubled until it is.
        let calls = results.iter().map(|result| result.calls_per_sample);
        assert!(calls.eq([512, 8, 1]));
    }

    #[test]
    fn samples_of_two_frequencies_are_taken_again() {
        // In every third sample the core becomes faster by 5 %.
        let mut sample = 0;
        let result = sampler(Options {
            warm_call: false,
            ..Options::default()
        })
        .run_one(&mut || {
            sample += 1;
            simulated(|s| s.cycles_per_tick = if sample % 3 == 0 { 1.47 } else { 1.4 });
            work(100_000.0);
        });
        assert!(is_near(result.median, 100_000.0), "{result:#?}");
        assert_eq!(result.kept, 91);
        assert!(result.discarded > 40, "{result:#?}");
        assert!(
            result
                .noise()
                .to_string()
                .contains("thrown away as the core's frequency changed")
        );
    }

    #[test]
    fn no_frequency_holds() {
        let mut faster = false;
        let result = sampler(Options {
            warm_call: false,
            ..Options::default()
        })
        .run_one(&mut || {
            faster = !faster;
            simulated(|s| s.cycles_per_tick = if faster { 1.47 } else { 1.4 });
            work(100_000.0);
        });
        assert!(result.unsteady && result.kept == 0, "{result:#?}");
        assert_eq!(result.discarded, 91 * 9);
    }

    #[test]
    fn interruptions_do_not_move_the_median() {
        let mut call = 0;
        let result = sampler(Options::default()).run_one(&mut || {
            call += 1;
            work(if call % 7 == 0 { 400_000.0 } else { 100_000.0 });
        });
        assert!(is_near(result.median, 100_000.0), "{result:#?}");
    }

    #[test]
    fn shared_cores_are_noticed() {
        simulated(|s| s.cycles_per_addition = 1.03);
        let result = sampler(Options::default()).run_one(&mut || work(100_000.0));
        assert!((result.contended_share - 1.0).abs() < f64::EPSILON);
        assert!(result.noise().is_noisy());
    }

    fn quiet() -> Noise {
        Noise {
            relative_iqr: 0.01,
            discarded_share: 0.02,
            kept: 91,
            requested: 91,
            unsteady: false,
            out_of_time: false,
            contended_share: 0.1,
        }
    }

    #[test]
    fn noise_says_what_to_do() {
        assert!(!quiet().is_noisy());
        assert_eq!(
            quiet().to_string(),
            "91 of 91 samples, quartiles 1.0 % apart, 2 % thrown away"
        );
        let spread = Noise {
            relative_iqr: 0.2,
            ..quiet()
        };
        assert!(spread.to_string().contains("stop other programs"));
        let drifting = Noise {
            discarded_share: 0.5,
            ..quiet()
        };
        assert!(drifting.to_string().contains("governor"));
        let hurried = Noise {
            kept: 3,
            out_of_time: true,
            ..quiet()
        };
        assert!(
            hurried
                .to_string()
                .contains("only 3 of 91 samples: allow more time")
        );
        let shared = Noise {
            contended_share: 0.9,
            ..quiet()
        };
        assert!(
            shared
                .to_string()
                .contains("another hardware thread shared the core during 90 %")
        );
        let unsteady = Noise {
            kept: 0,
            unsteady: true,
            ..quiet()
        };
        assert!(unsteady.to_string().contains("no sample had a steady"));
        // Few samples that were asked for are no fault.
        assert!(
            !Noise {
                kept: 3,
                requested: 3,
                ..quiet()
            }
            .is_noisy()
        );
    }

    #[test]
    fn counts_are_honest() {
        let options = Options {
            samples: 7,
            warmup: Duration::ZERO,
            ..Options::default()
        };
        let sampler = Sampler::new(options);
        let mut calls = 0_u64;
        let mut others = 0_u64;
        let results = sampler.run(&mut [&mut || calls += 1, &mut || others += 1]);
        assert_eq!(results.len(), 2);
        for (result, calls) in results.iter().zip([calls, others]) {
            assert!(result.kept <= 7 && result.kept + result.discarded >= 1);
            assert!(calls >= result.calls_per_sample * (result.kept + result.discarded) as u64);
            assert_eq!(result.unsteady, result.kept == 0);
            assert!(result.min <= result.lower_quartile);
            assert!(
                result.lower_quartile <= result.median && result.median <= result.upper_quartile
            );
            assert!(!result.out_of_time);
        }
    }

    #[test]
    fn budget_ends_sampling() {
        let options = Options {
            samples: 1_000_000,
            budget: Some(Duration::from_millis(20)),
            ..Options::default()
        };
        let sampler = Sampler::new(options);
        let result = sampler.run_one(&mut || std::thread::sleep(Duration::from_millis(2)));
        assert!(result.out_of_time);
        assert!(result.kept + result.discarded >= 1 && result.kept + result.discarded <= 20);
        assert_eq!(result.requested, 1_000_000);
        assert_eq!(result.calls_per_sample, 1);
    }

    #[test]
    fn budget_always_leaves_one_sample() {
        let options = Options {
            budget: Some(Duration::ZERO),
            ..Options::default()
        };
        let result =
            Sampler::new(options).run_one(&mut || std::thread::sleep(Duration::from_millis(1)));
        assert_eq!(result.kept + result.discarded, 1);
        assert!(result.out_of_time && result.median > 0.0);
    }
}
