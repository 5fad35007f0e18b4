//! The implementations of AES, and which one a CPU gets.

#[cfg(target_arch = "x86_64")]
use crate::detect;
use core::fmt;

/// An implementation of AES and of what the modes need around it. All of them
/// give the same results; they differ in speed and in the CPUs they need.
///
/// ```
/// use aescomb::Backend;
/// for backend in Backend::available() {
///     println!("{}: {}", backend.name(), backend.description());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// VAES on 512-bit registers: x86-64 with VAES, VPCLMULQDQ, BMI2, GFNI
    /// and AVX-512 F, BW, VL, VBMI.
    Vaes512,
    /// The same on 256-bit registers, for serial modes; others have it as
    /// [`Backend::Vaes256`].
    Vaes256Vl,
    /// VAES on 256-bit registers: x86-64 with VAES, VPCLMULQDQ and AVX2.
    Vaes256,
    /// AES-NI on 128-bit registers: x86-64 with AES, PCLMULQDQ, SSSE3 and SSE4.1.
    Aesni,
    /// Any CPU of 64 bits: constant-time bitsliced software.
    Portable,
}

impl Backend {
    /// All backends, widest first, available on this CPU or not (see
    /// [`Backend::is_available`]).
    pub const ALL: [Backend; 5] = [
        Backend::Vaes512,
        Backend::Vaes256Vl,
        Backend::Vaes256,
        Backend::Aesni,
        Backend::Portable,
    ];

    /// The backends that this CPU has, widest first.
    pub fn available() -> impl Iterator<Item = Backend> {
        Backend::ALL.into_iter().filter(|b| b.is_available())
    }

    /// Whether this CPU has it.
    pub fn is_available(self) -> bool {
        ask();
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 | Backend::Vaes256Vl => detect::vaes512(),
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes256 => detect::vaes256(),
            #[cfg(target_arch = "x86_64")]
            Backend::Aesni => detect::ni(),
            #[cfg(not(target_arch = "x86_64"))]
            Backend::Vaes512 | Backend::Vaes256Vl | Backend::Vaes256 | Backend::Aesni => false,
            Backend::Portable => true,
        }
    }

    /// The backend that measures best on this CPU: for serial modes that write block by block and
    /// whose steps are more than one call of AES (`chained`; CLOC and POET for example), or for
    /// all others.
    ///
    /// | CPU | chained | others | measured |
    /// |---|---|---|---|
    /// | Intel Sapphire Rapids | vaes512 | vaes512 | internet mix, vaes512, vaes256vl, vaes256: CBC 1, 1.07, 1.11; CMAC 1, 1.15, 1.20 |
    /// | Intel Ice Lake | vaes512 | vaes512 | internet mix, vaes512, vaes256vl, vaes256: CBC 1, 1.08, 1.06; CMAC 1, 1.15, 1.19 |
    /// | AMD Zen 4 | vaes256vl | vaes512 | internet mix, vaes512 of vaes256vl: CMAC 0.93, CCM 0.83 |
    /// | others | widest they have | widest they have | |
    ///
    /// On Zen 4, `vaes512` takes 256-bit registers for CBC, CFB and OFB encryption of small and of very
    /// large batches, of short messages of one length, under a key for each message, and of texts
    /// that lie half a page apart.
    pub fn preferred(chained: bool) -> Backend {
        ask();
        match chained && is_zen4() {
            true => Backend::Vaes256Vl,
            false => Backend::widest(),
        }
    }

    /// The widest that this CPU has.
    #[inline(always)]
    pub(crate) fn widest() -> Backend {
        ask();
        #[cfg(target_arch = "x86_64")]
        if detect::vaes512() {
            return Backend::Vaes512;
        } else if detect::vaes256() {
            return Backend::Vaes256;
        } else if detect::ni() {
            return Backend::Aesni;
        }
        Backend::Portable
    }

    /// `vaes512`, `vaes256vl`, `vaes256`, `aesni` or `portable`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Vaes512 => "vaes512",
            Backend::Vaes256Vl => "vaes256vl",
            Backend::Vaes256 => "vaes256",
            Backend::Aesni => "aesni",
            Backend::Portable => "portable",
        }
    }

    /// One line for people.
    pub fn description(self) -> &'static str {
        match self {
            Backend::Vaes512 => "VAES on 512-bit registers (AVX-512 F, BW, VL, VBMI)",
            Backend::Vaes256Vl => "VAES on 256-bit registers (AVX-512 VL) for serial modes",
            Backend::Vaes256 => "VAES on 256-bit registers (AVX2)",
            Backend::Aesni => "AES-NI on 128-bit registers (SSE4.1)",
            Backend::Portable => "constant-time bitsliced software, any CPU",
        }
    }

    /// The most messages it keeps in flight.
    pub fn max_lanes(self) -> usize {
        match self {
            Backend::Vaes512 => 32,
            Backend::Vaes256Vl | Backend::Vaes256 => 16,
            Backend::Aesni => 8,
            Backend::Portable => 4,
        }
    }

    /// The parallelism degree P that belongs to this CPU: latency times
    /// throughput of an AES round in blocks (12 on Ice Lake and Sapphire Rapids,
    /// 16 on Zen 4, 32 on Zen 5), rounded up to whole kernels. More lanes than
    /// that only crowd the first-level cache: messages 2,048 bytes apart cost
    /// 2.6 times as much with 32 lanes as with 16 on Sapphire Rapids.
    ///
    /// On Ice Lake, CBC, CFB and OFB encryption takes 32 where this many are asked for, if messages have one key and
    /// are not half a page apart: 64 and more of one length of at least 512 bytes, or 256 to 511 of mixed lengths,
    /// 640 to 2,047 bytes in the mean.
    pub fn default_lanes(self) -> usize {
        ask();
        match self {
            #[cfg(target_arch = "x86_64")]
            Backend::Vaes512 if is_zen4() || detect::zen5() => 32,
            Backend::Vaes512 | Backend::Vaes256Vl | Backend::Vaes256 => 16,
            Backend::Aesni => 8,
            Backend::Portable => 4,
        }
    }
}

