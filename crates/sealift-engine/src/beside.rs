//! One batch on the cores and on another device at the same time.

use crate::Report;
use crate::cores::Stop;
use crate::parts::both;
use crate::run::{Arrival, DecidedHere, Failure};
use crate::scheduler::{Beside, Decision};
use crate::shared::Shared;
use sealift_core::Work;
use std::num::NonZeroUsize;
use std::thread;

impl Shared {
    /// Works a batch on two devices, each its share of the messages: the calling thread and its helpers on the cores, and a
    /// thread that waits for the other device. None where that can't be done now, and nothing is then.
    pub(crate) fn run_beside(
        &self,
        work: &mut Work<'_>,
        beside: &Beside,
        threads: Option<NonZeroUsize>,
        stop: Option<Stop<'_>>,
        at: Arrival,
    ) -> Option<Result<Report, Failure>> {
        // What is predicted is so for a device that has nothing else to do.
        let _alone = self.beside.try_lock().ok()?;
        let &Beside { on_cores, other, share } = beside;
        let [first, second] = work.cut_in_two(1.0 - share)?;
        let decided = |decision: Decision, share, is_timed| DecidedHere {
            decision: decision.of_share(share),
            at_ns: at.arrived_ns,
            teaches: true,
            is_timed,
            beside: None,
        };
        thread::scope(|scope| {
            let there = decided(other, share, false);
            let wait = move || {
                let one = Some(NonZeroUsize::MIN);
                second.run(|work| self.run_recorded(work, &there, one, None, at))
            };
            let named = thread::Builder::new().name("sealift-beside".to_owned());
            let waiting = named.spawn_scoped(scope, wait).ok()?;
            let here = decided(on_cores, 1.0 - share, true);
            let here = first.run(|work| self.run_recorded(work, &here, threads, stop, at));
            let panicked = |_| {
                let reason = "the thread that waited for it has panicked".to_owned();
                let error = self.failure(other.device, reason).into();
                Err(Failure { decision: other, error, end: crate::End::Failed })
            };
            let there = waiting.join().unwrap_or_else(panicked);
            Some(here.and_then(|here| Ok(both(here, there?))))
        })
    }
}
