//! Measuring for the aescomb benchmarks: what a function costs in **core
//! cycles**, on machines that are shared, change their frequency and whose
//! clock counter does not run at the core's frequency.
//!
//! * [`clock`] reads the clock counter and measures how many core cycles pass
//!   in one of its ticks.
//! * [`sample`] takes interleaved samples of several competitors and sums them
//!   up as medians and quartiles.
//! * [`pin`] keeps a thread on one core, [`crowd`] measures several at once.
//! * [`workload`] draws message lengths (internet, IPI, IMIX, fixed, from a
//!   packet capture, from a file) and lays messages out as a network ring does.
//! * [`stats`] has quartiles and the least-squares line.
//! * [`instructions`] times the AES and carry-less multiplication
//!   instructions themselves.
//!
//! ```
//! use aescomb_measure::{Mix, Options, Sampler};
//!
//! let mix: Mix = "imix".parse()?;
//! let mut ring = mix.open()?.draw(Some(32), 1).ring(2)?;
//! let bytes = ring.total_bytes();
//! let sampler = Sampler::new(Options { samples: 5, ..Options::default() });
//! let result = sampler.run_one(&mut || {
//!     for message in ring.split_mut() {
//!         message.iter_mut().for_each(|byte| *byte ^= 0x5a);
//!     }
//! });
//! println!("{:.2} cycles per byte, {}", result.per(bytes as f64), result.noise());
//! # Ok::<(), aescomb_measure::Error>(())
//! ```

mod capture;
pub mod clock;
pub mod crowd;
pub mod instructions;
pub mod pin;
pub mod sample;
pub mod stats;
pub mod workload;

pub use clock::{Clock, Frequency};
pub use crowd::Crowd;
pub use pin::PinError;
pub use sample::{Measurement, Noise, Options, Sampler};
pub use workload::{Error, Mix, Ring, Slot, Source, Workload, fresh_seed};
