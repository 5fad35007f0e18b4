//! From a backend to its token.

/// The only `match` over instruction sets: `$body` with `$s` the token of `$backend`. Where
/// `$serial` says so, code is also made for those that only serial modes gain from, and
/// `$twice` for the one with twice as many registers in flight.
macro_rules! dispatch {
    // The widest that this CPU has, which is known once there is a key.
    (widest, $s:ident => $body:expr) => {{
        #[cfg(all(target_arch = "x86_64", not(test)))]
        {
            use $crate::isa::{Ni, Vaes256, Vaes512};
            if let Some($s) = Vaes512::known() {
                return $body;
            }
            if let Some($s) = Vaes256::known() {
                return $body;
            }
            if let Some($s) = Ni::known() {
                return $body;
            }
        }
        let $s = $crate::isa::Portable::<4>;
        $body
    }};
    ($backend:expr, $s:ident => $body:expr) => {
        $crate::isa::dispatch!($backend, const { false }, $s => $body)
    };
    ($backend:expr, const $serial:block $(&& $twice:expr)?, $s:ident => $body:expr) => {{
        // Unit tests do without: all kernels once more would take as long to compile as
        // all else together.
        #[cfg(all(target_arch = "x86_64", not(test)))]
        {
            use $crate::isa::{Ni, Vaes256, Vaes256Vl, Vaes512, Vaes512x8};
            match $backend {
                $crate::Backend::Vaes512 => {
                    if const $serial
                        $(&& $twice)?
                        && let Some($s) = Vaes512x8::known()
                    {
                        return $body;
                    }
                    if let Some($s) = Vaes512::known() {
                        return $body;
                    }
                }
                $crate::Backend::Vaes256Vl if const $serial => {
                    if let Some($s) = Vaes256Vl::known() {
                        return $body;
                    }
                }
                $crate::Backend::Vaes256Vl | $crate::Backend::Vaes256 => {
                    if let Some($s) = Vaes256::known() {
                        return $body;
                    }
                }
                $crate::Backend::Aesni => {
                    if let Some($s) = Ni::known() {
                        return $body;
                    }
                }
                $crate::Backend::Portable => {}
            }
        }
        #[cfg(any(not(target_arch = "x86_64"), test))]
        let _ = ($backend, $($twice)?);
        let $s = $crate::isa::Portable::<4>;
        $body
    }};
}
pub(crate) use dispatch;
