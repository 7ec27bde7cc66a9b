use super::SimulationError;
use super::random::Random;
use sealift_core::{Op, SlotTag, SlotText, Status, Work};
use std::ops::Range;

/// What goes wrong with one job of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JobFault {
    /// It ends with an error, after its time.
    Fail,
    /// It never completes and keeps its slot; the worker goes on with the next one. On the calling
    /// thread, which can't be left hanging, it is an error.
    Hang,
    /// It takes so many times as long, and so may come back after it was given up.
    Late {
        /// How many times as long; at least 1.
        times: f64,
    },
    /// One bit of one message is wrong and its status says nothing of it. Where there is no result to
    /// be wrong (a verify, an open that fails) the verdict is the opposite.
    Wrong,
}

/// When a machine does what it should not. Faults of all kinds may come together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPlan {
    listed: Vec<(u64, JobFault)>,
    shares: Vec<(f64, JobFault)>,
    full: Vec<Range<u64>>,
    slow: Vec<(u64, f64)>,
    die_at_ns: Option<u64>,
}

impl FaultPlan {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self::default()
    }

    /// This happens to the job that the machine takes as number `job`, counted from 0.
    pub fn on_job(mut self, job: u64, fault: JobFault) -> Self {
        self.listed.push((job, fault));
        self
    }

    /// This happens to any job with the probability `share`, drawn from the machine's seed.
    pub fn on_share(mut self, share: f64, fault: JobFault) -> Self {
        self.shares.push((share, fault));
        self
    }

    /// It refuses every job as full for this time, although it has slots. It rings when that is over.
    pub fn full(mut self, during_ns: Range<u64>) -> Self {
        self.full.push(during_ns);
        self
    }

    /// Jobs that start at this time or later take so many times as long; at least 1. Several such times
    /// multiply.
    pub fn slow_from(mut self, from_ns: u64, times: f64) -> Self {
        self.slow.push((from_ns, times));
        self
    }

    /// It dies at this time: jobs in flight are gone without a word, further ones are refused as broken.
    pub fn die_at(mut self, at_ns: u64) -> Self {
        self.die_at_ns = Some(self.die_at_ns.map_or(at_ns, |earlier| earlier.min(at_ns)));
        self
    }

    /// What happens to one job.
    pub(super) fn draw(&self, job: u64, random: &mut Random) -> Fate {
        let mut fate = Fate { times: 1.0, ..Fate::default() };
        let listed = self.listed.iter().filter(|(at, _)| *at == job);
        listed.for_each(|(_, fault)| fate.add(*fault));
        for (share, fault) in &self.shares {
            if random.happens(*share) {
                fate.add(*fault);
            }
        }
        fate
    }

    /// How many times as long a job takes that starts then.
    pub(super) fn slowed(&self, start_ns: u64) -> f64 {
        self.slow.iter().filter(|(from, _)| *from <= start_ns).map(|(_, times)| times).product()
    }

    /// Until when it pretends to be full, if it does.
    pub(super) fn full_until(&self, now_ns: u64) -> Option<u64> {
        let during = self.full.iter().filter(|during| during.contains(&now_ns));
        during.map(|during| during.end).max()
    }

    pub(super) fn die_at_ns(&self) -> u64 {
        self.die_at_ns.unwrap_or(u64::MAX)
    }

    pub(super) fn check(&self) -> Result<(), SimulationError> {
        for (share, _) in &self.shares {
            SimulationError::range("share of faults", *share, 0.0, 1.0)?;
        }
        let faults = self.listed.iter().map(|(_, fault)| fault);
        let late = faults.chain(self.shares.iter().map(|(_, fault)| fault)).filter_map(|fault| {
            if let JobFault::Late { times } = fault { Some(*times) } else { None }
        });
        for times in late.chain(self.slow.iter().map(|(_, times)| *times)) {
            SimulationError::range("times as long", times, 1.0, f64::MAX)?;
        }
        match self.full.iter().find(|during| during.is_empty()) {
            Some(Range { start, end }) => {
                Err(SimulationError::Backwards { what: "full", from: *start, to: *end })
            }
            None => Ok(()),
        }
    }
}

