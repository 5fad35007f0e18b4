//! The values of columns in batches: what the Python package's keys do with columns, too.
//!
//! A value is the bytes of a row: those of binary values, the UTF-8 of text, and of
//! everything else the bytes that Arrow has in memory, the lowest first: 1 to 8 of integers and
//! floats, 4 to 32 of decimals' unscaled integers, 4 or 8 of dates, times, timestamps and
//! durations, 4 to 16 of intervals, and one byte, 0 or 1, for a boolean.

mod memory;
mod packed;
mod present;
mod random;
mod results;
mod team;

pub use memory::{Keep, Room, Soon, keep, room};
pub use packed::{
    Columns, Data, Flat, Keyed, Made, Making, PIECE, Places, STRETCH, Stopped, Values, growth,
    with_comb,
};
pub use present::{Chosen, Present};
pub use random::{nonces, nonces_before};
pub use results::{Refused, Results, fits, number_type};
pub use team::{shares, together, worth};
