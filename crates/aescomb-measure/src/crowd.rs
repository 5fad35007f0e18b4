//! Several threads at work at the same time, each measured by itself.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sample::{Measurement, Sampler};

/// Threads that begin to measure together, and keep working until the last of them has
/// its figures: what one of them measures is its cost while all others are at work.
///
/// ```
/// use aescomb_measure::{Crowd, Options, Sampler};
///
/// let sampler = Sampler::new(Options { samples: 3, ..Options::default() });
/// let crowd = Crowd::new(2);
/// let costs: Vec<f64> = std::thread::scope(|scope| {
///     let work = || crowd.run_one(&sampler, &mut || { std::hint::black_box(7); }).median;
///     let threads = [scope.spawn(work), scope.spawn(work)];
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
/// });
/// assert_eq!(costs.len(), 2);
/// ```
#[derive(Debug)]
pub struct Crowd {
    threads: usize,
    begin: Barrier,
    done: AtomicUsize,
}

impl Crowd {
    /// A crowd of so many threads, every one of which must call
    /// [`run_one`](Crowd::run_one) once: they wait for each other.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            begin: Barrier::new(threads),
            done: AtomicUsize::new(0),
        }
    }

    /// Waits for the other threads and measures `f`.
    pub fn run_one(&self, sampler: &Sampler, f: &mut dyn FnMut()) -> Measurement {
        self.begin.wait();
        let measured = sampler.run_one(f);
        self.done.fetch_add(1, Ordering::AcqRel);
        while self.done.load(Ordering::Acquire) < self.threads {
            f();
        }
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Options;

    /// Whoever is done first goes on until the last one is.
    #[test]
    fn all_work_until_the_last_is_done() {
        let crowd = Crowd::new(2);
        let calls = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let kept: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = calls
                .iter()
                .zip([2, 60])
                .map(|(calls, samples)| {
                    let crowd = &crowd;
                    scope.spawn(move || {
                        let sampler = Sampler::new(Options {
                            samples,
                            ..Options::default()
                        });
                        let measured = crowd.run_one(&sampler, &mut || {
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                        assert_eq!(crowd.done.load(Ordering::Acquire), 2);
                        measured.requested
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(kept, [2, 60]);
        assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) > 0));
    }
}
