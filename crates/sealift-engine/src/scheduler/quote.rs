//! What devices quote for a batch, and what came of asking.

use crate::DeviceId;
use sealift_core::Cost;
use std::fmt;

/// A device that can take a batch now, and what it would cost there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Which device.
    pub device: DeviceId,
    /// Until the results are there, from now on, in nanoseconds: waiting, handing over and working.
    pub finish_ns: f64,
    /// Of it, working, or where several threads share it what one would take.
    pub work_ns: f64,
    /// How much shorter the work would be if the device were as fast as before it became slower.
    pub saved_ns: f64,
    /// Time of the host's processors that it takes.
    pub host_ns: f64,
    /// What the device's batches cost, as far as is known.
    pub cost: Cost,
    /// Batches it holds.
    pub in_flight: usize,
    /// Whether it would be worked on the calling thread.
    pub here: bool,
    /// Since when the device has not been given a batch.
    pub idle_since_ns: u64,
    /// Work that others were given since then, as predicted, in nanoseconds.
    pub missed_ns: f64,
    /// How long after its last batch it may be tried again, in nanoseconds.
    pub trial_gap_ns: u64,
    /// Whether it is in the middle of a trial.
    pub on_trial: bool,
    /// Whether another device on the same cores works such a batch faster: together they would be no faster.
    pub is_outdone: bool,
    /// Whether a batch of it was ever measured.
    pub is_measured: bool,
}

/// Why a device got a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Because {
    /// The caller named it.
    Named,
    /// No other device takes the batch now.
    OnlyOne,
    /// It is its turn.
    Turn,
    /// The session is bound to it.
    Bound,
    /// The session was bound to it just now: it has the fewest.
    FewestSessions,
    /// Its messages are shorter than the threshold.
    Small,
    /// Its messages are as long as the threshold, or longer.
    Large,
    /// The first in order.
    First,
    /// Those before it in order are down or full.
    Next,
    /// It is predicted to finish first.
    EarliestFinish,
    /// It is predicted to take the least time of the host's processors.
    LeastHost,
    /// It has not been tried for so long that its costs may have changed.
    Explored,
    /// A part that is predicted to end together with the others.
    Part,
    /// Every device is down; this one is tried first again.
    LastResort,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "it was named",
            Self::OnlyOne => "no other device takes this batch now",
            Self::Turn => "it was its turn",
            Self::Bound => "the session is bound to it",
            Self::FewestSessions => "it has the fewest sessions, so this one was bound to it",
            Self::Small => "messages are shorter than the threshold",
            Self::Large => "messages are not shorter than the threshold",
            Self::First => "it is the first in order",
            Self::Next => "those before it in order are down or full",
            Self::EarliestFinish => "it is predicted to finish first",
            Self::LeastHost => "it is predicted to take the least host CPU",
            Self::Explored => "it has not been tried for long",
            Self::Part => "parts are predicted to end together",
            Self::LastResort => "every device is down, and this one is due first",
        })
    }
}

/// Which device got a batch, and what it went by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The winner.
    pub device: DeviceId,
    /// Why.
    pub because: Because,
    /// What it was predicted to take from then on, in nanoseconds.
    pub predicted_ns: f64,
    /// What it was predicted to take one thread that works it alone.
    pub(crate) work_ns: f64,
    /// Whether it was worked on the calling thread.
    pub here: bool,
    /// The quotes of up to [`Decision::QUOTES_MAX`] devices that were asked.
    quotes: [Quoted; Decision::QUOTES_MAX],
    /// How many were asked.
    pub asked: usize,
}

/// What would become of a batch now.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Who would get it, and why.
    pub decision: Decision,
    /// Everyone who was asked, with what they quoted; a device that may also work the batch on the
    /// calling thread stands there twice.
    pub candidates: Vec<Candidate>,
    /// Into how many messages for whom a submitted batch would be cut, in its order; none where it stays
    /// whole.
    pub parts: Option<Vec<(DeviceId, usize)>>,
}

impl Decision {
    /// So many quotes are kept of each batch; of a larger pool those of the first ones.
    pub const QUOTES_MAX: usize = 8;

    #[cfg(test)]
    pub(crate) fn named(device: DeviceId) -> Self {
        let (because, quotes) = (Because::Named, [NOT_ASKED; Self::QUOTES_MAX]);
        Self { device, because, predicted_ns: 0.0, work_ns: 0.0, here: true, quotes, asked: 1 }
    }

    pub(crate) fn new(winner: &Candidate, because: Because, asked: &[Candidate]) -> Self {
        let mut quotes = [NOT_ASKED; Self::QUOTES_MAX];
        for (kept, candidate) in quotes.iter_mut().zip(asked) {
            let device = u32::try_from(candidate.device.0).unwrap_or(u32::MAX);
            #[expect(clippy::cast_possible_truncation, reason = "for people, to seven digits")]
            let finish_ns = candidate.finish_ns as f32;
            *kept = Quoted { device, finish_ns };
        }
        Self {
            device: winner.device,
            because,
            predicted_ns: winner.finish_ns,
            work_ns: winner.work_ns,
            here: winner.here,
            quotes,
            asked: asked.len(),
        }
    }

    /// The same for so much of the batch.
    pub(crate) fn of_share(self, share: f64) -> Self {
        let (predicted_ns, work_ns) = (self.predicted_ns * share, self.work_ns * share);
        Self { predicted_ns, work_ns, ..self }
    }

    /// The same decision with what its device quotes now.
    pub(super) fn as_quoted(self, candidates: &[Candidate]) -> Self {
        match candidates.iter().find(|candidate| candidate.device == self.device) {
            Some(now) => Self { predicted_ns: now.finish_ns, work_ns: now.work_ns, ..self },
            None => self,
        }
    }

    /// Who was asked, and in how many nanoseconds each would have finished.
    pub fn quotes(&self) -> impl Iterator<Item = (DeviceId, f64)> + '_ {
        let asked = self.quotes.iter().filter(|quoted| quoted.device != NOT_ASKED.device);
        asked.map(|quoted| (DeviceId(quoted.device as usize), f64::from(quoted.finish_ns)))
    }
}

/// A quote that is kept: small, because every record has eight of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quoted {
    device: u32,
    finish_ns: f32,
}

const NOT_ASKED: Quoted = Quoted { device: u32::MAX, finish_ns: 0.0 };
