//! Intel's cryptography library (IPP), message by message: what document 003 calls the vendor library.
//!
//! It is opened at run time: from the file that `lib=` names, or where the loader finds it.

mod ffi;
mod lane;

pub use super::message::Direction;
pub use ffi::{Ipp, Refused, State};

use super::message::{self, Cipher};
use lane::lane;
use sealift::software::{self, Crew, Expander, KeyTable, Lent, Software};
use sealift::{
    Capabilities, Context, Device, DeviceError, Driver, Key, Keys, OpenError, Probe, Role,
    SessionId, Spec, Work,
};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The driver `ipp`.
#[derive(Debug)]
pub struct Intel;

impl Driver for Intel {
    fn name(&self) -> &'static str {
        "ipp"
    }

    fn summary(&self) -> &'static str {
        "Intel's cryptography library, message by message (lib=FILE, workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        match find(None) {
            Ok(ipp) => Probe::Present { role: Role::TestOnly, detail: detail(&ipp) },
            Err(reason) => Probe::Absent { reason },
        }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        software::only(spec, &["lib", "workers", "cores"])?;
        let ipp = find(spec.setting("lib"))
            .map_err(|reason| OpenError::Absent { device: spec.to_string(), reason })?;
        let all = software::capabilities(spec, self.name(), Role::TestOnly, detail(&ipp));
        let text_bytes_max = usize::try_from(i32::MAX).unwrap_or(usize::MAX);
        let capabilities = Capabilities { in_place: false, text_bytes_max, ..all };
        let states = States { name: spec.to_string(), ipp, lanes: RwLock::default() };
        Ok(software::open(states, capabilities, Crew::of(spec)?, context))
    }
}

/// The library of a file, or the one that the loader finds.
///
/// # Errors
/// What is missing, and what would bring it.
pub fn find(file: Option<&str>) -> Result<Arc<Ipp>, String> {
    let opened = Ipp::open(file.unwrap_or(LIBRARY).as_ref());
    opened.map_err(|error| format!("Intel's library can't be used ({error}); {HELP}"))
}

fn detail(ipp: &Ipp) -> String {
    format!("Intel IPP cryptography {}", ipp.version())
}

/// States change while they work a message, so each thread has a table of its own: its lane.
#[derive(Debug)]
struct States {
    name: String,
    ipp: Arc<Ipp>,
    lanes: RwLock<Vec<Arc<Mutex<Lane>>>>,
}

/// The expanded keys of a thread.
#[derive(Debug, Default)]
struct Lane(KeyTable<RefCell<State>>);

impl Software for States {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let lane = self.lane();
        let Lane(states) = &*alone(&lane);
        let step =
            |work: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, RefCell<State>>| match lent {
                Lent::One(state) => {
                    let state = &mut state.borrow_mut();
                    range.into_iter().try_for_each(|i| self.message(state, work, i))
                }
                Lent::Each(each) => range
                    .zip(each)
                    .try_for_each(|(i, state)| self.message(&mut state.borrow_mut(), work, i)),
            };
        match &work.batch().keys {
            Keys::Session(session) => states.run_one(*session, work, self, step),
            Keys::Sessions(sessions) => states.run_each(sessions, work, self, step),
            Keys::Raw(keys) => {
                let mut state = State::new(&self.ipp);
                (0..work.len()).try_for_each(|i| {
                    state.set_key(keys.get(i)).map_err(|refused| self.failed(&refused))?;
                    self.message(&mut state, work, i)
                })
            }
        }
    }

    fn retire(&self, session: SessionId) {
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        lanes.iter().for_each(|lane| alone(lane).0.retire(session));
    }
}

impl States {
    /// The lane of the calling thread.
    fn lane(&self) -> Arc<Mutex<Lane>> {
        let number = lane();
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(number) {
            return Arc::clone(lane);
        }
        drop(lanes);
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        if lanes.len() <= number {
            lanes.resize_with(number + 1, Arc::default);
        }
        Arc::clone(&lanes[number])
    }

    fn message(
        &self,
        state: &mut State,
        work: &mut Work<'_>,
        message: usize,
    ) -> Result<(), DeviceError> {
        let stability = work.batch().stability;
        let mut named = Named { states: self, state };
        let status = message::work(&mut named, work.slot(message), stability)?;
        work.set_status(message, status);
        Ok(())
    }

    fn failed(&self, refused: &Refused) -> DeviceError {
        DeviceError::Failed { device: self.name.clone(), reason: refused.to_string() }
    }
}

impl Expander for States {
    type Expanded = RefCell<State>;

    fn device(&self) -> &str {
        &self.name
    }

    fn expand(&self, key: &Key) -> Result<RefCell<State>, DeviceError> {
        let mut state = State::new(&self.ipp);
        state.set_key(key.as_bytes()).map_err(|refused| self.failed(&refused))?;
        Ok(RefCell::new(state))
    }

    fn serves(&self, _: &RefCell<State>) -> bool {
        true
    }
}

/// A state with the device whose errors it makes.
struct Named<'a> {
    states: &'a States,
    state: &'a mut State,
}

impl Cipher for Named<'_> {
    fn crypt(
        &mut self,
        direction: Direction,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<[u8; 16], DeviceError> {
        let tag = self.state.crypt(direction, nonce, aad, input, output);
        tag.map_err(|refused| self.states.failed(&refused))
    }
}

/// A table holds whole entries whatever panicked over it.
fn alone(lane: &Mutex<Lane>) -> MutexGuard<'_, Lane> {
    lane.lock().unwrap_or_else(PoisonError::into_inner)
}

const LIBRARY: &str = "libippcp.so.13";
const HELP: &str = "`pip install ipp-crypto` brings it";
