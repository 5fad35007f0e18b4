//! Latency and inverse throughput of the AES and carry-less multiplication
//! instructions of this core, and the number of blocks in flight they call for.
//!
//! The rows are those of table 7 of "Comb to Pipeline" (Bogdanov, Lauridsen,
//! Tischhauser), with the 256-bit and 512-bit forms where the core has them. They
//! are known for x86-64.

#[cfg(target_arch = "x86_64")]
mod x86;

use crate::sample::Sampler;

/// What one instruction costs, in core cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Mnemonic.
    pub name: &'static str,
    /// Width of its registers in bits: 128, 256 or 512.
    pub bits: u32,
    /// Core cycles from one instruction to another that needs its result.
    pub latency: f64,
    /// Core cycles per instruction when none needs another's result.
    pub inverse_throughput: f64,
}

/// How many 16-byte blocks to keep in flight with registers of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Width of the registers in bits: 128, 256 or 512.
    pub bits: u32,
    /// 16-byte blocks in flight that hide the latency.
    pub blocks: usize,
}

/// Measures every instruction that this core has, with the sampler's clock;
/// takes about half a second. Pin the thread first. Without a row on other
/// architectures than x86-64.
pub fn measure(sampler: &Sampler) -> Vec<Row> {
    #[cfg(target_arch = "x86_64")]
    return x86::measure(sampler);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = sampler;
        Vec::new()
    }
}

/// The number of 16-byte blocks to keep in flight for each width of `aesenc`
/// among the rows: P = ceil(latency / inverse throughput) instructions, times
/// the blocks in one register. Up to 3 % above a whole number counts as
/// inaccuracy of the measurement and not as one more instruction.
///
/// This is the least that hides the latency; loads and stores want more.
pub fn suggested_lanes(rows: &[Row]) -> Vec<Lanes> {
    rows.iter()
        .filter(|row| matches!(row.name, "aesenc" | "vaesenc"))
        .map(|row| {
            let instructions = (0.97 * row.latency / row.inverse_throughput)
                .ceil()
                .clamp(1.0, 1024.0);
            Lanes {
                bits: row.bits,
                blocks: instructions as usize * (row.bits / 128) as usize,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_known_cores() {
        let row = |name, bits, latency, inverse_throughput| Row {
            name,
            bits,
            latency,
            inverse_throughput,
        };
        let lanes = |rows: &[Row]| {
            suggested_lanes(rows)
                .iter()
                .map(|l| (l.bits, l.blocks))
                .collect::<Vec<_>>()
        };
        // Haswell, table 7 of the paper: P = 7.
        assert_eq!(
            lanes(&[
                row("aesenc", 128, 7.0, 1.0),
                row("aesimc", 128, 14.0, 2.0),
                row("pclmulqdq", 128, 7.0, 2.0)
            ]),
            [(128, 7)]
        );
        // Zen 4: 8 blocks with AES-NI, 16 with VAES of either width.
        assert_eq!(
            lanes(&[
                row("aesenc", 128, 4.02, 0.501),
                row("vaesenc", 256, 4.01, 0.5),
                row("vaesenc", 512, 4.0, 0.998),
            ]),
            [(128, 8), (256, 16), (512, 16)]
        );
        assert_eq!(lanes(&[row("aesenc", 128, 3.5, 1.0)]), [(128, 4)]);
    }
}
