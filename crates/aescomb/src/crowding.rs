//! Texts that begin at the same place of a page or of half a page, as in buffers of 4,096 or 2,048
//! bytes. Their lines share sets of the first-level cache, so that side by side in lanes they displace
//! each other: how many lanes have room, and what is done differently.
#![forbid(unsafe_code)]

use crate::backend::{is_zen1_to_4, is_zen4, is_zen5};
use crate::block::LINE;
use crate::isa::Isa;
use crate::job::Job;
use crate::pass::{Pass, link_of, rows};

/// The bits of an address that say in which set of the first-level cache its line is: sets of
/// 4 KiB in all, on all x86-64 CPUs with AES instructions.
pub(crate) const SET: usize = 0xfc0;
/// The same without the highest, for texts that are half a page apart.
pub(crate) const HALF_SET: usize = SET >> 1 & SET;

/// Lanes whose texts lie at one or two places of a page, for whose lines the first-level cache
/// still has room; 32 displace each other's.
pub(crate) const ROOM: usize = 16;
/// The same where sets have 8 lines and not 12.
pub(crate) const SMALL_ROOM: usize = 8;

/// From so many rows on, lanes that displace each other's lines gather and scatter them between the
/// rounds of AES, on Zen 5 and Ice Lake.
pub(crate) const CROWDED_LINES_FROM: usize = 3 * LINE;

/// Where a text is written, or else read.
#[inline(always)]
pub(crate) fn place_of<M: Pass>(src: *const u8, dst: *mut u8) -> usize {
    match const { M::SHAPE.output } {
        true => dst.addr(),
        false => src.addr(),
    }
}

/// The bits of the set that differ between lines of lanes, as far as four of them tell.
#[inline(always)]
pub(crate) fn differ(place: impl Fn(usize) -> usize) -> usize {
    ((place(0) ^ place(1)) | (place(0) ^ place(6)) | (place(0) ^ place(11))) & SET
}

/// Whether texts begin at the same place of half a page, as far as [`differ`] tells: also those that are only
/// read, for which 32 lanes have room at two places of a page ([`is_crowded`]), but little.
#[inline(always)]
pub(crate) fn share_sets(place: impl Fn(usize) -> usize) -> bool {
    differ(place) & HALF_SET == 0
}

/// See [`differ`], of messages that are too many for one place.
#[inline(always)]
pub(crate) fn places_differ<M: Pass>(jobs: &[Job]) -> Option<usize> {
    let least = match const { may_be_staged::<M>() } && is_zen1_to_4() {
        true => STAGED_FROM,
        false => ROOM + 1,
    };
    (M::SHAPE.is_serial() && jobs.len() >= least).then(|| {
        differ(
            #[inline(always)]
            |l| place_of::<M>(jobs[l].src, jobs[l].dst),
        )
    })
}

/// From so many lanes on those of one place are staged ([`is_staged`]). (Zen 3, CBC of 256 bytes and
/// more: sixteen messages take 0.52 to 0.63 of the time, twelve 0.75 to 0.96, nine 1.07.)
pub(crate) const STAGED_FROM: usize = 13;

/// Whether texts, whose places differ by so much, begin at the same place of a page, or, where they
/// are written or sets are small, of half a page.
#[inline(always)]
pub(crate) fn is_crowded<M: Pass>(differ: usize) -> bool {
    match const { M::SHAPE.output } || is_zen1_to_4() {
        true => differ & HALF_SET == 0,
        false => differ == 0,
    }
}

/// Whether messages of one length that begin at one place of a page are so long that all lanes would
/// take longer than [`room`] has: a line is read in each of four rows. (On Zen 5 it is read and written
/// once: CBC of 512 bytes takes 1.3 times as long in all lanes as in `room` of them. Up to Zen 4, rows of linked
/// modes are staged.)
#[inline(always)]
pub(crate) fn displace<M: Pass>(jobs: &[Job]) -> bool {
    let linked = const { link_of::<M>().is_some() };
    let least = match is_zen1_to_4() {
        true if !linked => 32,
        false if linked && const { M::SHAPE.output } => 16,
        _ => return false,
    };
    rows::<M>(jobs[0].len) >= least && places_differ::<M>(jobs) == Some(0)
}