/// How often a machine did what it should not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Jobs that ended with an error.
    pub failed: u64,
    /// Jobs that never complete.
    pub hung: u64,
    /// Jobs that a fault of their own made longer.
    pub late: u64,
    /// Jobs with a wrong bit or verdict that said nothing of it.
    pub wrong: u64,
    /// Jobs that took longer because the machine had slowed down.
    pub slowed: u64,
    /// Jobs that took longer because other machines worked on the same cores.
    pub contended: u64,
    /// Jobs in flight when the machine died.
    pub lost: u64,
    /// Jobs refused as full although there was a slot.
    pub refused_full: u64,
    /// Jobs refused because the machine was dead.
    pub refused_broken: u64,
}

impl FaultCounts {
    /// Everything that went wrong.
    pub fn all(&self) -> u64 {
        let Self { failed, hung, late, wrong, slowed, contended, .. } = self;
        let Self { lost, refused_full, refused_broken, .. } = self;
        failed + hung + late + wrong + slowed + contended + lost + refused_full + refused_broken
    }
}

/// What happens to one job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fate {
    pub(super) fails: bool,
    pub(super) hangs: bool,
    pub(super) wrong: bool,
    pub(super) times: f64,
}

impl Fate {
    fn add(&mut self, fault: JobFault) {
        match fault {
            JobFault::Fail => self.fails = true,
            JobFault::Hang => self.hangs = true,
            JobFault::Wrong => self.wrong = true,
            JobFault::Late { times } => self.times *= times,
        }
    }
}

/// Flips one bit of a result, or turns the verdict round where there is none.
pub(super) fn spoil(work: &mut Work<'_>, [which, bit]: [u64; 2]) {
    let pick = |bits: u64, of: usize| usize::try_from(bits % of.max(1) as u64).unwrap_or(0);
    let message = pick(which, work.len());
    let status = work.statuses()[message];
    let slot = work.slot(message);
    let mut results: [&mut [u8]; 2] = [&mut [], &mut []];
    if status == Status::Ok && slot.op != Op::Verify {
        match slot.text {
            SlotText::Apart { output, .. } => results[0] = output,
            SlotText::InPlace(text) => results[0] = text,
            SlotText::Read(_) => {}
        }
        if let SlotTag::Write(tag) = slot.tag {
            results[1] = tag;
        }
    }
    let bits = 8 * (results[0].len() + results[1].len());
    let at = pick(bit, bits);
    if let Some(byte) = results.into_iter().flatten().nth(at / 8) {
        *byte ^= 1 << (at % 8);
        return;
    }
    let opposite = if status == Status::Ok { Status::AuthFailed } else { Status::Ok };
    work.set_status(message, opposite);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_gets_what_is_listed_for_it_and_its_share_of_the_rest() {
        let late = JobFault::Late { times: 3.0 };
        let plan = FaultPlan::none().on_job(2, JobFault::Fail).on_job(2, late).on_share(0.25, late);
        let mut random = Random::new(1);
        let fates: Vec<_> = (0..10_000).map(|job| plan.draw(job, &mut random)).collect();
        assert!(fates[2].fails && fates[2].times >= 3.0);
        assert_eq!(fates.iter().filter(|fate| fate.fails).count(), 1);
        let late = fates.iter().filter(|fate| fate.times > 1.0).count();
        assert!((2_300..2_700).contains(&late), "{late}");
    }

    #[test]
    fn times_decide_what_is_slow_and_what_is_full() {
        let plan = FaultPlan::none().slow_from(10, 2.0).slow_from(20, 3.0).full(5..9).full(7..12);
        assert_eq!([9, 10, 20].map(|start_ns| plan.slowed(start_ns)), [1.0, 2.0, 6.0]);
        let until = [4, 5, 8, 11, 12].map(|now_ns| plan.full_until(now_ns));
        assert_eq!(until, [None, Some(9), Some(12), Some(12), None]);
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused_by_name() {
        let refused = |plan: FaultPlan| plan.check().unwrap_err().to_string();
        assert!(refused(FaultPlan::none().on_share(1.5, JobFault::Fail)).contains("share"));
        for times in [0.5, f64::NAN] {
            let late = JobFault::Late { times };
            assert!(refused(FaultPlan::none().on_job(1, late)).contains("times as long"));
            assert!(refused(FaultPlan::none().slow_from(1, times)).contains("times as long"));
        }
        let backwards = Range { start: 9, end: 5 };
        assert!(refused(FaultPlan::none().full(backwards)).contains("9 to 5"));
    }
}
