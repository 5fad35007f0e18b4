//! What is known of this machine.

use crate::failure::Failure;
use crate::output::say;
use aescomb::Backend;
use aescomb_measure::{Clock, pin};
use serde::Serialize;

/// The machine, as reports state it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    /// Name and, on x86-64, family, model and stepping.
    pub(crate) cpu: String,
    pub(crate) arch: &'static str,
    pub(crate) os: &'static str,
    /// Cores that this process may use; 0 if the system does not tell.
    pub(crate) cores: usize,
    /// The core that the measuring thread was kept on.
    pub(crate) pinned_core: Option<usize>,
    /// CPU features that matter here.
    pub(crate) features: Vec<&'static str>,
    /// Names of the backends that can be used.
    pub(crate) backends: Vec<&'static str>,
    /// The clock counter.
    pub(crate) counter: &'static str,
    pub(crate) counter_mhz: f64,
    /// The core's measured frequency.
    pub(crate) core_mhz: f64,
    /// Core cycles per tick of the clock counter.
    pub(crate) cycles_per_tick: f64,
    /// The core's frequency could not be measured: cycles are ticks of the
    /// counter.
    pub(crate) frequency_estimated: bool,
}

impl Machine {
    /// This machine, with the core's frequency now.
    pub(crate) fn look(clock: &Clock, pinned_core: Option<usize>) -> Machine {
        let frequency = aescomb_measure::clock::typical_frequency(clock, 51);
        let ticks = clock.ticks_per_second();
        Machine {
            cpu: cpu_name(),
            arch: std::env::consts::ARCH,
            os: std::env::consts::OS,
            cores: pin::available().len(),
            pinned_core,
            features: features(),
            backends: Backend::available().map(Backend::name).collect(),
            counter: aescomb_measure::clock::COUNTER,
            counter_mhz: ticks / 1e6,
            core_mhz: ticks * frequency.cycles_per_tick / 1e6,
            cycles_per_tick: frequency.cycles_per_tick,
            frequency_estimated: frequency.estimated,
        }
    }

    /// Core frequency against the counter's, as a line.
    pub(crate) fn frequency_line(&self) -> String {
        let what = if self.frequency_estimated {
            " (the core's frequency could not be measured: cycles are ticks)"
        } else {
            ""
        };
        format!(
            "core at {:.0} MHz, {} at {:.0} MHz: {:.4} cycles per tick{what}",
            self.core_mhz, self.counter, self.counter_mhz, self.cycles_per_tick
        )
    }
}

/// Keeps this thread on a core: the given one, or the last of those available. That it
/// cannot is a mistake only if the core was asked for.
pub(crate) fn pinned(core: Option<usize>) -> Result<Option<usize>, Failure> {
    let result = match core {
        Some(core) => pin::pin(core).map(|()| core),
        None => pin::pin_any(),
    };
    match result {
        Ok(core) => Ok(Some(core)),
        Err(error) if core.is_some() => Err(Failure::misuse(error)),
        Err(error) => {
            say(format_args!("aescomb: warning: {error}"));
            Ok(None)
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn cpu_name() -> String {
    let id = raw_cpuid::CpuId::new();
    let name = id.get_processor_brand_string().map_or_else(
        || "unknown CPU".into(),
        |brand| brand.as_str().trim().to_owned(),
    );
    match id.get_feature_info() {
        Some(info) => format!(
            "{name} (family {}, model {}, stepping {})",
            info.family_id(),
            info.model_id(),
            info.stepping_id()
        ),
        None => name,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_name() -> String {
    // Linux on some architectures; elsewhere there is no name to be had.
    std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            text.lines()
                .find(|line| line.starts_with("model name"))
                .and_then(|line| line.split_once(':'))
                .map(|(_, name)| name.trim().to_owned())
        })
        .unwrap_or_else(|| "unknown CPU".into())
}

/// `[name if the CPU has it]` for every name.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! having {
    ($detect:ident: $($name:tt)*) => {
        [$(($name, std::arch::$detect!($name))),*]
            .into_iter()
            .filter_map(|(name, has)| has.then_some(name))
            .collect()
    };
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    having! { is_x86_feature_detected:
        "aes" "pclmulqdq" "sse2" "ssse3" "sse4.1" "avx" "avx2" "vaes" "vpclmulqdq" "bmi2" "gfni"
        "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi"
    }
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<&'static str> {
    having! { is_aarch64_feature_detected: "neon" "aes" "pmull" "sha3" "sve" "sve2" "sve2-aes" }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<&'static str> {
    Vec::new()
}
