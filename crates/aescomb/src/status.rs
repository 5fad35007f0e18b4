//! What becomes of messages.

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Status {
    /// No call has finished it yet.
    Pending,
    /// Done.
    Done,
    /// Invalid padding; the output was wiped.
    BadPadding,
    /// Wrong tag: authentication failed; the output was wiped.
    BadTag,
}
