//! What becomes of messages.

/// What became of a message.
///
/// ```
/// use aescomb::modes::Ecb;
/// use aescomb::{Comb, Key, Message, Status, Text};
///
/// let mut text = [1; 16];
/// let mut batch = [Message::new(Text::in_place(&mut text))];
/// assert_eq!(batch[0].status(), Status::Pending);
/// Comb::new().encrypt(&Key::<Ecb>::new(&[0; 16])?, &mut batch)?;
/// assert_eq!(batch[0].status(), Status::Done);
/// # Ok::<(), aescomb::Error>(())
/// ```
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
