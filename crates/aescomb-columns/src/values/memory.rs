//! Memory for results.
//!
//! New memory is cleared by the operating system, page by page, when it is first written: for
//! results of short values that takes longer than to encrypt them. So large memory is kept when
//! results are dropped, for later ones, in huge pages where the system has such. What is kept
//! stays the system's to take: it is told that nothing in it is needed (`MADV_FREE`), and takes
//! pages of it where it has no others.
//!
//! Memory that was not used for long is not in the caches either. [`Soon`] fetches that of the next
//! results, and of what they are made of, while nonces are made.
//!
//! `unsafe` rests on these facts:
//! - A [`Room`] has its memory alone, which is aligned for 16 bytes and not freed before it is
//!   dropped; so has the buffer that it becomes.
//! - Of that memory, the first `len` items are written.
//! - Advice about memory changes at most what is in it: only that of memory which nobody uses is
//!   given up.
#![allow(unsafe_code)]

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use std::collections::TryReserveError;
use std::mem::{self, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex, TryLockError};

/// Bytes from which on memory is kept, and comes from the operating system otherwise, as with
/// C libraries.
const LEAST: usize = 1 << 17;

/// Bytes from which on memory that is kept stays the system's to take. To say so of less, which
/// is not in huge pages, costs more than it is worth.
const HUGE: usize = 1 << 20;

/// As many that are smaller are kept at most.
const FEW: usize = 16;

/// Bytes from which on memory that is not kept comes from the operating system, as from
/// there on C libraries keep none either.
const LARGE: usize = 32 << 20;

/// The most bytes that are kept, unless [`keep`] says otherwise.
const MOST: usize = 1 << 30;

/// Memory that is kept, the longest kept first.
static KEPT: Mutex<Kept> = Mutex::new(Kept {
    blocks: Vec::new(),
    bytes: 0,
    most: MOST,
});

struct Kept {
    blocks: Vec<Mapped>,
    /// Of all of them.
    bytes: usize,
    most: usize,
}

