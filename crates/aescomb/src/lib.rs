//! AES for many independent messages at once.
//!
//! CBC encryption, CFB, OFB, CMAC, CCM, EAX and SIV are serial inside a message: each AES
//! call waits for the one before, and a core that could finish four block-rounds a
//! cycle does a tenth of that. This crate takes a batch of messages, interleaves
//! them and keeps the AES pipeline full: the *comb scheduler* of Bogdanov,
//! Lauridsen and Tischhauser ([`plan`]).
//!
//! ```
//! use aescomb::modes::Cbc;
//! use aescomb::{Comb, Key, Message, Text};
//!
//! let key = Key::<Cbc>::new(&[0x42; 16])?;
//! let mut packets = vec![vec![7u8; 64]; 100];
//! let nonces: Vec<[u8; 16]> = (0..100u128).map(u128::to_be_bytes).collect();
//!
//! let mut comb = Comb::new(); // keep it: it holds the scheduling memory
//! let mut batch: Vec<Message> = packets
//!     .iter_mut()
//!     .zip(&nonces)
//!     .map(|(packet, nonce)| Message::new(Text::in_place(packet)).nonce(nonce))
//!     .collect();
//! comb.encrypt(&key, &mut batch)?;
//! # Ok::<(), aescomb::Error>(())
//! ```
//!
//! - [`Key`]: a key of a mode, a type of [`modes`]; [`AnyKey`] for a [`Mode`] that is known at
//!   run time.
//! - [`Message`] and [`Packed`]: the two forms of a batch; [`ffi`] for foreign callers.
//! - [`Messages`]: memory for batches that are made of iterators.
//! - [`Comb`]: the scheduler object that runs batches.
//! - `Team` (feature `threads`): batches on several threads.
//! - `rustcrypto` (feature `rustcrypto`): the traits of the RustCrypto crates.
//! - [`ff1`]: format-preserving encryption of many values.
//! - [`Backend`]: the implementations, chosen at run time.
//! - Feature `research`: twelve more modes, from papers, for comparison and not for new
//!   protocols.
//!
//! CCM, GCM, OCB, EAX, SIV and GCM-SIV authenticate what they encrypt; ECB, CBC, CFB,
//! OFB, CTR and XTS do not.
//!
//! # Batch sizes
//!
//! Serial modes gain with every message in hand, up to the parallelism degree
//! ([`Backend::default_lanes`]: 16 or 32 on today's server CPUs), and a batch of
//! several times that evens out differing lengths. With one message a serial mode
//! is as fast as its latency allows.
//!
//! # Building
//!
//! For targets with pointers of 64 bits. `no_std` with `alloc` if the default feature `std` is turned off. Optimise for
//! speed: `opt-level = "s"` or `"z"` makes the kernels 3 to 11 times as slow.
#![no_std]
#![deny(missing_docs)]
// The contract of modes has parts that no standard mode needs.
#![cfg_attr(not(feature = "research"), allow(dead_code))]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("aescomb needs a target with pointers of 64 bits");

extern crate alloc;
#[cfg(feature = "threads")]
extern crate std;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod about;
mod admission;
mod backend;
mod batch;
mod block;
mod bytes;
mod cipher;
mod comb;
#[cfg(feature = "threads")]
mod crew;
mod crowding;
mod derived;
#[cfg(target_arch = "x86_64")]
mod detect;
mod engine;
mod error;
mod expand;
mod expanded;
mod facts;
mod fetch;
mod few;
pub mod ff1;
pub mod ffi;
#[cfg(feature = "measure")]
#[doc(hidden)]
pub mod field;
mod gf128;
mod group;
mod hashing;
mod isa;
mod job;
mod key;
mod key_calls;
mod key_set;
mod keys;
mod lane_keys;
mod layout;
mod message;
mod messages;
mod mode;
pub mod modes;
mod names;
mod parts;
mod pass;
mod places;
pub mod plan;
mod rows;
#[cfg(feature = "rustcrypto")]
pub mod rustcrypto;
mod schedule;
mod shape;
mod single;
mod soft;
mod solo;
mod stage;
mod status;
#[cfg(feature = "threads")]
mod team;
mod text;

pub use backend::Backend;
#[cfg(feature = "measure")]
#[doc(hidden)]
pub use backend::Cpu;
pub use batch::{Batch, MessageResult, Packed};
pub use comb::Comb;
pub use error::{Allowed, Error, Failed, Field, Given, OpenError};
pub use key::{AnyKey, Key};
pub use keys::Keys;
pub use layout::{Layout, Offset};
pub use message::Message;
pub use messages::Messages;
pub use mode::{Algorithm, Info, KEY_BYTES, Kind, Lengths, Mode, Op};
pub use names::UnknownName;
pub use status::Status;
#[cfg(feature = "threads")]
pub use team::Team;
pub use text::Text;
