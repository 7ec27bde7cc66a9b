//! Frames as an arm: what is timed again and again.

use super::near::Near;
use super::setup::Finished;
use super::trips::Trips;
use super::{BATCH_MAX, FRAME_BYTES_MAX, FRAME_BYTES_MIN, FrameSpec};
use crate::crew::Crew;
use crate::{Arm, ArmError, Sample, Verified};

/// Frames exchanged with a process of its own, every byte of them compared where they arrive.
///
/// Dropping it ends that process. An operation is a frame, of either direction.
pub struct FramesArm {
    near: Near,
    crew: Crew,
    verified: Verified,
    detail: String,
}

impl FramesArm {
    /// Starts the far process and exchanges the first frames with it.
    ///
    /// # Errors
    /// A spec that can't be; what the rules forbid; the process can't be started or doesn't answer; the
    /// system refuses this way; a wrong frame.
    pub fn prepare(spec: &FrameSpec) -> Result<Self, ArmError> {
        Self::prepare_while(spec, &mut || true)
    }

    /// The same, asking while the process starts whether that is still wanted.
    ///
    /// # Errors
    /// As above; [`ArmError::Stopped`].
    pub fn prepare_while(
        spec: &FrameSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let (least, most) = (FRAME_BYTES_MIN, FRAME_BYTES_MAX);
        ArmError::check("bytes of a frame", spec.frame_bytes, least, most)?;
        ArmError::check("frames at once", spec.batch, 1, BATCH_MAX)?;
        ArmError::check("bytes at once", spec.frame_bytes * spec.batch, least, most)?;
        let mut crew = Crew::of(2);
        let mut near = Near::start(spec, crew.cores(), wanted)?;
        // Gives the pace, and every slot of a ring its pages.
        let hands = (WARM_UP_BYTES / near.form.hand_bytes()).clamp(WARM_UP_MIN, WARM_UP_MAX);
        for hands in [2, hands] {
            crew.run(std::slice::from_mut(&mut near), hands)?;
        }
        near.trips = Trips::default();
        let detail = near.detail(crew.cores());
        let verified = Verified::Against(vec![CHECKED_AGAINST.to_owned()]);
        Ok(Self { near, crew, verified, detail })
    }

    /// How long single round trips took, for people; empty for a stream.
    #[must_use]
    pub fn round_trips(&self) -> String {
        self.near.trips.told()
    }

    /// The same in nanoseconds: what so many of a thousand round trips took at most.
    #[must_use]
    pub fn round_trip_ns(&self, per_mille: u64) -> u64 {
        self.near.trips.quantile_ns(per_mille)
    }

    /// The process at the other end.
    #[must_use]
    pub fn far_pid(&self) -> u32 {
        self.near.process.pid()
    }
}

impl Arm for FramesArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let hands = self.crew.times_for(seconds);
        let sample = self.crew.run(std::slice::from_mut(&mut self.near), hands)?;
        let Finished { switches, cpu_share } = self.near.finished;
        // Who doesn't spin sleeps by design: its share of the time says nothing.
        let share = if self.near.spins { cpu_share.min(sample.cpu_share) } else { 1.0 };
        let involuntary_switches = sample.involuntary_switches + switches;
        Ok(Sample { involuntary_switches, cpu_share: share, ..sample })
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
        vec![
            ("frames_checked", self.near.confirmed * self.near.pattern.directions()),
            ("round_trips_timed", self.near.trips.timed()),
        ]
    }

    fn told(&self) -> Vec<(&'static str, String)> {
        vec![("round_trip", self.round_trips())]
    }
}

const CHECKED_AGAINST: &str = "the seed, every byte of every frame";
/// All slots of a ring come up, however few or many there are.
const WARM_UP_BYTES: usize = 2 << 20;
const WARM_UP_MIN: usize = 8;
const WARM_UP_MAX: usize = 128;