impl Kept {
    /// Calls with what is kept, if nobody else is at it: threads do not wait for each other, and
    /// a process that was forked meanwhile does not wait for ever.
    fn with<R>(call: impl FnOnce(&mut Kept) -> R) -> Option<R> {
        match KEPT.try_lock() {
            Ok(mut kept) => Some(call(&mut kept)),
            Err(TryLockError::Poisoned(kept)) => Some(call(&mut kept.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The least that has so many bytes, if it has not more than twice as many.
    fn take(&mut self, bytes: usize) -> Option<Mapped> {
        let fits =
            |(_, block): &(usize, &Mapped)| (bytes..=bytes.saturating_mul(2)).contains(&block.len);
        let blocks = self.blocks.iter().enumerate().filter(fits);
        let (i, _) = blocks.min_by_key(|(_, block)| block.len)?;
        let block = self.blocks.remove(i);
        self.bytes -= block.len;
        Some(block)
    }

    /// What is to be freed instead: what was kept longest, or this.
    fn give(&mut self, block: Mapped) -> Vec<Mapped> {
        let kept = match block.len < HUGE {
            true => self.blocks.iter().filter(|other| other.len < HUGE).count() < FEW,
            false => block.give_up(),
        };
        if !kept || block.len > self.most {
            return vec![block];
        }
        self.bytes += block.len;
        self.blocks.push(block);
        self.cut()
    }

    /// What is more than may be kept.
    fn cut(&mut self) -> Vec<Mapped> {
        let mut cut = 0;
        while self.bytes > self.most {
            self.bytes -= self.blocks[cut].len;
            cut += 1;
        }
        self.blocks.drain(..cut).collect()
    }
}

/// Sets how many bytes of memory are kept at most for later results, and frees what is more. The
/// result: how many it were before.
pub fn keep(bytes: usize) -> usize {
    let mut kept = KEPT.lock().unwrap_or_else(|kept| kept.into_inner());
    let before = mem::replace(&mut kept.most, bytes);
    let freed = kept.cut();
    drop(kept);
    drop(freed);
    before
}

/// Pages of the operating system's.
struct Mapped {
    start: NonNull<u128>,
    len: usize,
}

// SAFETY: nobody else has the memory.
unsafe impl Send for Mapped {}
// SAFETY: nothing is reached through a shared one.
unsafe impl Sync for Mapped {}

#[cfg(target_os = "linux")]
impl Mapped {
    /// Of at least so many bytes, that is [`LEAST`] or more; in huge pages, if there are such.
    fn new(bytes: usize) -> Option<Mapped> {
        // Results of similar columns are not equally long.
        let step = bytes.checked_next_power_of_two()? / 8;
        let len = bytes.checked_next_multiple_of(step)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: it is new memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // Without huge pages, which less than 2 MiB have not, it only takes longer.
        // SAFETY: the pages are those of above.
        unsafe { libc::madvise(start, len, libc::MADV_HUGEPAGE) };
        let start = NonNull::new(start.cast())?;
        Some(Mapped { start, len })
    }

    /// Tells the system that it may have the pages: whether it understands.
    fn give_up(&self) -> bool {
        // SAFETY: nobody uses what is in these pages.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.len, libc::MADV_FREE) == 0 }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped for this, and nobody else has them.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Elsewhere the allocator does it.
#[cfg(not(target_os = "linux"))]
impl Mapped {
    fn new(_: usize) -> Option<Mapped> {
        None
    }

    fn give_up(&self) -> bool {
        false
    }
}

/// Memory for so many bytes.
enum Block {
    /// The allocator's.
    Own(Vec<u128>),
    /// Whether it is kept when it is dropped.
    Mapped(Option<Mapped>, Keep),
}

/// Whether memory is kept for later results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// It is.
    Yes,
    /// It is not: plaintext is left to the allocator or, if it is large, to the operating system.
    No,
}

impl Block {
    fn new(bytes: usize, keep: Keep) -> Result<Block, TryReserveError> {
        let take = |kept: &mut Kept| (bytes <= kept.most).then(|| kept.take(bytes));
        let kept = match keep {
            Keep::Yes if bytes >= LEAST => Kept::with(take).flatten(),
            _ => None,
        };
        let mapped = match kept {
            Some(kept) => kept.or_else(|| Mapped::new(bytes)),
            // The allocator may keep it.
            None if bytes < LARGE => None,
            None => Mapped::new(bytes),
        };
        if mapped.is_some() {
            return Ok(Block::Mapped(mapped, keep));
        }
        let mut own = Vec::new();
        own.try_reserve_exact(bytes.div_ceil(size_of::<u128>()))?;
        Ok(Block::Own(own))
    }

    fn start(&self) -> NonNull<u8> {
        match self {
            Block::Mapped(Some(mapped), _) => mapped.start.cast(),
            Block::Mapped(None, _) => NonNull::<u128>::dangling().cast(),
            Block::Own(own) => match NonNull::new(own.as_ptr().cast_mut()) {
                Some(start) => start.cast(),
                None => unreachable!("vectors are not at address 0"),
            },
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Block::Mapped(mapped, Keep::Yes) = self
            && let Some(mapped) = mapped.take()
        {
            // Freed, if it cannot be given, and what is freed when nobody waits.
            drop(Kept::with(|kept| kept.give(mapped)));
        }
    }
}

/// Room for so many items, of which some are written; they are numbers of at most 16 bytes.
pub struct Room<T> {
    block: Block,
    start: NonNull<T>,
    room: usize,
    len: usize,
}

// SAFETY: nobody else has the memory.
unsafe impl<T: Send> Send for Room<T> {}
// SAFETY: through a shared one, items are only read.
unsafe impl<T: Sync> Sync for Room<T> {}

/// Room for so many items.
///
/// # Errors
///
/// Without memory.
pub fn room<T: Copy>(count: usize, keep: Keep) -> Result<Room<T>, TryReserveError> {
    const { assert!(align_of::<T>() <= align_of::<u128>()) };
    // As many as no memory has, where it is more than can be counted.
    let bytes = count.saturating_mul(size_of::<T>());
    let block = Block::new(bytes, keep)?;
    Ok(Room {
        start: block.start().cast(),
        block,
        room: count,
        len: 0,
    })
}

impl<T: Copy> Room<T> {
    /// Appends an item.
    ///
    /// # Panics
    ///
    /// Without room for it.
    pub fn push(&mut self, item: T) {
        assert!(self.len < self.room);
        // SAFETY: the memory has room for one more.
        unsafe { self.start.add(self.len).write(item) };
        self.len += 1;
    }

    /// Leaves the first items only, so many.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The memory behind the items.
    pub fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: this memory is borrowed with the room, and may be as it is.
        unsafe {
            let start = self.start.add(self.len).cast();
            slice::from_raw_parts_mut(start.as_ptr(), self.room - self.len)
        }
    }

    /// Counts so many more items as written.
    ///
    /// # Safety
    ///
    /// They are.
    pub unsafe fn written(&mut self, items: usize) {
        assert!(items <= self.room - self.len);
        self.len += items;
    }
}

impl<T: ArrowNativeType> Room<T> {
    /// The items as a buffer, which has the memory then.
    pub fn into_buffer(self) -> Buffer {
        let (start, len) = (self.start.cast(), self.len * size_of::<T>());
        // SAFETY: they are written, and the block is what keeps them where they are.
        unsafe { Buffer::from_custom_allocation(start, len, Arc::new(self.block)) }
    }

    /// As [`Room::into_buffer`].
    pub fn into_scalars(self) -> ScalarBuffer<T> {
        self.into_buffer().into()
    }
}

impl<T: Copy> Extend<T> for Room<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let (mut items, mut count) = (items.into_iter(), 0);
        // Without a look at the room for each.
        for place in self.spare() {
            let Some(item) = items.next() else { break };
            place.write(item);
            count += 1;
        }
        self.len += count;
        assert!(items.next().is_none());
    }
}

impl<T> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many are written.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; the room is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Memory that is needed soon, of a stretch.
#[derive(Clone, Copy, Default)]
pub struct Soon<'a> {
    /// What is read.
    pub read: &'a [u8],
    /// What is written.
    pub written: &'a [MaybeUninit<u8>],
}

impl Soon<'_> {
    /// Asks the processor for part `i` of so many.
    #[cfg(target_arch = "x86_64")]
    pub fn fetch(&self, i: usize, parts: usize) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        /// Bytes that come at a time.
        const LINE: usize = 64;
        /// What is more does not stay in the second-level cache until it is needed.
        const MOST: usize = 1 << 20;
        if self.read.len() + self.written.len() > MOST {
            return;
        }
        let part = |len: usize| (len * i / parts..len * (i + 1) / parts).step_by(LINE);
        let (read, written) = (self.read.as_ptr(), self.written.as_ptr());
        for at in part(self.read.len()) {
            // SAFETY: any address may be asked for.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(read.wrapping_add(at).cast()) };
        }
        for at in part(self.written.len()) {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(written.wrapping_add(at).cast()) };
        }
    }

    /// Others are not asked.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn fetch(&self, _: usize, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All in one test, as what is kept is the process's.
    #[test]
    fn rooms_have_what_was_written() {
        for keep in [Keep::Yes, Keep::No, Keep::Yes] {
            for count in [0, 1, 1000, 1 << 17, (1 << 18) + 1, 5 << 20] {
                let mut items = room::<u64>(count, keep).unwrap();
                assert_eq!(items.spare().len(), count);
                items.extend(0..count as u64);
                assert!(items.iter().copied().eq(0..count as u64));
                assert!(items.spare().is_empty());
                let values = items.into_scalars();
                assert!(values.iter().copied().eq(0..count as u64));
            }
        }
        assert!(room::<u64>(usize::MAX / 16, Keep::Yes).is_err());
        assert!(room::<u64>(usize::MAX, Keep::No).is_err());

        #[cfg(target_os = "linux")]
        {
            let start = |room: &Room<u8>| room.as_ptr();
            let first = room::<u8>(3 << 20, Keep::Yes).unwrap();
            let place = start(&first);
            // A buffer gives it back when nobody has it any more.
            let buffer = first.into_buffer();
            let other = buffer.clone();
            drop(buffer);
            assert_ne!(start(&room(3 << 20, Keep::Yes).unwrap()), place);
            drop(other);
            keep(2 << 20);
            assert!(Kept::with(|kept| kept.bytes).unwrap() <= 2 << 20);
            assert_eq!(keep(MOST), 2 << 20);
        }
    }

    #[test]
    #[should_panic]
    fn rooms_take_no_more_than_they_have_room_for() {
        room(1, Keep::Yes).unwrap().extend([1u8, 2]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_longest_kept_goes_first() {
        let mut kept = Kept {
            blocks: Vec::new(),
            bytes: 0,
            most: 8 << 20,
        };
        let mapped = |mib: usize| Mapped::new(mib << 20).unwrap();
        for (mib, freed) in [(3, 0), (4, 0), (2, 1), (9, 1), (8, 2)] {
            assert_eq!(kept.give(mapped(mib)).len(), freed, "{mib}");
        }
        // Of small ones only some, whatever room there is.
        kept.most = 64 << 20;
        for i in 0..20 {
            let freed = kept.give(Mapped::new(LEAST).unwrap());
            assert_eq!(freed.len(), usize::from(i >= FEW));
        }
        kept.blocks.truncate(1);
        kept.bytes = 8 << 20;
        assert_eq!(kept.bytes, 8 << 20);
        assert!(kept.take(3 << 20).is_none());
        assert!(kept.take(9 << 20).is_none());
        assert_eq!(kept.take(7 << 20).unwrap().len, 8 << 20);
        assert_eq!((kept.blocks.len(), kept.bytes), (0, 0));
    }
}
