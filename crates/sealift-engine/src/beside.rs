//! One batch on the cores and on another device at the same time.

use crate::Report;
use crate::cores::{RunError, Stop};
use crate::parts::both;
use crate::run::{Arrival, DecidedHere, Failure, Lesson};
use crate::scheduler::{Beside, Decision, Standing};
use crate::shared::Shared;
use sealift_core::Work;
use std::num::NonZeroUsize;
use std::thread;

impl Shared {
    /// Works a batch on two devices, each its share of the messages: the calling thread and its helpers on the cores, and a
    /// thread that waits for the other device. None where that can't be done now, and nothing is then.
    #[inline(never)]
    pub(crate) fn run_beside(
        &self,
        work: &mut Work<'_>,
        beside: &Beside,
        threads: Option<NonZeroUsize>,
        stop: Option<Stop<'_>>,
        at: Arrival<'_>,
    ) -> Option<Result<Report, Failure>> {
        // What is predicted is so for a device that has nothing else to do.
        let _alone = self.beside.try_lock().ok()?;
        let &Beside { on_cores, other, share } = beside;
        let [first, second] = work.cut_in_two(1.0 - share)?;
        let (here_goes, there_goes) = (on_cores.of_share(1.0 - share), other.of_share(share));
        let decided = move |decision: Decision, is_timed| DecidedHere {
            decision: Standing::new(decision),
            at_ns: at.arrived_ns,
            lesson: Lesson::Whole { is_timed },
            beside: None,
        };
        let (here, there) = thread::scope(|scope| {
            let wait = move || {
                let one = Some(NonZeroUsize::MIN);
                second.run(|work| {
                    let mut report = Report::OF_NOTHING;
                    let decided = decided(there_goes, false);
                    self.run_learnt(work, &decided, one, None, at, &mut report)?;
                    Ok((report, *work.shape()))
                })
            };
            let named = thread::Builder::new().name("sealift-beside".to_owned());
            let waiting = named.spawn_scoped(scope, wait).ok()?;
            self.lock().scheduler.chose_both(beside, self.clock.now_ns());
            let here = first.run(|work| {
                let mut report = Report::OF_NOTHING;
                let decided = decided(here_goes, true);
                self.run_learnt(work, &decided, threads, stop, at, &mut report)?;
                Ok((report, *work.shape()))
            });
            let panicked = |_| {
                let reason = "the thread that waited for it has panicked".to_owned();
                Err(Failure {
                    device: other.device,
                    error: self.failure(other.device, reason).into(),
                })
            };
            Some((here, waiting.join().unwrap_or_else(panicked)))
        })?;
        Some(both_worked(here, there).map(|both_worked| {
            let [(here, shape_here), (there, shape_there)] = both_worked;
            self.record_worked(&here_goes, &shape_here, &here, at);
            self.record_worked(&there_goes, &shape_there, &there, at);
            both(here, there)
        }))
    }
}

/// Only where both have results do these count. A device that failed counts before a stop, so that what it left is wiped.
fn both_worked<T>(here: Result<T, Failure>, there: Result<T, Failure>) -> Result<[T; 2], Failure> {
    match (here, there) {
        (Ok(here), Ok(there)) => Ok([here, there]),
        (Err(Failure { error: RunError::Stopped, .. }) | Ok(_), Err(failure))
        | (Err(failure), _) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::both_worked;
    use crate::DeviceId;
    use crate::cores::RunError;
    use crate::run::Failure;
    use sealift_core::DeviceError;

    #[test]
    fn a_device_that_failed_counts_before_a_stop() {
        let stopped = || Err(Failure { device: DeviceId(0), error: RunError::Stopped });
        let failed = || {
            let reason = "it broke".to_owned();
            let error = DeviceError::Failed { device: "far".to_owned(), reason };
            Err(Failure { device: DeviceId(1), error: error.into() })
        };
        for (here, there) in [(stopped(), failed()), (failed(), stopped()), (Ok(()), failed())] {
            assert!(matches!(
                both_worked(here, there),
                Err(Failure { error: RunError::Device(_), .. })
            ));
        }
        let here_only = both_worked(stopped(), Ok(()));
        assert!(matches!(here_only, Err(Failure { error: RunError::Stopped, .. })));
        assert!(both_worked(Ok(1), Ok(2)).is_ok_and(|both| both == [1, 2]));
    }
}
