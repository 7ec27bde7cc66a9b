//! What each message of a batch is checked against: a session, and what it may seal on which terms.

use sealift_core::{Algorithm, Batch, NonceRule, SessionId};

#[derive(Clone, Copy)]
pub(super) struct Seat {
    /// The generation of the session, what its key is for, and in the last bit where the nonces of its seals come from,
    /// if it may seal any here.
    pub(super) owner: u64,
    /// How many messages its key may still seal here.
    pub(super) seals_left: u64,
}

impl Default for Seat {
    /// That of no session.
    fn default() -> Self {
        Self { owner: u64::MAX, seals_left: 0 }
    }
}

impl Seat {
    pub(super) fn owner(session: SessionId, terms: Terms) -> u64 {
        u64::from(session.generation) << 8 | (terms.algorithm as u64) << 1 | terms.nonces as u64
    }

    #[inline]
    pub(super) fn is_of(&self, session: SessionId) -> bool {
        self.owner >> 8 == u64::from(session.generation)
    }
}

/// Whether a session is known here and may seal so many messages more on these terms; then they are counted.
#[inline(always)]
pub(super) fn count(seats: &mut [Seat], session: SessionId, seals: u64, terms: Terms) -> bool {
    // Where nothing is sealed it doesn't matter where nonces come from.
    let differs = |owner: u64| (owner ^ Seat::owner(session, terms)) >> u32::from(seals == 0);
    match seats.get_mut(session.slot as usize) {
        Some(seat) if differs(seat.owner) == 0 && seat.seals_left >= seals => {
            seat.seals_left -= seals;
            true
        }
        _ => false,
    }
}

/// Where nonces come from. A session's seals have them all from one source, so that none comes from both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NonceSource {
    /// The caller.
    #[default]
    Caller,
    /// The session's counter.
    Counter,
}

/// What a batch is checked for against each of its sessions.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) algorithm: Algorithm,
    pub(super) nonces: NonceSource,
}

impl Terms {
    pub(super) fn of(batch: &Batch<'_>) -> Self {
        let nonces = match batch.nonce_rule {
            NonceRule::Counted => NonceSource::Counter,
            NonceRule::Standard | NonceRule::HazmatAnyLength => NonceSource::Caller,
        };
        Self { algorithm: batch.algorithm, nonces }
    }
}
