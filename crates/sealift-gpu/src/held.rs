//! Batches that stay in a device's memory.

use crate::GpuError;
use crate::gpu::{Lane, Room, Slab, Took};
use crate::keys::Keys;
use crate::pack::{Packed, Plan};
use crate::work::{Failure, Worker, bring};
use sealift_core::{DeviceError, Op, Work};
use std::fmt;

/// A batch that lies in a device's memory with its keys.
///
/// It is worked there as often as one likes, without crossing the link; its results stay there, too, until they are read.
/// When it is dropped, all of it is overwritten.
///
/// `sealift::gpu` has an example.
pub struct Held<'h, 'w> {
    worker: &'h Worker,
    work: &'h mut Work<'w>,
    plan: Plan,
    /// One for each round of the plan.
    parts: Vec<Part>,
    has_results: bool,
    /// Whether a nonce was used to seal.
    has_sealed: bool,
    /// Whether others know where texts lie, and may have changed them.
    is_shared: bool,
}

/// Where a message's text lies in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number in the batch.
    pub message: usize,
    /// Length of the text.
    pub bytes: usize,
    /// Address of the text, as it goes in.
    pub input: u64,
    /// Address of what is made of it: zeros where an open's tag is wrong. None where it is empty or only verified.
    pub output: Option<u64>,
    /// Address of what became of it: 16 bytes of its tag where it is sealed, then a word of 32 bits, 1 where all is well
    /// and 2 where its tag is wrong.
    pub result: u64,
}

/// A round, in a lane of its own.
#[derive(Debug)]
struct Part {
    lane: Box<dyn Lane>,
    packed: Packed,
    room: Room,
}

impl<'h, 'w> Held<'h, 'w> {
    pub(crate) fn new(worker: &'h Worker, work: &'h mut Work<'w>) -> Result<Self, Failure> {
        let keys = Keys::brought(work, worker.name())?;
        let plan = Plan::of_few(work, &keys, worker.on())?;
        let mut parts = vec![];
        for round in plan.rounds() {
            let (mut lane, room) = (worker.lane()?, round.room(&keys));
            match lane.reserve(&room) {
                Err(GpuError::OutOfMemory { .. }) => {
                    worker.release_lanes();
                    lane.reserve(&room)?;
                }
                reserved => reserved?,
            }
            let packed = round.pack(work, &keys, &mut lane.host());
            bring(&mut *lane, &room)?;
            lane.flush()?;
            parts.push(Part { lane, packed, room });
        }
        let mut held = Self {
            worker,
            work,
            plan,
            parts,
            has_results: false,
            has_sealed: false,
            is_shared: false,
        };
        held.wait()?;
        Ok(held)
    }

    /// Where its texts lie in the device's memory, until it is dropped, for other programs of this process that use the
    /// device: what they leave there as a text is sealed or opened by the next [`Self::work`], and what that makes and what
    /// became of it they may read there. So texts cross the link once, when the batch is held, whatever they are then, and
    /// not again unless [`Self::read`] brings all results back. Whoever writes has to be through before. Behind a text up to
    /// the next 16 bytes are zeros, and have to stay. A message that is shorter than its tag has no place.
    ///
    /// A nonce seals one text: a batch that seals is worked once when others know its places. Hold another one, with other
    /// nonces, for other texts.
    ///
    /// They are addresses of CUDA's primary context, the one of its runtime API, of `PyTorch` and of `CuPy`. None: the
    /// device is not CUDA's.
    pub fn places(&mut self) -> Option<Vec<Place>> {
        let mut places = vec![];
        for (round, part) in self.plan.rounds().zip(&self.parts) {
            let (input, output) =
                (part.lane.address(Slab::Input)?, part.lane.address(Slab::Output)?);
            places.extend(round.texts(self.work).into_iter().map(|text| Place {
                message: text.message,
                bytes: text.bytes,
                input: input + text.input as u64,
                output: text.output.map(|at| output + at as u64),
                result: output + text.result as u64,
            }));
        }
        self.is_shared = true;
        Some(places)
    }

    /// Works it where it is.
    ///
    /// # Errors
    /// The device fails; or it would seal again what others may have changed.
    pub fn work(&mut self) -> Result<Took, DeviceError> {
        let worker = self.worker;
        worker.unless_broken(|| self.compute())
    }

    /// Brings back the results, of which the statuses tell as of any batch. Works it first if nobody did.
    ///
    /// # Errors
    /// The device fails; then nothing that was written counts.
    pub fn read(&mut self) -> Result<Took, DeviceError> {
        let worker = self.worker;
        worker.unless_broken(|| {
            let mut took = if self.has_results { Took::default() } else { self.compute()? };
            took += self.give()?;
            Ok(took)
        })
    }

    fn compute(&mut self) -> Result<Took, Failure> {
        if self.is_shared && self.has_sealed {
            let reason = "its nonces have sealed, and its texts may be others: hold a batch with other nonces";
            let (device, reason) = (self.worker.name().to_owned(), reason.to_owned());
            return Err(DeviceError::Failed { device, reason }.into());
        }
        self.has_results = false;
        let ops = &self.work.batch().ops;
        self.has_sealed |= (0..self.work.len()).any(|message| ops.get(message) == Op::Seal);
        for (round, part) in self.plan.rounds().zip(&mut self.parts) {
            self.worker.compute(&mut *part.lane, &round, &part.packed, &part.room)?;
            part.lane.flush()?;
        }
        let took = self.wait()?;
        self.has_results = true;
        Ok(took)
    }

    fn give(&mut self) -> Result<Took, Failure> {
        for part in &mut self.parts {
            part.lane.read(Slab::Output, part.room.of(Slab::Output))?;
            part.lane.flush()?;
        }
        let took = self.wait()?;
        for (round, part) in self.plan.rounds().zip(&mut self.parts) {
            let given = round.give(self.work, part.lane.host().output);
            given.map_err(|message| self.worker.unworked(message))?;
        }
        Ok(took)
    }

    fn wait(&mut self) -> Result<Took, GpuError> {
        let mut took = Took::default();
        for part in &mut self.parts {
            took += part.lane.wait(self.worker.patience())?;
        }
        Ok(took)
    }
}

impl fmt::Debug for Held<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({} messages on {}, secret)", self.work.len(), self.worker.name())
    }
}
