//! This processor's kernels as software, for drivers that compute with them.

use crate::keys::{Expander, KeyTable, Lent};
use crate::workers::Software;
use sealift_core::{
    Algorithm, DeviceError, Key, Keys, LongMessage, MAX_TAG_BYTES, Op, SessionId, Slot, SlotTag,
    SlotText, Work,
};
use sealift_kernels::{Parts, Path, Schedule, Schedules, Shelf};
use std::{ops::Range, sync::Arc};

pub use sealift_kernels::{CtrError, PathError};

/// One way of computing, with a table of expanded keys.
#[derive(Debug)]
pub struct Kernels {
    name: String,
    path: Path,
    schedules: KeyTable<Schedule>,
    /// What they are kept on.
    shelf: Arc<Shelf>,
}

impl Kernels {
    /// The kernels of one path; `name` is that of the device that uses them.
    #[must_use]
    pub fn new(name: String, path: Path) -> Self {
        Self { name, path, schedules: KeyTable::new(), shelf: Shelf::new() }
    }

    /// The fastest that this processor has and `SEALIFT_ISA` allows; the model, by the book and slow,
    /// where there is no other.
    ///
    /// # Errors
    /// `SEALIFT_ISA` names no path.
    pub fn best(name: String) -> Result<Self, PathError> {
        Ok(Self::new(name, Path::best()?.unwrap_or(Path::Model)))
    }

    /// Seals one message in its place and gives its tag.
    pub fn seal(
        &self,
        key: &Key,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
    ) -> [u8; MAX_TAG_BYTES] {
        let mut tag = [0; MAX_TAG_BYTES];
        let (text, write) = (SlotText::InPlace(text), SlotTag::Write(&mut tag));
        let slot = Slot { op: Op::Seal, nonce, aad, text, tag: write };
        // A seal is never refused.
        let _ = sealift_kernels::process(self.path, &Schedule::new(self.path, key), slot);
        tag
    }

    /// Adds the key stream of AES in counter mode to a text: see [`sealift_kernels::ctr`].
    ///
    /// # Errors
    /// `output` is not as long as `input`; nothing is written then.
    pub fn ctr(
        &self,
        key: &Key,
        counter: [u8; 16],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CtrError> {
        sealift_kernels::ctr(self.path, &Schedule::new(self.path, key), counter, input, output)
    }

    /// The same over the text itself.
    pub fn ctr_in_place(&self, key: &Key, counter: [u8; 16], text: &mut [u8]) {
        let schedule = Schedule::new(self.path, key);
        sealift_kernels::ctr_in_place(self.path, &schedule, counter, text);
    }
}

impl Software for Kernels {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let path = self.path;
        let step = |work: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Schedule>| {
            let schedules = match lent {
                Lent::One(schedule) => Schedules::One(schedule),
                Lent::Each(each) => Schedules::Each(each),
            };
            sealift_kernels::run(path, work, range, schedules);
            Ok(())
        };
        match &work.batch().keys {
            Keys::Session(session) => self.schedules.run_one(*session, work, self, step),
            Keys::Sessions(sessions) => self.schedules.run_each(sessions, work, self, step),
            Keys::Raw(_) => {
                let all = 0..work.len();
                sealift_kernels::run(path, work, all, Schedules::Raw);
                Ok(())
            }
        }
    }

    fn long_message(
        &self,
        algorithm: Algorithm,
        op: Op,
        key: &[u8],
        nonce: &[u8],
    ) -> Option<Result<Box<dyn LongMessage>, DeviceError>> {
        let parts = Parts::new(self.path, algorithm, key, op, nonce).map_err(|error| {
            let (device, reason) = (self.name.clone(), error.to_string());
            DeviceError::Failed { device, reason }
        });
        Some(parts.map(|parts| Box::new(parts) as _))
    }

    fn retire(&self, session: SessionId) {
        self.schedules.retire(session);
    }
}

impl Expander for Kernels {
    type Expanded = Schedule;

    fn device(&self) -> &str {
        &self.name
    }

    fn expand(&self, key: &Key) -> Result<Schedule, DeviceError> {
        Ok(self.shelf.expand(self.path, key))
    }

    fn serves(&self, _: &Schedule) -> bool {
        true
    }
}
