//! Keeping a thread on one core.

use std::fmt;
use std::sync::OnceLock;

/// Why a thread could not be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinError {
    /// The system does not tell which cores the process may use.
    Unknown,
    /// The process may not use this core (its number).
    NotAvailable(usize),
    /// The system refused to move the thread to this core (its number).
    Refused(usize),
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "thread not pinned: the system does not tell its cores"),
            Self::NotAvailable(core) => {
                write!(
                    f,
                    "thread not pinned: core {core} is not available (available:"
                )?;
                available()
                    .iter()
                    .try_for_each(|core| write!(f, " {core}"))?;
                write!(f, ")")
            }
            Self::Refused(core) => write!(f, "thread not pinned: the system refused core {core}"),
        }
    }
}

impl std::error::Error for PinError {}

/// Numbers of the cores the process may use, ascending; empty if the system
/// does not tell. The set is read once, at the first call of anything in this
/// module, so that it stays the process's even after a thread is pinned.
pub fn available() -> &'static [usize] {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    CORES.get_or_init(|| {
        let mut cores: Vec<usize> = core_affinity::get_core_ids()
            .unwrap_or_default()
            .into_iter()
            .map(|core| core.id)
            .collect();
        cores.sort_unstable();
        cores
    })
}

/// Pins the current thread to the core with this number. Threads started from
/// a pinned thread begin on the same core and have to be pinned themselves.
pub fn pin(core: usize) -> Result<(), PinError> {
    if available().is_empty() {
        return Err(PinError::Unknown);
    }
    if !available().contains(&core) {
        return Err(PinError::NotAvailable(core));
    }
    if core_affinity::set_for_current(core_affinity::CoreId { id: core }) {
        Ok(())
    } else {
        Err(PinError::Refused(core))
    }
}

/// Pins the current thread to the last core available (the first one serves
/// more of the system's interrupts) and returns its number.
pub fn pin_any() -> Result<usize, PinError> {
    let core = *available().last().ok_or(PinError::Unknown)?;
    pin(core).map(|()| core)
}

/// Runs `f` on a thread of its own that is pinned to `core`, waits for it and
/// returns its result together with whether pinning worked; the calling thread
/// stays as it is. A panic in `f` is passed on.
pub fn on_core<R: Send>(core: usize, f: impl FnOnce() -> R + Send) -> (R, Result<(), PinError>) {
    available();
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let pinned = pin(core);
            (f(), pinned)
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_or_says_why() {
        let core = available().last().copied().unwrap_or(0);
        let (value, pinned) = on_core(core, || 7);
        assert_eq!(value, 7);
        #[cfg(target_os = "linux")]
        assert_eq!(pinned, Ok(()));
        if let Err(error) = pinned {
            assert!(error.to_string().starts_with("thread not pinned"));
        }
    }

    #[test]
    fn unknown_core_is_an_error() {
        let ((), pinned) = on_core(usize::MAX, || ());
        assert!(matches!(
            pinned,
            Err(PinError::NotAvailable(usize::MAX) | PinError::Unknown)
        ));
    }

    #[test]
    fn set_stays_after_pinning() {
        let before = available().to_vec();
        let _ = on_core(before.first().copied().unwrap_or(0), || {
            let _ = pin_any();
            assert_eq!(available(), before);
        });
    }
}
