//! What is compared with what.

use sealift_core::Op;

/// Two classes of inputs of one batch.
pub(crate) struct Case {
    pub(crate) what: &'static str,
    pub(crate) kind: Kind,
    pub(crate) op: Op,
    pub(crate) keys: How,
    pub(crate) text_bytes: usize,
    pub(crate) key_bytes: usize,
    pub(crate) differ: Differ,
}

/// What should come out.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// The classes must not be told apart: this is what is asked.
    Asked,
    /// They cannot: both are drawn.
    Same,
    /// They must be told apart: something leaks on purpose.
    Planted,
}

/// Where keys come from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum How {
    One,
    Each,
    Raw,
}

/// In what the classes differ.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Differ {
    /// Keys and plaintexts are fixed or drawn.
    Secrets,
    /// Tags are wrong in the first byte or in the last one.
    WrongByte,
    /// In nothing.
    Nothing,
    /// As secrets do, and a loop runs as often as the first key has bits set.
    LoopByKey,
    /// As wrong bytes do, and a comparison stops at the first byte that differs.
    EarlyExit,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Asked => "asked",
            Kind::Same => "same",
            Kind::Planted => "planted",
        }
    }
}

const SEAL: Case = Case {
    what: "seal 128 B, one key",
    kind: Kind::Asked,
    op: Op::Seal,
    keys: How::One,
    text_bytes: 128,
    key_bytes: 16,
    differ: Differ::Secrets,
};
const OPEN: Case =
    Case { what: "open 128 B, wrong tags", op: Op::Open, differ: Differ::WrongByte, ..SEAL };

pub(crate) static CASES: &[Case] = &[
    Case {
        what: "planted: a loop by the key's bits",
        kind: Kind::Planted,
        differ: Differ::LoopByKey,
        ..SEAL
    },
    Case {
        what: "planted: a comparison that stops early",
        kind: Kind::Planted,
        differ: Differ::EarlyExit,
        ..OPEN
    },
    Case { what: "the same class twice", kind: Kind::Same, differ: Differ::Nothing, ..SEAL },
    SEAL,
    Case { what: "seal 128 B, a cached key each, AES-256", keys: How::Each, key_bytes: 32, ..SEAL },
    Case { what: "seal 128 B, a raw key each", keys: How::Raw, ..SEAL },
    Case { what: "seal 128 B, a raw key each, AES-256", keys: How::Raw, key_bytes: 32, ..SEAL },
    Case { what: "seal 1,420 B, one key, AES-256", text_bytes: 1_420, key_bytes: 32, ..SEAL },
    OPEN,
    Case { what: "open 128 B, a cached key each, wrong tags", keys: How::Each, ..OPEN },
    Case { what: "open 1,420 B, wrong tags", text_bytes: 1_420, ..OPEN },
];
