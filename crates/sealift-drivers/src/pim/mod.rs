//! DPUs, simulated instruction by instruction: processors in the memory that they work on.
//!
//! Every byte of a result is computed by the DPUs' own instructions: key expansion, counter mode, hash, tag. What the
//! host does is what a host of real ones does: it lays messages out in their memories, starts them, reads results
//! back, and compares tags. Messages under any keys are spread over all tasklets of all DPUs; a long one that has
//! the DPUs for itself is cut into a part for each.
//!
//! Times of a batch are those that a system of such DPUs would take, and their origin is
//! [`Simulated`](sealift_core::Origin::Simulated); what copying took here is told beside them. Simulating takes far longer: an
//! engine that waits for large submitted batches has to be given the patience. [`Tally`] tells simulated and measured seconds apart.

mod bank;
mod library;
mod long;
mod many;
mod messages;
mod settings;
mod timed;
mod under;

pub use bank::Tally;
pub use timed::{Cipher, Run, Timed, Took};

use crate::workers::{self, Crew, Software};
use bank::Bank;
use messages::{Item, KeysOf, Round};
use sealift_core::{
    Capabilities, Clock, Context, Cuts, Device, DeviceError, Driver, OpenError, Origin, Probe,
    Resource, Role, SessionId, Spec, Timing, Work,
};
use sealift_kernels::stack::wipe_after;
use settings::Settings;
use std::sync::{Arc, Mutex, MutexGuard};

/// The driver `pim`: `pim:dpus=64` are 64 simulated DPUs of the system `upmem-640-266`.
///
/// | setting | meaning |
/// |---|---|
/// | `dpus=64` | how many, up to those of the system |
/// | `preset=upmem-2560-350` | the system: clock, transfers to and from the host |
/// | `tasklets=16` | threads of each DPU, 1 to 24 |
/// | `hazard=on` | registers that meet in one bank take longer |
///
/// By itself it is no device, so nothing is simulated that nobody asked for. Keys and texts are overwritten in
/// the simulated memories when a batch is worked.
#[derive(Debug)]
pub struct Pim;

impl Driver for Pim {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "DPUs in memory, simulated (dpus=, preset=, tasklets=, hazard=)"
    }

    fn probe(&self) -> Probe {
        Probe::Absent { reason: absence() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        Ok(open(spec, context)?.0)
    }
}

/// Opens a device and keeps an eye on what it does.
///
/// # Errors
/// No setting is given, or one is wrong.
pub fn open(spec: &Spec, context: &Context) -> Result<(Arc<dyn Device>, Watch), OpenError> {
    let device = || spec.to_string();
    if spec.to_string() == NAME {
        return Err(OpenError::Absent { device: device(), reason: absence() });
    }
    workers::only(spec, &["dpus", "preset", "tasklets", "hazard"])?;
    let settings =
        Settings::of(spec).map_err(|reason| OpenError::Setting { device: device(), reason })?;
    let capabilities = capabilities(spec, &settings);
    let dpus = Arc::new(Dpus { name: device(), settings, bank: Mutex::default() });
    let handle = Handle(Arc::clone(&dpus));
    Ok((workers::open(handle, capabilities, Crew::single(), context), Watch(dpus)))
}

/// What an open device does, told apart from its results.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Dpus>);

impl Watch {
    /// What it did since it was opened or released.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.0.lock().as_ref().map_or_else(Tally::default, |bank| bank.tally())
    }
}

fn capabilities(spec: &Spec, settings: &Settings) -> Capabilities {
    Capabilities {
        origin: Origin::Simulated,
        cuts: Cuts::Nothing,
        works_on: Resource::Own,
        cost: settings.cost(),
        text_bytes_max: TEXT_BYTES_MAX,
        ..workers::capabilities(spec, NAME, Role::Simulated, settings.detail())
    }
}

fn absence() -> String {
    match library::find() {
        Some(path) => format!(
            "{} is here: found, not supported yet; for simulated DPUs write pim:dpus=64",
            path.display()
        ),
        None => NO_DPU.to_owned(),
    }
}

/// The simulated DPUs of a device; made when they are first needed.
#[derive(Debug)]
struct Dpus {
    name: String,
    settings: Settings,
    bank: Mutex<Option<Bank>>,
}

impl Dpus {
    /// Works a batch in rounds of what fits into the DPUs' memories, and says what that took.
    fn work(&self, work: &mut Work<'_>) -> Result<Tally, DeviceError> {
        let failed = |reason: String| DeviceError::Failed { device: self.name.clone(), reason };
        let mut keys = KeysOf::default();
        if work.is_empty() {
            return Ok(Tally::default());
        }
        let mut bank = self.lock();
        let bank = match &mut *bank {
            Some(bank) => bank,
            none => none.insert(Bank::new(&self.settings).map_err(failed)?),
        };
        let before = bank.tally();
        let mut from = 0;
        while from < work.len() {
            let round = Round::take(work, from, &mut keys, &self.name)?;
            from = round.end;
            let (alone, together): (Vec<&Item>, Vec<&Item>) =
                round.items.iter().partition(|item| self.settings.is_long(item, &round));
            if !together.is_empty() {
                many::work(bank, &round, &together, work).map_err(failed)?;
            }
            for item in alone {
                long::work(bank, &round, item, work).map_err(failed)?;
            }
        }
        Ok(bank.tally().since(&before))
    }

    /// A bank that a panic left in the middle is wiped, and made anew.
    fn lock(&self) -> MutexGuard<'_, Option<Bank>> {
        self.bank.lock().unwrap_or_else(|poisoned| {
            self.bank.clear_poison();
            let mut bank = poisoned.into_inner();
            *bank = None;
            bank
        })
    }
}

#[derive(Debug)]
struct Handle(Arc<Dpus>);

impl Software for Handle {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        // The host's copies of texts go through vector registers, too.
        wipe_after(|| self.0.work(work)).map(drop)
    }

    fn run_timed(&self, work: &mut Work<'_>, clock: &dyn Clock) -> Result<Timing, DeviceError> {
        let start_ns = clock.now_ns();
        let took = wipe_after(|| self.0.work(work))?;
        let [copy_in_ns, compute_ns, copy_out_ns] =
            [took.bus_in_seconds, took.compute_seconds, took.bus_out_seconds].map(whole_ns);
        let end_ns = start_ns + copy_in_ns + compute_ns + copy_out_ns;
        Ok(Timing {
            start_ns,
            end_ns,
            copy_in_ns,
            compute_ns,
            copy_out_ns,
            origin: Origin::Simulated,
            core_ns: None,
            prepared_ns: 0,
            faults: 0,
            measured_copy_ns: whole_ns(took.copy_seconds),
        })
    }

    /// Nothing is kept of a session.
    fn retire(&self, _: SessionId) {}

    fn release(&self) {
        if let Ok(mut bank) = self.0.bank.try_lock() {
            *bank = None;
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is wanted")]
fn whole_ns(seconds: f64) -> u64 {
    (1e9 * seconds).round() as u64
}

const NAME: &str = "pim";
const NO_DPU: &str = "no DPU is on this machine; for simulated ones write pim:dpus=64";
/// A message and what belongs to it fit a DPU's memory of 64 MiB.
const TEXT_BYTES_MAX: usize = 32 << 20;

#[cfg(test)]
mod tests;
