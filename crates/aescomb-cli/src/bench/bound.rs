//! The bound: what the AES instructions of this core allow.
//!
//! ```text
//! cycles >= AES block calls x rounds / (blocks per cycle)
//! ```
//!
//! All AES calls of a message count; the expansion of keys does not.

use aescomb::{Backend, Info, Op};
use aescomb_measure::{Sampler, Workload};
use std::collections::BTreeMap;

/// Rates of this core's AES instructions, measured.
pub(crate) struct Rates {
    /// Blocks per cycle of encryption rounds, for every width in bits.
    encrypt: BTreeMap<u32, f64>,
    /// The same of decryption rounds.
    decrypt: BTreeMap<u32, f64>,
}

impl Rates {
    /// Measures them; half a second.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn measure(sampler: &Sampler) -> Rates {
        let rows = aescomb_measure::instructions::measure(sampler);
        let of = |names: [&str; 2]| {
            rows.iter()
                .filter(|row| names.contains(&row.name))
                .map(|row| (row.bits, f64::from(row.bits / 128) / row.inverse_throughput))
                .collect()
        };
        Rates {
            encrypt: of(["aesenc", "vaesenc"]),
            decrypt: of(["aesdec", "vaesdec"]),
        }
    }

    /// Not known here.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn measure(_: &Sampler) -> Rates {
        Rates {
            encrypt: BTreeMap::new(),
            decrypt: BTreeMap::new(),
        }
    }

    /// Blocks per cycle of encryption rounds, for every width in bits.
    pub(crate) fn table(&self) -> &BTreeMap<u32, f64> {
        &self.encrypt
    }

    /// Blocks per cycle with the registers of this backend; `None` where it
    /// uses no AES instructions.
    fn blocks_per_cycle(&self, backend: Backend, inverse: bool) -> Option<f64> {
        let width = match backend {
            Backend::Vaes512 => 512,
            Backend::Vaes256 => 256,
            Backend::Aesni => 128,
            _ => return None,
        };
        let rates = if inverse {
            &self.decrypt
        } else {
            &self.encrypt
        };
        rates
            .range(..=width)
            .map(|(_, rate)| *rate)
            .reduce(f64::max)
    }

    /// The bound for encrypting, or whatever `op` is, the workload once, in
    /// cycles.
    pub(crate) fn cycles(
        &self,
        info: &Info,
        op: Op,
        key_bits: usize,
        backend: Backend,
        workload: &Workload,
    ) -> Option<f64> {
        let rate = self.blocks_per_cycle(backend, info.inverse && op == Op::Decrypt)?;
        let calls: usize = workload
            .lengths
            .iter()
            .map(|len| info.aes_calls(*len))
            .sum();
        let rounds = key_bits / 32 + 6;
        Some((calls * rounds) as f64 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aescomb::Mode;

    #[test]
    fn widest_registers_within_reach() {
        let rates = Rates {
            encrypt: BTreeMap::from([(128, 2.0), (256, 4.0), (512, 3.0)]),
            decrypt: BTreeMap::from([(128, 1.0)]),
        };
        let workload = Workload {
            lengths: vec![16, 32],
            contents: None,
        };
        let info = Mode::Cbc.info();
        let bound = |backend, op, bits| rates.cycles(info, op, bits, backend, &workload);
        assert_eq!(bound(Backend::Aesni, Op::Encrypt, 128), Some(15.0));
        assert_eq!(
            bound(Backend::Vaes256, Op::Encrypt, 256),
            Some(3.0 * 14.0 / 4.0)
        );
        assert_eq!(
            bound(Backend::Vaes512, Op::Encrypt, 192),
            Some(3.0 * 12.0 / 4.0)
        );
        assert_eq!(bound(Backend::Vaes512, Op::Decrypt, 128), Some(30.0));
        assert_eq!(bound(Backend::Portable, Op::Encrypt, 128), None);
    }
}
