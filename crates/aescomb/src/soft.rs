//! A key in the form of the `aes` crate, which the portable backend takes.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

/// Round keys of the `aes` crate; wiped by it on drop.
pub(crate) enum Soft {
    Aes128(aes::Aes128),
    Aes192(aes::Aes192),
    Aes256(aes::Aes256),
}

impl Soft {
    pub(crate) fn new(raw: &[u8]) -> Self {
        let size = "the schedule gives 16, 24 or 32 bytes";
        match raw.len() {
            16 => Soft::Aes128(aes::Aes128::new_from_slice(raw).expect(size)),
            24 => Soft::Aes192(aes::Aes192::new_from_slice(raw).expect(size)),
            _ => Soft::Aes256(aes::Aes256::new_from_slice(raw).expect(size)),
        }
    }

    #[inline(never)]
    pub(crate) fn encrypt(&self, blocks: &mut [aes::Block]) {
        match self {
            Soft::Aes128(k) => k.encrypt_blocks(blocks),
            Soft::Aes192(k) => k.encrypt_blocks(blocks),
            Soft::Aes256(k) => k.encrypt_blocks(blocks),
        }
    }

    #[inline(never)]
    pub(crate) fn decrypt(&self, blocks: &mut [aes::Block]) {
        match self {
            Soft::Aes128(k) => k.decrypt_blocks(blocks),
            Soft::Aes192(k) => k.decrypt_blocks(blocks),
            Soft::Aes256(k) => k.decrypt_blocks(blocks),
        }
    }
}
