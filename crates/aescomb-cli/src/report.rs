//! `aescomb report`: the papers' tables and figures, measured here.
//!
//! A [part](parts) asks for measurements and shows what was found. Each [`Ask`] is
//! measured once, whoever asks for it, and kept in a [journal] until the report is
//! written.

mod ask;
mod chart;
mod found;
mod journal;
mod page;
mod parts;
mod peers;
mod published;
mod record;
mod servers;

pub(crate) use ask::{Ask, Measurer};
pub(crate) use found::Found;
pub(crate) use journal::{Header, Journal};
pub(crate) use page::{About, page};
pub(crate) use parts::{PARTS, Scale, View};
pub(crate) use peers::Peers;
pub(crate) use record::Record;
pub(crate) use servers::Servers;
