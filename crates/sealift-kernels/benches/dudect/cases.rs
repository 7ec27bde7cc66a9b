//! What is compared with what.

/// Two classes of inputs of one batch.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) what: &'static str,
    pub(crate) kind: Kind,
    pub(crate) job: Job,
    pub(crate) keys: How,
    pub(crate) text_bytes: usize,
    pub(crate) key_bytes: usize,
    pub(crate) nonce_bytes: usize,
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

/// What is done to messages.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Job {
    Seal,
    Open,
    /// Counter mode by itself, over each text in its place.
    Ctr,
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
    /// Keys and plaintexts are fixed or drawn; tags are right.
    Secrets,
    /// Tags are wrong in the first byte or in the last one.
    WrongByte,
    /// In nothing.
    Nothing,
    /// As secrets do, and a loop runs as often as the first key has bits set.
    LoopByKey,
    /// As wrong bytes do, and a comparison stops at the first byte that differs.
    EarlyExit,
    /// In nothing but that one class takes so many cycles more.
    Delay(u64),
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

/// A delay of so many cycles in a batch.
pub(crate) fn delayed(cycles: u64) -> Case {
    Case { what: "planted: a delay", kind: Kind::Planted, differ: Differ::Delay(cycles), ..SEAL }
}

const SEAL: Case = Case {
    what: "seal 128 B, one key",
    kind: Kind::Asked,
    job: Job::Seal,
    keys: How::One,
    text_bytes: 128,
    key_bytes: 16,
    nonce_bytes: 12,
    differ: Differ::Secrets,
};
const OPEN: Case = Case { what: "open 128 B, one key", job: Job::Open, ..SEAL };
const WRONG: Case = Case { what: "open 128 B, wrong tags", differ: Differ::WrongByte, ..OPEN };
const CTR: Case = Case { what: "counter mode, 128 B", job: Job::Ctr, nonce_bytes: 16, ..SEAL };

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
        ..WRONG
    },
    Case { what: "the same class twice", kind: Kind::Same, differ: Differ::Nothing, ..SEAL },
    SEAL,
    Case { what: "seal 128 B, one key, AES-192", key_bytes: 24, ..SEAL },
    Case { what: "seal 128 B, a cached key each, AES-256", keys: How::Each, key_bytes: 32, ..SEAL },
    Case { what: "seal 240 B, a cached key each", keys: How::Each, text_bytes: 240, ..SEAL },
    Case { what: "seal 128 B, a raw key each", keys: How::Raw, ..SEAL },
    Case { what: "seal 128 B, a raw key each, AES-192", keys: How::Raw, key_bytes: 24, ..SEAL },
    Case { what: "seal 128 B, a raw key each, AES-256", keys: How::Raw, key_bytes: 32, ..SEAL },
    Case { what: "seal 500 B, a raw key each", keys: How::Raw, text_bytes: 500, ..SEAL },
    Case { what: "seal 128 B, nonces of 16 B", nonce_bytes: 16, ..SEAL },
    Case { what: "seal 1,420 B, one key, AES-256", text_bytes: 1_420, key_bytes: 32, ..SEAL },
    OPEN,
    Case { what: "open 128 B, a cached key each, AES-192", keys: How::Each, key_bytes: 24, ..OPEN },
    Case { what: "open 240 B, a raw key each", keys: How::Raw, text_bytes: 240, ..OPEN },
    Case { what: "open 1,420 B, a raw key each", keys: How::Raw, text_bytes: 1_420, ..OPEN },
    Case { what: "open 128 B, nonces of 60 B", nonce_bytes: 60, ..OPEN },
    Case { what: "open 1,420 B, one key, AES-256", text_bytes: 1_420, key_bytes: 32, ..OPEN },
    WRONG,
    Case { what: "open 128 B, a cached key each, wrong tags", keys: How::Each, ..WRONG },
    Case {
        what: "open 240 B, a raw key each, wrong tags",
        keys: How::Raw,
        text_bytes: 240,
        ..WRONG
    },
    Case { what: "open 1,420 B, wrong tags", text_bytes: 1_420, ..WRONG },
    CTR,
    Case { what: "counter mode, 1,420 B, AES-192", text_bytes: 1_420, key_bytes: 24, ..CTR },
];
