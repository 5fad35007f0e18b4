//! CMAC of a message that comes in parts: SP 800-38B.

use super::{Aes, Block, expanded};
use crate::backend::Backend;
use crate::block;
use crate::cipher::encrypt_block;
use crate::engine::one;
use crate::key::Key;
use crate::message::Message;
use crate::modes::{self, CbcEncrypt};
use crate::text::Text;
use cipher::array::Array;
use cipher::consts::U16;
use core::fmt;
use core::marker::PhantomData;
use digest::common::KeySizeUser;
use digest::{FixedOutput, FixedOutputReset, KeyInit, MacMarker, OutputSizeUser, Reset, Update};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of a message that one call takes.
const PART: usize = 512;

/// CMAC: [`Mac`](super::Mac), SP 800-38B.
///
/// Keys of 16, 24 or 32 bytes as `A` says; a message of any length in any number of
/// parts, of which it keeps 16 bytes; tags of 16 bytes, which may be cut off
/// (`verify_truncated_left`). Tags are compared in constant time. Blocks of one message
/// wait for each other: for many messages see [`Comb::mac`](crate::Comb::mac).
///
/// ```
/// use aescomb::rustcrypto::{Aes128, Cmac, KeyInit, Mac};
///
/// let mac = Cmac::<Aes128>::new(&[7; 16].into());
/// let tag = mac.clone().chain_update(b"in two ").chain_update(b"parts").finalize();
/// let whole = mac.chain_update(b"in two parts");
/// assert!(whole.verify_slice(&tag.into_bytes()).is_ok());
/// ```
pub struct Cmac<A> {
    key: Key<modes::Cmac>,
    chain: block::Block,
    /// The last bytes so far, which are treated in another way if no more come.
    last: block::Block,
    /// How many: 0 at the beginning only.
    held: usize,
    aes: PhantomData<A>,
}

impl<A> Cmac<A> {
    /// The expanded key, for batches.
    pub fn key(&self) -> &Key<modes::Cmac> {
        &self.key
    }

    /// Takes whole blocks, none of which is the message's last.
    fn absorb(&mut self, rows: &[u8]) {
        if rows.is_empty() {
            return;
        }
        let backend = Backend::preferred(false);
        if let Ok(row) = rows.try_into() {
            self.chain = encrypt_block(backend, self.key.expanded(), xor(self.chain, row));
            return;
        }
        // The chain of CMAC is that of CBC, which is a mode with a result.
        let mut scratch = [0; PART];
        for part in rows.chunks(PART) {
            let result = &mut scratch[..part.len()];
            let message = Message::new(Text::copy(part, result)).nonce(&self.chain);
            message
                .job()
                .run_one(one::<CbcEncrypt, false>, self.key.expanded());
            if let Some(chain) = scratch[..part.len()].last_chunk() {
                self.chain = *chain;
            }
        }
        scratch = [0; PART];
        zeroize::optimization_barrier(&scratch);
    }

    /// The tag.
    fn tag(&self) -> block::Block {
        let mut last = self.last;
        let k = match last.get_mut(self.held..) {
            Some([end, rest @ ..]) => {
                *end = 0x80;
                rest.fill(0);
                self.key.expanded().subkey(1)
            }
            _ => self.key.expanded().subkey(0),
        };
        let x = xor(xor(self.chain, &last), k);
        encrypt_block(Backend::preferred(false), self.key.expanded(), x)
    }
}

fn xor(x: block::Block, y: &block::Block) -> block::Block {
    (u128::from_ne_bytes(x) ^ u128::from_ne_bytes(*y)).to_ne_bytes()
}

impl<A> Clone for Cmac<A> {
    fn clone(&self) -> Self {
        Cmac {
            key: self.key.clone(),
            ..*self
        }
    }
}

impl<A> fmt::Debug for Cmac<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cmac").finish_non_exhaustive()
    }
}

impl<A> Drop for Cmac<A> {
    fn drop(&mut self) {
        self.chain.zeroize();
        self.last.zeroize();
    }
}

impl<A> ZeroizeOnDrop for Cmac<A> {}

impl<A: Aes> KeySizeUser for Cmac<A> {
    type KeySize = A::KeySize;
}

impl<A: Aes> KeyInit for Cmac<A> {
    fn new(key: &digest::Key<Self>) -> Self {
        Cmac {
            key: expanded(key),
            chain: [0; 16],
            last: [0; 16],
            held: 0,
            aes: PhantomData,
        }
    }
}

impl<A> OutputSizeUser for Cmac<A> {
    type OutputSize = U16;
}

impl<A> MacMarker for Cmac<A> {}

impl<A> Update for Cmac<A> {
    fn update(&mut self, mut data: &[u8]) {
        if self.held > 0 {
            let room = &mut self.last[self.held..];
            let (now, later) = data.split_at(data.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.held += now.len();
            if later.is_empty() {
                return;
            }
            let last = self.last;
            self.absorb(&last);
            data = later;
        }
        let (rows, rest) = data.split_at(data.len().saturating_sub(1) / 16 * 16);
        self.absorb(rows);
        self.last[..rest.len()].copy_from_slice(rest);
        self.held = rest.len();
    }
}

impl<A> Reset for Cmac<A> {
    fn reset(&mut self) {
        self.chain = [0; 16];
        self.held = 0;
    }
}

impl<A> FixedOutput for Cmac<A> {
    fn finalize_into(self, out: &mut Block) {
        *out = Array(self.tag());
    }
}

impl<A> FixedOutputReset for Cmac<A> {
    fn finalize_into_reset(&mut self, out: &mut Block) {
        *out = Array(self.tag());
        self.reset();
    }
}
