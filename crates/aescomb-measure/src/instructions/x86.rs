//! The instructions of x86-64.

// Straight-line blocks of single instructions are inline assembly.
#![allow(unsafe_code)]

use std::arch::asm;

use super::Row;
use crate::sample::{Options, Sampler};

/// Instructions in one pass of a block's loop.
const PER_PASS: u64 = 84;
/// Passes in one call.
const PASSES: u64 = 40;

/// What a row's instructions need of the CPU.
#[derive(Clone, Copy)]
enum Needs {
    Aes,
    Pclmulqdq,
    Vaes256,
    Vaes512,
    Vpclmulqdq256,
    Vpclmulqdq512,
}

impl Needs {
    fn met(self) -> bool {
        match self {
            Self::Aes => is_x86_feature_detected!("aes"),
            Self::Pclmulqdq => is_x86_feature_detected!("pclmulqdq"),
            Self::Vaes256 => is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx"),
            Self::Vaes512 => {
                is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx512f")
            }
            Self::Vpclmulqdq256 => {
                is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx")
            }
            Self::Vpclmulqdq512 => {
                is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx512f")
            }
        }
    }
}

/// An instruction and its two blocks of [`PER_PASS`] × [`PASSES`] of it.
struct Candidate {
    name: &'static str,
    bits: u32,
    needs: Needs,
    /// Every instruction needs the one before it.
    dependent: unsafe fn(),
    /// Fourteen instructions in a row do not need each other.
    independent: unsafe fn(),
}

/// A function that runs `$body`, 84 instructions, [`PASSES`] times.
macro_rules! passes {
    ($end:expr, $($body:expr),+) => {{
        /// # Safety
        /// The CPU must have the instruction.
        #[inline(never)]
        unsafe fn block() {
            // SAFETY: the caller vouches that the CPU has the instruction. The
            // block touches no memory and no stack; the registers it writes
            // (the counter and vector registers 0 to 15, in any width) are all
            // named below; the loop ends because PASSES is at least 1.
            unsafe {
                asm!(
                    "2:", $($body,)+ "dec {n}", "jnz 2b", $end,
                    n = inout(reg) PASSES => _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nomem, nostack)
                );
            }
        }
        block
    }};
}

/// A candidate from its dependent form (on register 0) and its independent
/// form, where `\r` stands for the register number.
macro_rules! candidate {
    ($name:literal, $bits:literal, $needs:ident, $dependent:expr, $independent:expr, $end:expr) => {
        Candidate {
            name: $name,
            bits: $bits,
            needs: Needs::$needs,
            dependent: passes!($end, ".rept 84", $dependent, ".endr"),
            independent: passes!(
                $end,
                ".rept 6",
                ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13",
                $independent,
                ".endr",
                ".endr"
            ),
        }
    };
}

/// Two-operand instructions of AES-NI that combine destination and source.
macro_rules! legacy {
    ($name:literal, $needs:ident, $last:literal) => {
        candidate!(
            $name,
            128,
            $needs,
            concat!($name, " xmm0, xmm15", $last),
            concat!($name, " xmm\\r, xmm15", $last),
            ""
        )
    };
}

/// Instructions of AES-NI that only write their destination.
macro_rules! legacy_overwriting {
    ($name:literal, $last:literal) => {
        candidate!(
            $name,
            128,
            Aes,
            concat!($name, " xmm0, xmm0", $last),
            concat!($name, " xmm\\r, xmm15", $last),
            ""
        )
    };
}

/// Three-operand instructions on wide registers.
macro_rules! wide {
    ($name:literal, $bits:literal, $needs:ident, $register:literal, $last:literal) => {
        candidate!(
            $name,
            $bits,
            $needs,
            concat!(
                $name, " ", $register, "0, ", $register, "0, ", $register, "15", $last
            ),
            concat!(
                $name, " ", $register, "\\r, ", $register, "\\r, ", $register, "15", $last
            ),
            "vzeroupper"
        )
    };
}

fn candidates() -> [Candidate; 17] {
    [
        legacy!("aesenc", Aes, ""),
        legacy!("aesdec", Aes, ""),
        legacy!("aesenclast", Aes, ""),
        legacy!("aesdeclast", Aes, ""),
        legacy_overwriting!("aesimc", ""),
        legacy_overwriting!("aeskeygenassist", ", 1"),
        legacy!("pclmulqdq", Pclmulqdq, ", 0"),
        wide!("vaesenc", 256, Vaes256, "ymm", ""),
        wide!("vaesdec", 256, Vaes256, "ymm", ""),
        wide!("vaesenclast", 256, Vaes256, "ymm", ""),
        wide!("vaesdeclast", 256, Vaes256, "ymm", ""),
        wide!("vpclmulqdq", 256, Vpclmulqdq256, "ymm", ", 0"),
        wide!("vaesenc", 512, Vaes512, "zmm", ""),
        wide!("vaesdec", 512, Vaes512, "zmm", ""),
        wide!("vaesenclast", 512, Vaes512, "zmm", ""),
        wide!("vaesdeclast", 512, Vaes512, "zmm", ""),
        wide!("vpclmulqdq", 512, Vpclmulqdq512, "zmm", ", 0"),
    ]
}

pub(super) fn measure(sampler: &Sampler) -> Vec<Row> {
    let candidates: Vec<Candidate> = candidates()
        .into_iter()
        .filter(|candidate| candidate.needs.met())
        .collect();
    let mut blocks: Vec<Box<dyn FnMut()>> = Vec::with_capacity(2 * candidates.len());
    for candidate in &candidates {
        for block in [candidate.dependent, candidate.independent] {
            // SAFETY: `Needs::met` has just found the CPU to have the
            // instruction, and the system to save its registers.
            blocks.push(Box::new(move || unsafe { block() }));
        }
    }
    let mut competitors: Vec<&mut dyn FnMut()> = blocks
        .iter_mut()
        .map(|block| &mut **block as &mut dyn FnMut())
        .collect();
    let options = Options {
        samples: 31,
        ..Options::default()
    };
    let results = Sampler::with_clock(sampler.clock().clone(), options).run(&mut competitors);
    let instructions = (PER_PASS * PASSES) as f64;
    candidates
        .iter()
        .zip(results.chunks_exact(2))
        .map(|(candidate, pair)| Row {
            name: candidate.name,
            bits: candidate.bits,
            latency: pair[0].per(instructions),
            inverse_throughput: pair[1].per(instructions),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_of_this_cpu_has_a_row() {
        let rows = measure(&Sampler::default());
        let known = candidates();
        let known = known.iter().filter(|candidate| candidate.needs.met());
        assert!(rows.iter().map(|row| row.name).eq(known.map(|c| c.name)));
        for row in rows {
            assert!(row.latency > 0.0 && row.latency.is_finite(), "{row:?}");
            assert!(
                row.inverse_throughput > 0.0 && row.inverse_throughput.is_finite(),
                "{row:?}"
            );
        }
    }
}
