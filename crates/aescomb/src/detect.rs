//! What this CPU has, asked once with CPUID and remembered.
//!
//! Our own because the standard library's macro needs `std`, and the crates that
//! work without it tie VAES to AVX-512: they miss the CPUs that have VAES on
//! 256-bit registers only (AMD Zen 3, Intel Alder Lake).
//!
//! `unsafe` here rests on one fact: XGETBV is executed only where CPUID says that
//! the system has enabled it.
#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

const KNOWN: u8 = 1;
pub(crate) const NI: u8 = 2;
pub(crate) const VAES256: u8 = 4;
pub(crate) const VAES512: u8 = 8;
pub(crate) const ZEN1_TO_4: u8 = 16;
pub(crate) const ZEN5: u8 = 32;
pub(crate) const ICE_LAKE: u8 = 64;

static CPU: AtomicU8 = AtomicU8::new(0);

/// Whether the CPU is known to have `what`.
#[inline(always)]
fn has(what: u8) -> bool {
    CPU.load(Ordering::Relaxed) & what != 0
}

/// Asks, unless that was done before: before this, the CPU is known to have nothing.
///
/// By itself, and not part of each question: callers would save their registers for the call.
#[inline(always)]
pub(crate) fn ask() {
    if CPU.load(Ordering::Relaxed) == 0 {
        first();
    }
}

#[cold]
#[inline(never)]
fn first() {
    CPU.store(found() | KNOWN, Ordering::Relaxed);
}

/// From now on the CPU has what is there of `has`, and is a `model`.
#[cfg(feature = "measure")]
pub(crate) fn take_for(has: u8, model: u8) {
    CPU.store(found() & has | model | KNOWN, Ordering::Relaxed);
}

#[target_feature(enable = "xsave")]
unsafe fn enabled_state() -> u64 {
    // SAFETY: the caller's, that the system has enabled XGETBV.
    unsafe { _xgetbv(0) }
}

#[allow(unused_unsafe)] // CPUID became a safe intrinsic in a later release
fn found() -> u8 {
    let leaf = |n: u32, m: u32| unsafe { __cpuid_count(n, m) };
    let bits = |register: u32, list: &[u32]| list.iter().all(|b| register >> b & 1 == 1);

    let vendor = unsafe { __cpuid(0) };
    let one = leaf(1, 0);
    let mut found = 0;
    // PCLMULQDQ, SSSE3, SSE4.1, AES
    if !bits(one.ecx, &[1, 9, 19, 25]) {
        return found;
    }
    found |= NI;
    // XSAVE, enabled by the system (OSXSAVE), and AVX
    if !bits(one.ecx, &[26, 27, 28]) || vendor.eax < 7 {
        return found;
    }
    // SAFETY: OSXSAVE is set.
    let state = unsafe { enabled_state() };
    let seven = leaf(7, 0);
    // XMM and YMM state; AVX2; VAES, VPCLMULQDQ
    if state & 0b110 == 0b110 && bits(seven.ebx, &[5]) && bits(seven.ecx, &[9, 10]) {
        found |= VAES256;
        // opmask and ZMM state; FMA, F16C, which the compiler takes for granted with AVX-512 F; BMI2, AVX-512 F,
        // BW, VL; AVX-512 VBMI, GFNI
        if bits(one.ecx, &[12, 29])
            && state & 0b1110_0110 == 0b1110_0110
            && bits(seven.ebx, &[8, 16, 30, 31])
            && bits(seven.ecx, &[1, 8])
        {
            found |= VAES512;
        }
    }
    let base = one.eax >> 8 & 15;
    let family = if base == 15 {
        base + (one.eax >> 20 & 255)
    } else {
        base
    };
    let model = (one.eax >> 4 & 15) | (one.eax >> 12 & 0xf0);
    // "GenuineIntel"
    if (vendor.ebx, vendor.edx, vendor.ecx) == (0x756e_6547, 0x4965_6e69, 0x6c65_746e)
        && family == 6
        && matches!(model, 0x6a | 0x6c | 0x7d | 0x7e)
    {
        found |= ICE_LAKE;
    }
    // "AuthenticAMD"
    if (vendor.ebx, vendor.edx, vendor.ecx) == (0x6874_7541, 0x6974_6e65, 0x444d_4163) {
        match family {
            0x17 | 0x19 => found |= ZEN1_TO_4,
            0x1a => found |= ZEN5,
            _ => {}
        }
    }
    found
}

/// AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
#[inline(always)]
pub(crate) fn ni() -> bool {
    has(NI)
}

/// VAES, VPCLMULQDQ and AVX2.
#[inline(always)]
pub(crate) fn vaes256() -> bool {
    has(VAES256)
}

/// VAES, VPCLMULQDQ, GFNI, BMI2 and AVX-512 F, BW, VL, VBMI.
#[inline(always)]
pub(crate) fn vaes512() -> bool {
    has(VAES512)
}

/// AMD Zen 1 to Zen 4.
#[inline(always)]
pub(crate) fn zen1_to_4() -> bool {
    has(ZEN1_TO_4)
}

/// AMD Zen 4: 512-bit instructions on 256-bit hardware.
#[inline(always)]
pub(crate) fn zen4() -> bool {
    zen1_to_4() && vaes512()
}

/// Intel Ice Lake.
#[inline(always)]
pub(crate) fn ice_lake() -> bool {
    has(ICE_LAKE)
}

/// AMD Zen 5: eight blocks a cycle, 32 in flight.
#[inline(always)]
pub(crate) fn zen5() -> bool {
    has(ZEN5)
}