/// The CPUs on which some things are done another way.
#[cfg(feature = "measure")]
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// Any that is not named here.
    Other,
    IceLake,
    /// With AVX-512, Zen 4.
    Zen1To4,
    Zen5,
}

#[cfg(feature = "measure")]
impl Cpu {
    /// From now on all is done in this process as on this CPU with the backend `widest` and narrower ones, of those
    /// that are there. Results are the same; which way they come about can be tested and counted.
    pub fn pretend(self, widest: Backend) {
        #[cfg(target_arch = "x86_64")]
        {
            use detect::{ICE_LAKE, NI, VAES256, VAES512, ZEN1_TO_4, ZEN5};
            let has = match widest {
                Backend::Vaes512 | Backend::Vaes256Vl => NI | VAES256 | VAES512,
                Backend::Vaes256 => NI | VAES256,
                Backend::Aesni => NI,
                Backend::Portable => 0,
            };
            let model = match self {
                Cpu::Other => 0,
                Cpu::IceLake => ICE_LAKE,
                Cpu::Zen1To4 => ZEN1_TO_4,
                Cpu::Zen5 => ZEN5,
            };
            detect::take_for(has, model);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = widest;
    }
}

/// Asks what this CPU is, unless that was done before.
#[inline(always)]
fn ask() {
    #[cfg(target_arch = "x86_64")]
    detect::ask();
}

/// Whether this CPU is known to be AMD Zen 4: unlike other CPUs with 512-bit registers, its hardware
/// has 256 bits.
#[inline(always)]
pub(crate) fn is_zen4() -> bool {
    #[cfg(target_arch = "x86_64")]
    return detect::zen4();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether this CPU is known to be AMD Zen 1 to Zen 4: they look less far ahead than others, and sets of the
/// first-level cache have 8 lines. (Measured on Zen 3 and Zen 4.)
#[inline(always)]
pub(crate) fn is_zen1_to_4() -> bool {
    #[cfg(target_arch = "x86_64")]
    return detect::zen1_to_4();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether this CPU is known to be AMD Zen 5. Its shuffles share ports with AES, and its stores wait for lines
/// of the cache: what is done about that was measured there alone.
#[inline(always)]
pub(crate) fn is_zen5() -> bool {
    #[cfg(target_arch = "x86_64")]
    return detect::zen5();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether this CPU is known to be AMD Zen.
#[inline(always)]
pub(crate) fn is_zen() -> bool {
    is_zen1_to_4() || is_zen5()
}

/// Whether products of the widest registers are known to take two cycles: of 256 bits on Zen 3, of 512 bits on Zen 4,
/// Zen 5 and Ice Lake. (They take time from AES up to Zen 4; elsewhere they have a port that AES has not.) On Emerald
/// Rapids they take one.
#[inline(always)]
pub(crate) fn has_slow_products() -> bool {
    is_ice_lake() || is_zen()
}

/// Whether this CPU is known to be Intel Ice Lake.
#[inline(always)]
pub(crate) fn is_ice_lake() -> bool {
    #[cfg(target_arch = "x86_64")]
    return detect::ice_lake();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