/// Whether messages of a mode along messages all begin at one place of a page, so that side by side in
/// lanes they displace each other's lines; a few at a time, they do so less. (Zen 5, 4,096 bytes apart: XTS
/// of 64 bytes took ten times as long as close together, and takes four times; GCM of 128 bytes took 2.3
/// times, and takes 1.2 times. 2,048 bytes apart, OCB and GCM are faster side by side, and XTS of up to a
/// line takes a third a few at a time.)
#[inline(always)]
pub(crate) fn displace_along<M: Pass>(jobs: &[Job]) -> bool {
    let place = |l: usize| place_of::<M>(jobs[l].src, jobs[l].dst);
    let differ = || differ(place);
    let len = jobs[0].len;
    jobs.len() >= ROOM
        && len > 16
        && match const { M::SHAPE.tag } || len > 16 * LINE {
            true => differ() == 0,
            false => is_crowded::<M>(differ()),
        }
}

/// How many lanes do messages soonest whose places differ by so little: waiting for lines of the
/// cache costs more than lanes without a message, but for those that are only read. (Zen 3, which has sixteen
/// lanes, takes longer with eight in all modes that were tried but JAMBU.)
#[inline(always)]
pub(crate) fn room<M: Pass>(differ: usize) -> usize {
    match const { M::SHAPE.output } && differ == 0 && is_zen4() {
        true => SMALL_ROOM,
        false => ROOM,
    }
}

/// Whether a group of messages, the longest of which has so many rows as `longest` says, goes by whole lines, so
/// that all lanes have room: with a key for each at two places of a page; under one key, on Zen 5, between the
/// rounds, at one place, too, if texts are only read. Where there are lines (`Isa::SPARE`).
#[inline(always)]
pub(crate) fn goes_by_lines<M: Pass>(
    differ: usize,
    shared: bool,
    longest: impl FnOnce() -> usize,
) -> bool {
    let linked = const { link_of::<M>().is_some() };
    let two_places = differ > 0;
    match shared {
        true => {
            (two_places || const { !M::SHAPE.output })
                && linked
                && is_zen5()
                && longest() >= CROWDED_LINES_FROM
        }
        false => two_places,
    }
}

/// Whether rows of `M` may go by way of a [`Stage`](crate::stage::Stage).
pub(crate) const fn may_be_staged<M: Pass>() -> bool {
    link_of::<M>().is_some()
}

/// The same of rows that begin in all lanes of `S`, which may be more than a set has lines.
pub(crate) const fn has_stages<S: Isa, M: Pass>() -> bool {
    S::LANES > SMALL_ROOM && may_be_staged::<M>()
}

/// Whether they do, if their texts' places differ by so much: where a set has few lines. (On Zen 4,
/// instead of phases and of eight lanes, CBC takes 0.7 to 0.8 of the time, CMAC 0.55 to 0.97; on Zen 3, instead of
/// sixteen lanes, 0.55 to 0.6 and 0.8 to 0.9.)
#[inline(always)]
pub(crate) fn is_staged(differ: Option<usize>) -> bool {
    differ == Some(0) && is_zen1_to_4()
}

/// Whether rows of a full group may be done in phases.
pub(crate) const fn has_phases<S: Isa, M: Pass>() -> bool {
    S::LANES > 16 && link_of::<M>().is_some()
}

/// Where all messages of a group have so many rows, these are better done in phases than staged.
pub(crate) const STAGED_BELOW: usize = 128;

/// In how many phases a group does the `rows` rows that all its messages have: where their texts
/// begin at one place of a page, or, if they are written, of half a page, but on Zen 5, where lines between
/// the rounds take less time. Lanes of one phase share sets of the first-level cache; lanes of other phases
/// use other sets.
#[inline(always)]
pub(crate) fn phases_of<M: Pass>(differ: usize, rows: usize) -> Option<usize> {
    let phases = match const { M::SHAPE.output } {
        true if differ == 0 => 8,
        true if differ & HALF_SET == 0 && !is_zen5() => 4,
        false if differ == 0 => 4,
        _ => return None,
    };
    // Each phase after the first makes the group four rows longer.
    (rows >= 12 * phases).then_some(phases)
}
