//! AES-JAMBU of H. Wu and T. Huang, "The JAMBU Lightweight Authentication Encryption Mode", CAESAR
//! submission, v2 of August 2015. What the bits are is that of the submission's reference code.

use crate::{Sealed, aes::Aes};

/// JAMBU. The submission's keys have 16 bytes.
pub fn jambu_encrypt(aes: &Aes, n: &[u8; 8], a: &[u8], m: &[u8]) -> Sealed {
    let mut state = State::new(aes, n);
    state.associated_data(a);
    let mut c = Vec::new();
    let (blocks, rest) = m.as_chunks::<8>();
    for p in blocks {
        let p = u64::from_be_bytes(*p);
        let stream = state.next(0);
        state.absorb(p);
        c.extend((p ^ stream).to_be_bytes());
    }
    let p = padded(rest);
    let stream = state.next(0);
    state.absorb(p);
    c.extend(&(p ^ stream).to_be_bytes()[..rest.len()]);
    let tag = state.tag().to_vec();
    Sealed { text: c, tag }
}

/// Undoes [`jambu_encrypt()`]; `None` for a wrong tag.
pub fn jambu_decrypt(aes: &Aes, n: &[u8; 8], a: &[u8], c: &[u8], t: &[u8; 8]) -> Option<Vec<u8>> {
    let mut state = State::new(aes, n);
    state.associated_data(a);
    let mut m = Vec::new();
    let (blocks, rest) = c.as_chunks::<8>();
    for c_i in blocks {
        let p = u64::from_be_bytes(*c_i) ^ state.next(0);
        state.absorb(p);
        m.extend(p.to_be_bytes());
    }
    let stream = state.next(0).to_be_bytes();
    let last: Vec<u8> = rest.iter().zip(stream).map(|(c, s)| c ^ s).collect();
    state.absorb(padded(&last));
    m.extend(last);
    (*t == state.tag()).then_some(m)
}

/// The state: a block, of which `lo` is the first half and `hi` the second one, and the register
/// `r`. All three are 8 bytes, the first of them the most significant.
struct State<'a> {
    aes: &'a Aes,
    lo: u64,
    hi: u64,
    r: u64,
}

impl<'a> State<'a> {
    /// The initialization.
    fn new(aes: &'a Aes, n: &[u8; 8]) -> Self {
        let lo = u64::from_be_bytes(*n);
        let mut state = Self {
            aes,
            lo,
            hi: 0,
            r: 0,
        };
        state.permute();
        state.lo ^= constant(5);
        state.r = state.hi;
        state
    }

    /// The block cipher.
    fn permute(&mut self) {
        let block = u128::from(self.lo) << 64 | u128::from(self.hi);
        let out = u128::from_be_bytes(self.aes.encrypt_block(&block.to_be_bytes()));
        self.lo = (out >> 64) as u64;
        self.hi = out as u64;
    }

    /// The first half of a step, up to its keystream; `k` tells the kinds of steps apart.
    fn next(&mut self, k: u8) -> u64 {
        self.permute();
        self.lo ^= self.r ^ constant(k);
        self.lo
    }

    /// The second half of a step, which takes a block in.
    fn absorb(&mut self, x: u64) {
        self.hi ^= x;
        self.r ^= self.hi;
    }

    /// The associated data, padded even if they fill their blocks.
    fn associated_data(&mut self, a: &[u8]) {
        let (blocks, rest) = a.as_chunks::<8>();
        for a_i in blocks {
            self.next(1);
            self.absorb(u64::from_be_bytes(*a_i));
        }
        self.next(1);
        self.absorb(padded(rest));
    }

    /// The finalization.
    fn tag(&mut self) -> [u8; 8] {
        self.next(3);
        self.absorb(0);
        self.permute();
        (self.lo ^ self.hi ^ self.r).to_be_bytes()
    }
}

/// The byte `k` and seven zero bytes.
fn constant(k: u8) -> u64 {
    u64::from(k) << 56
}

/// Up to 7 bytes and 10*.
fn padded(rest: &[u8]) -> u64 {
    let mut block = [0; 8];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0b1000_0000;
    u64::from_be_bytes(block)
}
