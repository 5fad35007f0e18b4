//! Which parts of a key there are, and which of them something takes.

/// How many constants a mode may have for a key.
pub(crate) const CONSTANTS: usize = 10;

/// How many constants a mode may derive for a message.
pub(crate) const DERIVED: usize = 2;

/// What a mode takes of its lanes' keys.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // the portable form has both keys
pub(crate) struct Uses {
    /// Round keys of the cipher.
    pub forward: bool,
    /// Those of the inverse cipher.
    pub inverse: bool,
    /// Those of the second key.
    pub second: bool,
    /// How many of the key's constants.
    pub constants: usize,
}

impl Uses {
    /// These and so many constants.
    pub(crate) const fn constants(self, constants: usize) -> Uses {
        Uses { constants, ..self }
    }
}

/// The cipher alone.
pub(crate) const FORWARD: Uses = Uses {
    forward: true,
    inverse: false,
    second: false,
    constants: 0,
};
/// The inverse cipher alone.
pub(crate) const INVERSE: Uses = Uses {
    forward: false,
    inverse: true,
    ..FORWARD
};

/// A direction of the cipher, and its key.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    Encrypt,
    Decrypt,
    EncryptSecond,
}

impl Way {
    /// The schedule that it takes.
    #[inline(always)]
    pub(crate) const fn uses(self) -> Uses {
        match self {
            Way::Encrypt => FORWARD,
            Way::Decrypt => INVERSE,
            Way::EncryptSecond => Uses {
                forward: false,
                second: true,
                ..FORWARD
            },
        }
    }
}

/// Which of a mode's keys an expansion is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhichKey {
    /// The first, with CIPH_K(0^128).
    First,
    /// The second, of modes with two keys.
    Second,
}
