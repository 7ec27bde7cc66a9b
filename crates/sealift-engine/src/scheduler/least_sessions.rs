use super::policy::{Asked, Choice, NamedPolicy, Policy, Reach};
use super::quote::Because;
use super::without_settings;
use crate::DeviceId;
use sealift_core::SessionId;
use std::collections::{HashMap, VecDeque};

pub(super) const LEAST_SESSIONS: NamedPolicy = NamedPolicy {
    name: "least-sessions",
    summary: "binds each session to the device with the fewest of them, as OCF does",
    make: |spec| without_settings(spec, LeastSessions::default()),
};

/// A session stays where it was first worked. While that device is full a batch goes to the next one,
/// and the session stays; once it is down the session moves.
///
/// A batch of several sessions goes where its first one is.
#[derive(Clone, Debug, Default)]
struct LeastSessions {
    homes: HashMap<SessionId, DeviceId>,
    oldest: VecDeque<SessionId>,
    counts: HashMap<DeviceId, usize>,
}

impl Policy for LeastSessions {
    fn name(&self) -> &'static str {
        LEAST_SESSIONS.name
    }

    fn reach(&self) -> Reach {
        Reach::Few
    }

    fn bound(&self, session: SessionId) -> Option<DeviceId> {
        self.homes.get(&session).copied()
    }

    fn choose(&mut self, asked: &Asked<'_>) -> Choice {
        let fewest = self.fewest(asked);
        let Some(session) = asked.session else {
            return Choice { device: fewest, because: Because::FewestSessions };
        };
        match self.homes.get(&session) {
            Some(home) if asked.of(*home).is_some() => {
                Choice { device: *home, because: Because::Bound }
            }
            // It is up; only this batch can't be worked there now.
            Some(home) if asked.full.contains(home) || asked.tried.contains(home) => {
                Choice { device: fewest, because: Because::Next }
            }
            known => {
                let moves = known.copied();
                self.bind(session, moves, fewest);
                Choice { device: fewest, because: Because::FewestSessions }
            }
        }
    }
}

impl LeastSessions {
    fn fewest(&self, asked: &Asked<'_>) -> DeviceId {
        #[expect(clippy::cast_precision_loss, reason = "sessions are far under 2^52")]
        let count = |device| self.counts.get(&device).copied().unwrap_or(0) as f64;
        asked.least(|candidate| count(candidate.device)).device
    }

    fn bind(&mut self, session: SessionId, from: Option<DeviceId>, to: DeviceId) {
        if let Some(from) = from {
            self.uncount(from);
        } else {
            self.oldest.push_back(session);
        }
        self.homes.insert(session, to);
        *self.counts.entry(to).or_default() += 1;
        // Sessions are dropped without a word to the policy, so the oldest ones are forgotten.
        if self.oldest.len() > SESSIONS_MAX
            && let Some(forgotten) = self.oldest.pop_front()
            && let Some(home) = self.homes.remove(&forgotten)
        {
            self.uncount(home);
        }
    }

    fn uncount(&mut self, device: DeviceId) {
        if let Some(count) = self.counts.get_mut(&device) {
            *count -= 1;
        }
    }
}

/// Bounds the memory of an engine that lives for years.
const SESSIONS_MAX: usize = 1 << 20;
