//! Memory for batches: with margins, and for one test with guard pages.

use std::cell::Cell;
use std::ops::{Deref, DerefMut, Range};

/// Where a batch's bytes lie.
pub trait Memory {
    type Buf: DerefMut<Target = [u8]>;

    fn take(&self, len: usize) -> Self::Buf;
}

/// What fresh memory and the margins around it hold.
pub const CANARY: u8 = 0xc5;

/// Whether memory holds what fresh memory does. It is compared by chunks: byte by byte, this took a
/// tenth of the time of all tests.
pub fn untouched(bytes: &[u8]) -> bool {
    const FRESH: [u8; 256] = [CANARY; 256];
    bytes
        .chunks(FRESH.len())
        .all(|chunk| chunk == &FRESH[..chunk.len()])
}

/// Memory of the heap with margins, which are checked when it is dropped.
pub struct Heap {
    /// Distance of every buffer from a multiple of 64; if not given, all in turn.
    pub offset: Option<usize>,
    turn: Cell<usize>,
}

impl Heap {
    pub fn new(offset: Option<usize>) -> Heap {
        let turn = Cell::new(0);
        Heap { offset, turn }
    }
}

pub struct HeapBuf {
    all: Vec<u8>,
    place: Range<usize>,
}

const MARGIN: usize = 64;

impl Memory for Heap {
    type Buf = HeapBuf;

    fn take(&self, len: usize) -> HeapBuf {
        let all = vec![CANARY; MARGIN + 63 + 63 + len + MARGIN];
        self.turn.set(self.turn.get() + 5);
        let align = all.as_ptr().addr().wrapping_neg() % 64;
        let from = MARGIN + align + self.offset.unwrap_or(self.turn.get() % 16);
        HeapBuf {
            all,
            place: from..from + len,
        }
    }
}

impl Deref for HeapBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.all[self.place.clone()]
    }
}

impl DerefMut for HeapBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.all[self.place.clone()]
    }
}

impl Drop for HeapBuf {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let Range { start, end } = self.place;
            assert!(
                untouched(&self.all[..start]) && untouched(&self.all[end..]),
                "a write beyond a buffer"
            );
        }
    }
}
