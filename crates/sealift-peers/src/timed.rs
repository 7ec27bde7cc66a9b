//! Anything made of parts as an arm.

use crate::messages::{CHECKERS, PreparedMessages};
use sealift_probes::{Arm, ArmError, Crew, Done, Part, Sample, Verified};

/// Parts that work at the same time, one a thread.
pub struct Timed<P> {
    crew: Crew,
    parts: Vec<P>,
    detail: String,
    verified: Verified,
}

impl<P: Part> Timed<P> {
    /// Works everything once, which checks it and tells how long it takes.
    ///
    /// # Errors
    /// Something failed or was wrong.
    pub fn prepare(detail: String, parts: Vec<P>) -> Result<Self, ArmError> {
        let checkers = CHECKERS.iter().map(|name| (*name).to_owned()).collect();
        Self::verified_by(Verified::Against(checkers), detail, parts)
    }

    /// The same for what makes nothing that could be checked.
    ///
    /// # Errors
    /// Something failed.
    pub fn unchecked(detail: String, parts: Vec<P>) -> Result<Self, ArmError> {
        Self::verified_by(Verified::NothingToCheck, detail, parts)
    }

    fn verified_by(
        verified: Verified,
        detail: String,
        mut parts: Vec<P>,
    ) -> Result<Self, ArmError> {
        let mut crew = Crew::of(parts.len());
        crew.run(&mut parts, 1)?;
        Ok(Self { crew, parts, detail, verified })
    }
}

impl<P: Part> Arm for Timed<P> {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let times = self.crew.times_for(seconds);
        self.crew.run(&mut self.parts, times)
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![]
    }
}

/// What working all messages so many times amounts to.
pub(crate) fn done(messages: &[PreparedMessages], times: usize) -> Done {
    let sum = |of: fn(&PreparedMessages) -> usize| {
        (messages.iter().map(of).sum::<usize>() * times) as u64
    };
    Done { operations: sum(PreparedMessages::len), bytes: sum(PreparedMessages::text_bytes) }
}
