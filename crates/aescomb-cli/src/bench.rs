//! The benchmark: what is timed, the bound it is held against, and the report.

pub(crate) mod bound;
pub(crate) mod case;
pub(crate) mod ff1;
pub(crate) mod field;
pub(crate) mod report;
