//! What is raced: modes and operations, with AES-128.

use aescomb::{Lengths, Mode, Op};
use aescomb_measure::Workload;

/// Of all messages; SIV and XTS take all of it, the others the first half.
pub const KEY: [u8; 32] = *b"one key for all,with a second...";

/// A mode and what is done with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    pub mode: Mode,
    pub op: Op,
    /// Whether the messages that are opened are forged, every one in its tag.
    pub forged: bool,
    /// How many times as fast as the best peer aescomb has to be, on the usual workload.
    goal: Option<f64>,
}

const fn case(mode: Mode, op: Op) -> Case {
    Case {
        mode,
        op,
        forged: false,
        goal: None,
    }
}

impl Case {
    const fn forged(self) -> Case {
        Case {
            forged: true,
            ..self
        }
    }

    const fn goal(self, times: f64) -> Case {
        Case {
            goal: Some(times),
            ..self
        }
    }

    pub const ALL: &[Case] = &[
        case(Mode::Ecb, Op::Encrypt).goal(1.0),
        case(Mode::Ecb, Op::Decrypt).goal(1.0),
        case(Mode::Cbc, Op::Encrypt).goal(2.0),
        case(Mode::Cbc, Op::Decrypt).goal(1.0),
        case(Mode::Cfb128, Op::Encrypt).goal(7.5),
        case(Mode::Cfb128, Op::Decrypt).goal(1.3),
        case(Mode::Ofb, Op::Encrypt).goal(8.0),
        case(Mode::Ctr, Op::Encrypt).goal(1.08),
        case(Mode::Xts, Op::Encrypt).goal(1.6),
        case(Mode::Xts, Op::Decrypt).goal(1.6),
        case(Mode::Cmac, Op::Mac).goal(2.2),
        case(Mode::Gmac, Op::Mac).goal(1.3),
        case(Mode::Ccm, Op::Seal).goal(1.9),
        case(Mode::Ccm, Op::Open).goal(1.8),
        case(Mode::Ccm, Op::Open).forged(),
        case(Mode::Gcm, Op::Seal).goal(1.4),
        case(Mode::Gcm, Op::Open).goal(1.4),
        case(Mode::Gcm, Op::Open).forged(),
        case(Mode::Ocb, Op::Seal).goal(3.0),
        case(Mode::Ocb, Op::Open).goal(3.0),
        case(Mode::Ocb, Op::Open).forged(),
        case(Mode::Siv, Op::Seal).goal(7.0),
        case(Mode::Siv, Op::Open).goal(7.0),
        case(Mode::GcmSiv, Op::Seal).goal(3.2),
        case(Mode::GcmSiv, Op::Open).goal(3.2),
    ];

    /// `gcm open forged`.
    pub fn name(self) -> String {
        let forged = if self.forged { " forged" } else { "" };
        format!("{} {}{forged}", self.mode.name(), self.op.name())
    }

    pub fn key(self) -> &'static [u8] {
        &KEY[..self.mode.info().key_bytes[0]]
    }

    pub fn nonce_bytes(self) -> usize {
        self.mode.info().usual_nonce()
    }

    /// Whether messages have associated data.
    pub fn is_aead(self) -> bool {
        matches!(self.op, Op::Seal | Op::Open)
    }

    /// Whether peers are to undo what the mode does.
    pub fn backward(self) -> bool {
        matches!(self.op, Op::Decrypt | Op::Open)
    }

    /// Whether results go where the messages were. Opening does not: it would destroy what
    /// it opens, and could be done once.
    pub fn in_place(self) -> bool {
        self.op != Op::Open
    }

    /// How many times as fast as the best peer aescomb has to be: what is wanted of the
    /// case on the usual workload, and of a message alone to be no slower.
    pub fn target(self, usual: bool, messages: usize) -> Option<f64> {
        match messages {
            1 if !self.forged => Some(1.0),
            _ if usual => self.goal,
            _ => None,
        }
    }

    /// Makes messages of a mix such that the mode takes them; whether any was changed.
    pub fn fit(self, workload: &mut Workload) -> bool {
        let drawn = workload.lengths.clone();
        let lengths = self.mode.info().lengths;
        // Some have no empty messages.
        let least = if lengths == Lengths::FromOneBlock {
            16
        } else {
            1
        };
        for length in &mut workload.lengths {
            *length = (*length).max(least);
        }
        for content in workload.contents.iter_mut().flatten() {
            content.resize(content.len().max(least), 0);
        }
        if lengths == Lengths::WholeBlocks {
            workload.round_up(16);
        }
        workload.lengths != drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_different() {
        let names: HashSet<String> = Case::ALL.iter().map(|case| case.name()).collect();
        assert_eq!(names.len(), Case::ALL.len());
        assert!(names.contains("gcm open forged") && names.contains("cmac mac"));
    }

    #[test]
    fn keys_and_nonces_are_those_of_the_modes() {
        for case in Case::ALL {
            let info = case.mode.info();
            assert_eq!(case.key().len(), if info.two_keys { 32 } else { 16 });
            let (least, most) = info.nonce_bytes;
            assert!((least..=most.min(16)).contains(&case.nonce_bytes()));
        }
        // XTS with equal keys is refused by some.
        assert_ne!(KEY[..16], KEY[16..]);
    }

    #[test]
    fn targets_are_for_the_usual_workload_and_for_one_message() {
        let find = |name: &str| *Case::ALL.iter().find(|case| case.name() == name).unwrap();
        assert_eq!(find("ccm open").target(true, 256), Some(1.8));
        assert_eq!(find("gcm seal").target(true, 256), Some(1.4));
        assert_eq!(find("gcm seal").target(false, 256), None);
        assert_eq!(find("gcm seal").target(false, 1), Some(1.0));
        assert_eq!(find("ocb seal").target(true, 256), Some(3.0));
        assert_eq!(find("gcm open forged").target(true, 256), None);
    }

    #[test]
    fn lengths_are_rounded_where_the_mode_wants_it() {
        let fitted = |mode| {
            let mut workload = Workload {
                lengths: vec![0, 16, 40],
                contents: None,
            };
            let changed = case(mode, Op::Encrypt).fit(&mut workload);
            (workload.lengths, changed)
        };
        assert_eq!(fitted(Mode::Cbc), (vec![16, 16, 48], true));
        assert_eq!(fitted(Mode::Xts), (vec![16, 16, 40], true));
        assert_eq!(fitted(Mode::Ctr), (vec![1, 16, 40], true));
    }
}
