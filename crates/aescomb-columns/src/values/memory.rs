//! Memory for results.
//!
//! `unsafe` rests on what the operating system promises: advice about memory changes neither
//! what is in it nor who may use it.
#![allow(unsafe_code)]

use std::collections::TryReserveError;

/// Bytes from which on memory comes from the operating system anew each time, as C
/// libraries have it, and not from what was used before.
#[cfg(target_os = "linux")]
const LARGE: usize = 32 << 20;

/// A vector with room for so many items, and no more. A large one is in huge pages, where the
/// system has such: to get 4 KiB at a time takes longer than to encrypt what is in them.
///
/// # Errors
///
/// Without memory.
pub fn room<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut items = Vec::new();
    items.try_reserve_exact(count)?;
    #[cfg(target_os = "linux")]
    if size_of_val(items.spare_capacity_mut()) >= LARGE {
        let range = items.spare_capacity_mut().as_mut_ptr_range();
        // SAFETY: the vector has this memory.
        unsafe { advise(range.start.cast(), range.end.cast()) }
    }
    Ok(items)
}

/// Asks for huge pages.
///
/// # Safety
///
/// All between the two is memory of one allocation.
#[cfg(target_os = "linux")]
unsafe fn advise(start: *mut u8, end: *mut u8) {
    // SAFETY: it has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page) = usize::try_from(page) else {
        return;
    };
    let first = start.wrapping_add(start.align_offset(page));
    if let Some(len) = end.addr().checked_sub(first.addr()) {
        // Without huge pages it only takes longer.
        // SAFETY: by the caller, these are pages of that memory alone.
        unsafe { libc::madvise(first.cast(), len / page * page, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_as_much_as_was_asked_for() {
        for count in [0, 1, 1000, 5 << 20, 40 << 20] {
            let mut items: Vec<u64> = room(count).unwrap();
            assert!(items.capacity() >= count);
            items.extend(0..count as u64);
            assert!(items.iter().copied().eq(0..count as u64));
        }
        assert!(room::<u64>(usize::MAX / 16).is_err());
    }
}
