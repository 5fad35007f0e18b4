//! The bound: what the AES and multiplication instructions of this core allow.
//!
//! ```text
//! cycles >= AES block calls x rounds / (blocks per cycle)
//!           + 3 x multiplications / (carry-less products per cycle)
//! ```
//!
//! All AES calls of a message count, and all multiplications in GF(2^128): three
//! products of 64 bits by 64 each, as Karatsuba's are. Their reductions do not count, which several can
//! share, nor does the expansion of keys. A core that does both kinds of instruction
//! side by side can be faster than the sum.

use aescomb::{Algorithm, Backend, Info, Op};
use aescomb_measure::{Sampler, Workload, instructions};
use std::collections::BTreeMap;

/// Rates of this core's AES instructions, measured.
pub(crate) struct Rates {
    /// Blocks per cycle of encryption rounds, for every width in bits.
    encrypt: BTreeMap<u32, f64>,
    /// The same of decryption rounds.
    decrypt: BTreeMap<u32, f64>,
    /// Carry-less products of 64 bits by 64 per cycle.
    multiply: BTreeMap<u32, f64>,
}

/// The fewest products of 64 bits by 64 in one of 128 by 128.
const PRODUCTS: usize = 3;

impl Rates {
    /// Measures them; half a second.
    pub(crate) fn measure(sampler: &Sampler) -> Rates {
        Rates::of(&instructions::measure(sampler))
    }

    /// Those of instructions that were measured.
    pub(crate) fn of(rows: &[instructions::Row]) -> Rates {
        let of = |names: [&str; 2]| {
            rows.iter()
                .filter(|row| names.contains(&row.name))
                .map(|row| (row.bits, f64::from(row.bits / 128) / row.inverse_throughput))
                .collect()
        };
        Rates {
            encrypt: of(["aesenc", "vaesenc"]),
            decrypt: of(["aesdec", "vaesdec"]),
            // One product for every 128 bits of register.
            multiply: of(["pclmulqdq", "vpclmulqdq"]),
        }
    }

    /// Blocks per cycle of encryption rounds, for every width in bits.
    pub(crate) fn blocks(&self) -> &BTreeMap<u32, f64> {
        &self.encrypt
    }

    /// Carry-less products per cycle, for every width in bits.
    pub(crate) fn products(&self) -> &BTreeMap<u32, f64> {
        &self.multiply
    }

    /// The bound for doing `op` to the workload once, every message having
    /// `data_bytes` bytes of associated data, in cycles; `None` for a backend that
    /// uses no such instructions.
    pub(crate) fn cycles(
        &self,
        Algorithm { mode, key_bits }: Algorithm,
        op: Op,
        backend: Backend,
        workload: &Workload,
        data_bytes: usize,
    ) -> Option<f64> {
        let info = mode.info();
        let sum = |count: fn(&Info, usize, usize) -> usize| -> usize {
            let counts = workload.lengths.iter();
            counts.map(|len| count(info, *len, data_bytes)).sum()
        };
        let backwards = matches!(op, Op::Decrypt | Op::Open);
        let aes = match info.inverse && backwards {
            true => &self.decrypt,
            false => &self.encrypt,
        };
        let rounds = sum(Info::aes_calls) * (key_bits / 32 + 6);
        let products = sum(Info::multiplications) * PRODUCTS;
        Some(time(rounds, aes, backend)? + time(products, &self.multiply, backend)?)
    }
}

/// How long so many instructions' worth takes with the registers of this backend.
fn time(count: usize, rates: &BTreeMap<u32, f64>, backend: Backend) -> Option<f64> {
    let width = match backend {
        Backend::Vaes512 => 512,
        Backend::Vaes256 | Backend::Vaes256Vl => 256,
        Backend::Aesni => 128,
        _ => return None,
    };
    if count == 0 {
        return Some(0.0);
    }
    let within = rates.range(..=width).map(|(_, rate)| *rate);
    Some(count as f64 / within.reduce(f64::max)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aescomb::{Lengths, Mode};

    #[test]
    fn widest_registers_within_reach() {
        let rates = Rates {
            encrypt: BTreeMap::from([(128, 2.0), (256, 4.0), (512, 3.0)]),
            decrypt: BTreeMap::from([(128, 1.0)]),
            multiply: BTreeMap::from([(128, 0.5), (512, 2.0)]),
        };
        let workload = Workload {
            lengths: vec![16, 32],
            contents: None,
        };
        let bound = |name: &str, backend, op| {
            let algorithm = name.parse().unwrap();
            rates.cycles(algorithm, op, backend, &workload, 20)
        };
        use Backend::{Aesni, Portable, Vaes256, Vaes512};
        for (name, backend, op, cycles) in [
            ("aes-128-cbc", Aesni, Op::Encrypt, Some(15.0)),
            ("aes-256-cbc", Vaes256, Op::Encrypt, Some(3.0 * 14.0 / 4.0)),
            ("aes-192-cbc", Vaes512, Op::Encrypt, Some(3.0 * 12.0 / 4.0)),
            ("aes-128-cbc", Vaes512, Op::Decrypt, Some(30.0)),
            ("aes-128-cbc", Portable, Op::Encrypt, None),
            // One call more for every message, and per message two blocks of
            // associated data and one of lengths to multiply.
            ("aes-128-gcm", Aesni, Op::Open, Some(25.0 + 54.0)),
            ("aes-128-gcm", Vaes512, Op::Seal, Some(12.5 + 13.5)),
        ] {
            assert_eq!(bound(name, backend, op), cycles, "{name} {backend}");
        }
    }

    /// The blocks that are made of a message count, not its bytes.
    #[test]
    fn blocks_that_are_filled_up() {
        let rates = Rates {
            encrypt: BTreeMap::from([(128, 2.0)]),
            decrypt: BTreeMap::from([(128, 2.0)]),
            multiply: BTreeMap::from([(128, 1.0)]),
        };
        for mode in Mode::ALL {
            let info = mode.info();
            let least = match info.lengths {
                Lengths::Filled => 1,
                Lengths::Untold => 0,
                _ => continue,
            };
            let algorithm = Algorithm {
                mode: *mode,
                key_bits: 128,
            };
            for op in info.kind.ops() {
                let bound = |len| {
                    let workload = Workload {
                        lengths: vec![len],
                        contents: None,
                    };
                    rates.cycles(algorithm, op, Backend::Aesni, &workload, 0)
                };
                let of_blocks = |blocks: usize| {
                    let aes = info.costs.aes_per_block * blocks + info.costs.aes_per_message;
                    let mul = info.costs.mul_per_block * blocks + info.costs.mul_per_message;
                    Some(aes as f64 * 5.0 + mul as f64 * 3.0)
                };
                assert_eq!(bound(0), of_blocks(least), "{mode}");
                assert_eq!(bound(1), of_blocks(1), "{mode}");
                assert_eq!(bound(16), of_blocks(1), "{mode}");
                assert_eq!(bound(17), of_blocks(2), "{mode}");
            }
        }
    }
}
