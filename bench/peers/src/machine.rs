//! What is known of this machine.

use aescomb_measure::{Clock, clock};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Machine {
    /// Name, family, model and stepping.
    pub cpu: String,
    pub os: &'static str,
    /// Cores that this process may use.
    pub cores: usize,
    /// The one that the thread was kept on.
    pub pinned_core: Option<usize>,
    /// CPU features that matter here.
    pub features: Vec<&'static str>,
    pub counter_mhz: f64,
    pub core_mhz: f64,
    /// Core cycles per tick of the clock counter.
    pub cycles_per_tick: f64,
    /// The core's frequency could not be measured: cycles are ticks.
    pub frequency_estimated: bool,
}

impl Machine {
    pub fn look(clock: &Clock, pinned_core: Option<usize>) -> Machine {
        let frequency = clock::typical_frequency(clock, 51);
        let ticks = clock.ticks_per_second();
        Machine {
            cpu: cpu_name(),
            os: std::env::consts::OS,
            cores: aescomb_measure::pin::available().len(),
            pinned_core,
            features: features(),
            counter_mhz: ticks / 1e6,
            core_mhz: ticks * frequency.cycles_per_tick / 1e6,
            cycles_per_tick: frequency.cycles_per_tick,
            frequency_estimated: frequency.estimated,
        }
    }
}

fn cpu_name() -> String {
    let id = raw_cpuid::CpuId::new();
    let brand = id.get_processor_brand_string();
    let name = brand.as_ref().map_or("unknown CPU", |brand| brand.as_str());
    match id.get_feature_info() {
        None => name.trim().to_owned(),
        Some(info) => format!(
            "{} (family {}, model {}, stepping {})",
            name.trim(),
            info.family_id(),
            info.model_id(),
            info.stepping_id()
        ),
    }
}

fn features() -> Vec<&'static str> {
    use std::arch::is_x86_feature_detected as has;
    let features = [
        ("aes", has!("aes")),
        ("pclmulqdq", has!("pclmulqdq")),
        ("avx2", has!("avx2")),
        ("vaes", has!("vaes")),
        ("vpclmulqdq", has!("vpclmulqdq")),
        ("avx512f", has!("avx512f")),
        ("avx512vl", has!("avx512vl")),
    ];
    let present = features.into_iter().filter(|(_, has)| *has);
    present.map(|(name, _)| name).collect()
}
