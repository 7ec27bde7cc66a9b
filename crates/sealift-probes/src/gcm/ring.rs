//! The keys of an arm.

use super::wish::Wish;
use super::{ArmSpec, Regime};
use crate::ArmError;
use crate::random::Random;
use sealift::{Engine, Key, Keys, SessionId};

const KEY_STREAM: u64 = 0;
/// Installing so many takes about ten milliseconds.
const KEYS_A_LOOK: usize = 16_384;

/// The installed keys of an arm, which all its threads share.
pub(crate) struct Ring {
    keys: Vec<Key>,
    sessions: Vec<sealift::Session>,
    seals_max: u64,
    sealed_max: u64,
}

/// Which key of the ring each message takes; nothing when keys are fresh.
pub(crate) type KeyOf = Option<Vec<u32>>;

impl Ring {
    /// Installs the keys of a spec and deals them out to its messages.
    pub(crate) fn install(
        engine: &Engine,
        spec: &ArmSpec,
        seals_max: u64,
        wish: &mut Wish<'_>,
    ) -> Result<(Self, KeyOf), ArmError> {
        let (raw_keys, key_of) = spec.installed();
        let mut keys = vec![];
        for bytes in raw_keys {
            keys.push(Key::new(&bytes).map_err(|error| ArmError::Spec {
                what: "a key",
                value: bytes.len().to_string(),
                right: error.to_string(),
            })?);
        }
        let mut ring = Self { keys, sessions: vec![], seals_max, sealed_max: 0 };
        ring.renew(engine, wish)?;
        Ok((ring, key_of))
    }

    /// Counts `seals` more under the busiest key; false when that would be too many for it.
    pub(crate) fn count(&mut self, seals: u64) -> bool {
        if self.keys.is_empty() {
            return true;
        }
        self.sealed_max += seals;
        self.sealed_max <= self.seals_max
    }

    /// Puts new sessions in the place of those that may not seal any more.
    ///
    /// The keys stay the same, as do the messages: what is sealed again and again here never
    /// leaves this process.
    pub(crate) fn renew(&mut self, engine: &Engine, wish: &mut Wish<'_>) -> Result<(), ArmError> {
        let mut sessions = Vec::with_capacity(self.keys.len());
        for keys in self.keys.chunks(KEYS_A_LOOK) {
            wish.check()?;
            for key in keys {
                sessions.push(engine.session_with_limit(key.clone(), self.seals_max)?);
            }
        }
        self.sessions = sessions;
        self.sealed_max = 0;
        Ok(())
    }

    /// The column of keys for some messages.
    pub(crate) fn column(&self, key_of: &[u32]) -> Keys<'static> {
        let session = |key: &u32| self.sessions[*key as usize].id();
        match key_of.split_first() {
            Some((first, rest)) if rest.iter().all(|key| key == first) => session(first).into(),
            _ => key_of.iter().map(session).collect::<Vec<SessionId>>().into(),
        }
    }
}

impl ArmSpec {
    /// The raw keys to install, and which of them each message takes; nothing when keys are fresh.
    #[must_use]
    pub fn installed(&self) -> (Vec<Vec<u8>>, Option<Vec<u32>>) {
        let shares = match self.regime {
            Regime::One => self.key_lengths().iter().map(|(bytes, _)| (*bytes, 1)).collect(),
            Regime::Sessions(sessions) => shares(&self.key_lengths(), sessions),
            Regime::Fresh => return (vec![], None),
        };
        let mut random = Random::new(self.seed, KEY_STREAM);
        let lengths = shares.iter().flat_map(|(bytes, count)| vec![usize::from(*bytes); *count]);
        let keys = lengths.map(|bytes| random.bytes(bytes)).collect();
        (keys, Some(deal(&self.columns.key_bytes, &shares)))
    }
}

/// Shares sessions out by the number of messages of each key length; everyone gets one, and nobody
/// more than it has messages, so that all are used.
fn shares(lengths: &[(u8, usize)], sessions: usize) -> Vec<(u8, usize)> {
    // What is left after one for each goes by the messages left after one for each.
    let spare = (sessions - lengths.len()) as u128;
    let messages: u128 = lengths.iter().map(|(_, count)| *count as u128 - 1).sum();
    let (mut passed, mut dealt) = (0, 0);
    let mut shares = vec![];
    for (bytes, count) in lengths {
        passed += *count as u128 - 1;
        let upto = (spare * passed).checked_div(messages).unwrap_or(0);
        let share = usize::try_from(upto - dealt).unwrap_or(*count - 1);
        dealt = upto;
        shares.push((*bytes, 1 + share));
    }
    shares
}

/// Gives each message the next key of its length.
#[expect(clippy::cast_possible_truncation, reason = "a spec has at most 2^32 - 1 sessions")]
fn deal(key_bytes: &[u8], shares: &[(u8, usize)]) -> Vec<u32> {
    let mut first = 0;
    let mut places = vec![];
    for (bytes, count) in shares {
        places.push((*bytes, first, *count, 0));
        first += count;
    }
    let mut next = |bytes: u8| {
        let place = places.iter_mut().find(|place| place.0 == bytes);
        place.map_or(0, |(_, first, count, used)| {
            let key = *first + *used % *count;
            *used += 1;
            key as u32
        })
    };
    key_bytes.iter().map(|bytes| next(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_shared_out_by_messages_and_all_are_used_in_turn() {
        assert_eq!(shares(&[(16, 50), (32, 50)], 8), [(16, 4), (32, 4)]);
        assert_eq!(shares(&[(16, 1), (24, 1), (32, 1)], 3), [(16, 1), (24, 1), (32, 1)]);
        assert_eq!(shares(&[(16, 1), (32, 1_000_000)], 2), [(16, 1), (32, 1)]);
        for lengths in [[(16, 341), (24, 342), (32, 341)], [(16, 1), (24, 1), (32, 1_022)]] {
            for sessions in [3, 4, 100, 1_023, 1_024] {
                let shares = shares(&lengths, sessions);
                assert_eq!(shares.iter().map(|(_, share)| share).sum::<usize>(), sessions);
                for ((_, share), (_, messages)) in shares.iter().zip(&lengths) {
                    assert!((1..=*messages).contains(share), "{shares:?} of {lengths:?}");
                }
            }
        }
        assert_eq!(deal(&[16, 32, 16, 16, 32], &[(16, 2), (32, 3)]), [0, 2, 1, 0, 3]);
    }
}
