//! Another device with a planted slowdown, by which the lab proves that it notices one.

use super::PEERS;
use sealift::{
    Capabilities, Completion, Context, Cuts, Device, DeviceError, Driver, Job, OpenError, Probe,
    Refusal, Refused, Role, SessionId, Spec, Submission, Timing, Work, driver_among,
};
use std::hint::spin_loop;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The driver `slowed`: `slowed:percent=5(library)` is `library`, and after each batch it spins for 5 %
/// of the time that the batch took.
///
/// Such a device is of the driver that it wraps, for it computes with its code; and one that wraps a
/// null device is a null device too.
#[derive(Debug)]
pub struct Slowed;

impl Driver for Slowed {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "another device, slower by a share of its time: slowed:percent=5(library)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: "wraps another device".to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let (percent, inner) =
            read(spec).map_err(|reason| OpenError::Setting { device: spec.to_string(), reason })?;
        let inner = driver_among(PEERS, inner.driver())?.open(inner, context)?;
        let capabilities = Capabilities {
            name: spec.to_string(),
            role: role(inner.capabilities().role),
            detail: format!("{}, slower by {percent} %", inner.capabilities().detail),
            workers: 0,
            slots: 0,
            cuts: Cuts::Nothing,
            ..inner.capabilities().clone()
        };
        Ok(Arc::new(SlowedDevice {
            inner,
            capabilities,
            share: percent / 100.0,
            context: context.clone(),
        }))
    }
}

#[derive(Debug)]
struct SlowedDevice {
    inner: Arc<dyn Device>,
    capabilities: Capabilities,
    share: f64,
    context: Context,
}

impl Device for SlowedDevice {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let start = Instant::now();
        let timing = lengthen(self.share, || start.elapsed(), || self.inner.run(work))?;
        Ok(Timing { end_ns: self.context.clock.now_ns(), core_ns: None, ..timing })
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        Err(Refused { job, refusal: Refusal::Full { in_flight: 0, slots: 0 } })
    }

    fn poll(&self, _: &mut Vec<Completion>) {}

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }
}

/// Does the work, and waits for a share of the time that it took, whatever came of it.
fn lengthen<T>(share: f64, elapsed: impl Fn() -> Duration, work: impl FnOnce() -> T) -> T {
    let start = elapsed();
    let result = work();
    let took = elapsed() - start;
    let until = start + took + took.mul_f64(share);
    while elapsed() < until {
        spin_loop();
    }
    result
}

/// What becomes of the wrapped device's role.
fn role(inner: Role) -> Role {
    match inner {
        // It encrypts nothing, slowed or not: there is nothing to check.
        Role::Null => Role::Null,
        _ => Role::TestOnly,
    }
}

/// The percentage and the wrapped device.
fn read(spec: &Spec) -> Result<(f64, &Spec), String> {
    let inner = spec.wrapped(&["percent"]).map_err(|error| error.to_string())?;
    let text = spec.setting("percent").ok_or("write slowed:percent=5(library)")?;
    let percent = text.parse().ok().filter(|percent| (0.1..=1_000.0).contains(percent));
    let percent = percent.ok_or_else(|| format!("percent={text}: give 0.1 to 1000"))?;
    Ok((percent, inner))
}

const NAME: &str = "slowed";

#[cfg(test)]
mod tests {
    use super::lengthen;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn work_takes_its_share_longer_and_no_more() {
        for (share, whole) in [(0.05, 1_050), (1.0, 2_000), (10.0, 11_000)] {
            // A clock that goes on by one with each look at it.
            let now = Cell::new(70);
            let tick = |by| now.replace(now.get() + by);
            lengthen(share, || Duration::from_nanos(tick(1)), || tick(999));
            let took = now.get() - 70;
            assert!((whole..whole + 50).contains(&took), "{share}: {took}");
        }
    }
}
