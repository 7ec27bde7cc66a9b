//! The contract between an engine and its devices.

use crate::{
    Algorithm, Batch, Clock, Cost, DeviceError, Key, LimitError, LongMessage, NonceLengths, Notify,
    Op, OpenError, OwnedOutput, SessionId, Shape, Spec, TagLength, ThreadUsage, Work,
};
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

/// Finds one kind of device on this machine and opens it.
pub trait Driver: Send + Sync {
    /// The name in a [`Spec`], and of the driver's folder.
    fn name(&self) -> &'static str;

    /// One line for people: what it is and the settings it takes.
    fn summary(&self) -> &'static str;

    /// Looks without changing anything: what is here, or why it isn't.
    fn probe(&self) -> Probe;

    /// Opens a device.
    ///
    /// # Errors
    /// The hardware is absent, or the spec has a setting that the driver doesn't take.
    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError>;
}

/// What a driver found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It can be opened.
    Present {
        /// What a device opened without settings is for.
        role: Role,
        /// The instruction set or model, for people.
        detail: String,
    },
    /// It can't.
    Absent {
        /// Why, as a sentence's end: `libcuda.so.1 is not on this machine`.
        reason: String,
    },
}

/// What a driver is given to open a device.
#[derive(Clone, Debug)]
pub struct Context {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Rung for each completion that can be polled.
    pub notify: Arc<dyn Notify>,
}

/// Something that works batches.
///
/// A device may be called from many threads at once. Results are visible only through a completion
/// (or when `run` returns), inputs are never written, so an engine may give the same batch to another
/// device whatever this one does with it. A failed message's output is zeros, and the others go on.
pub trait Device: Send + Sync + Debug {
    /// What it is and what it takes.
    fn capabilities(&self) -> &Capabilities;

    /// Works on the calling thread.
    ///
    /// # Errors
    /// The device doesn't, or it failed: then no result counts, and the engine wipes what was written.
    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError>;

    /// One message to be worked in parts under a key and a nonce of the algorithm, where the device [`Cuts::Texts`]; what
    /// follows may run on any thread.
    ///
    /// # Errors
    /// The device can't expand the key.
    fn long_message(
        &self,
        _algorithm: Algorithm,
        _op: Op,
        _key: &[u8],
        _nonce: &[u8],
    ) -> Option<Result<Box<dyn LongMessage>, DeviceError>> {
        None
    }

    /// Takes a job over, or hands it back at once. Never blocks.
    ///
    /// # Errors
    /// The queue is full or the device is broken; the job is inside the error, unchanged.
    fn submit(&self, job: Box<Job>) -> Submission;

    /// Moves all finished jobs into `done`. Never blocks.
    fn poll(&self, done: &mut Vec<Completion>);

    /// Forgets and wipes everything it keeps for a session. No work for it is in flight. It may wait
    /// for work on other sessions, and is called from whichever thread drops a session.
    fn retire(&self, session: SessionId);

    /// Gives back now what it would otherwise keep for the next job: threads, device memory. Does not
    /// wait, loses no job in flight, and what is given back is taken again at the next one.
    fn release(&self) {}
}

/// What became of a submitted job: taken, or handed back.
pub type Submission = Result<(), Refused>;

/// A job that a device did not take.
#[derive(Debug)]
pub struct Refused {
    /// The job, unchanged.
    pub job: Box<Job>,
    /// Why.
    pub refusal: Refusal,
}

/// Why a device did not take a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No free slot; later there will be one.
    Full {
        /// Jobs it holds.
        in_flight: usize,
        /// Jobs it can hold.
        slots: usize,
    },
    /// It is broken or closed.
    Broken(DeviceError),
}

/// Names a submitted batch until its completion was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// One attempt at a submitted batch. The batch is shared with the engine, the output is its own.
#[derive(Debug)]
pub struct Job {
    /// Whose batch it is.
    pub ticket: Ticket,
    /// Which attempt at it, from 0: a late completion of an earlier one is told apart.
    pub attempt: u32,
    /// The messages.
    pub batch: Arc<Batch<'static>>,
    /// Where this attempt's results go. What it holds before is anything, so every byte of a result is
    /// written, a failed message's too.
    pub output: OwnedOutput,
    /// The keys behind its sessions, held until the job is dropped. An engine has the same ones for a
    /// further attempt.
    pub keys: Arc<dyn KeySource>,
}

/// A finished job.
#[derive(Debug)]
pub struct Completion {
    /// Whose batch it is.
    pub ticket: Ticket,
    /// Which attempt at it.
    pub attempt: u32,
    /// Its results, or why there are none.
    pub outcome: Result<(OwnedOutput, Timing), DeviceError>,
}

/// Gives the key behind a session of a batch for as long as the batch is in flight.
pub trait KeySource: Send + Sync {
    /// The key, or nothing when there is no such session. It is shared and not copied: each copy of a key
    /// that is moved about leaves one on a stack.
    fn key(&self, session: SessionId) -> Option<Arc<Key>>;
}

/// No session has a key: for batches that bring their own.
impl KeySource for () {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

impl Debug for dyn KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySource(secret)")
    }
}

/// When a batch was worked and what the time went into, on the engine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// When the device began.
    pub start_ns: u64,
    /// When the results were there.
    pub end_ns: u64,
    /// Of it, moving inputs to the device; zero where it reads the caller's memory.
    pub copy_in_ns: u64,
    /// Of it, computing.
    pub compute_ns: u64,
    /// Of it, moving results back.
    pub copy_out_ns: u64,
    /// Whose seconds these are.
    pub origin: Origin,
    /// What one undisturbed core would have taken, where that is known better than by start and end: where other threads
    /// had the core meanwhile, or several cores worked the batch.
    pub core_ns: Option<u64>,
    /// Of it, expanding keys that the device then keeps: later batches under them don't take that time.
    pub prepared_ns: u64,
    /// Pages that the thread that did the work touched first, where they were counted.
    pub faults: u64,
    /// Beside them, what copying to and from a simulated device took on this machine: measured, and zero where all of them are.
    pub measured_copy_ns: u64,
}

impl Timing {
    /// That of nothing.
    pub const NONE: Self = Self {
        start_ns: 0,
        end_ns: 0,
        copy_in_ns: 0,
        compute_ns: 0,
        copy_out_ns: 0,
        origin: Origin::Measured,
        core_ns: None,
        prepared_ns: 0,
        faults: 0,
        measured_copy_ns: 0,
    };

    /// The timing of a device that works in the caller's memory.
    #[must_use]
    pub fn in_memory(start_ns: u64, end_ns: u64) -> Self {
        let compute_ns = end_ns.saturating_sub(start_ns);
        Self { start_ns, end_ns, compute_ns, ..Self::NONE }
    }

    /// The same with what the thread that did the work used of the machine before and after it.
    #[must_use]
    pub fn with_usage(self, before: Option<ThreadUsage>, after: Option<ThreadUsage>) -> Self {
        let processor_ns =
            before.zip(after).and_then(|(before, after)| after.processor_ns_since(&before));
        let core_ns = processor_ns.map(|processor_ns| processor_ns.min(self.elapsed_ns()));
        let faults = before.zip(after).map_or(0, |(before, after)| after.faults - before.faults);
        Self { core_ns, faults, ..self }
    }

    /// What such a batch costs the device when it has its keys, in nanoseconds.
    #[must_use]
    pub fn cost_ns(&self) -> u64 {
        self.core_ns.unwrap_or(self.elapsed_ns()).saturating_sub(self.prepared_ns)
    }

    /// From start to end, in nanoseconds.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A clock of this machine.
    Measured,
    /// A model's clock.
    Simulated,
    /// Reckoned from a description of a device that is not here.
    Projected,
}

/// What a device may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Users' work.
    Real,
    /// Checking others.
    Oracle,
    /// Tests and comparisons.
    TestOnly,
    /// True bytes, modelled time.
    Simulated,
    /// Pricing the framework: encrypts nothing.
    Null,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => "real",
            Self::Oracle => "oracle",
            Self::TestOnly => "test only",
            Self::Simulated => "simulated",
            Self::Null => "null",
        })
    }
}

/// What an open device is and what it takes.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// The spec that opens this device again.
    pub name: String,
    /// Its driver.
    pub driver: &'static str,
    /// What it may be used for. An engine routes to real devices unless another is named.
    pub role: Role,
    /// Whose seconds its timings are.
    pub origin: Origin,
    /// The instruction set or model, for people.
    pub detail: String,
    /// What it computes.
    pub algorithms: Vec<Algorithm>,
    /// Whether [`Device::run`] works.
    pub runs_on_calling_thread: bool,
    /// What of a batch several threads may work at the same time, and are that much faster together.
    pub cuts: Cuts,
    /// What it computes on.
    pub works_on: Resource,
    /// What a batch costs, as far as is known before anything was measured here.
    pub cost: Cost,
    /// How long it may take to get ready, with its first batch: seconds where a driver has to compile. An engine gives a
    /// batch that much more time where no other device could work it.
    pub prepares: Duration,
    /// Whether results may overwrite inputs.
    pub in_place: bool,
    /// Threads or queues that work submitted jobs at the same time.
    pub workers: usize,
    /// Submitted jobs it holds at most.
    pub slots: usize,
    /// Most messages a batch.
    pub messages_max: usize,
    /// Longest text in bytes.
    pub text_bytes_max: usize,
    /// Longest aad in bytes.
    pub aad_bytes_max: usize,
    /// Nonce lengths it takes of AES-GCM.
    pub nonce_lengths: NonceLengths,
    /// Tag lengths it takes.
    pub tag_lengths: Vec<TagLength>,
}

/// How a device's work can be shared out to several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cuts {
    /// Not at all.
    Nothing,
    /// Between the messages of a batch.
    Batches,
    /// Inside long messages, too: see [`Device::long_message`].
    Texts,
}

/// What a device computes on. Devices on the same cores are no faster together than the fastest alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// These of this machine's cores; none named are all that the process may use.
    Cores(Vec<usize>),
    /// A machine part that no other device works on.
    Own,
}

impl Resource {
    /// Whether it is cores of this machine, so that its work is their time.
    #[must_use]
    pub fn is_cores(&self) -> bool {
        matches!(self, Self::Cores(_))
    }

    /// Whether two devices would work against each other.
    #[must_use]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cores(own), Self::Cores(others)) => {
                own.is_empty() || others.is_empty() || own.iter().any(|core| others.contains(core))
            }
            _ => false,
        }
    }
}

impl Capabilities {
    /// Whether the device takes a batch of this shape.
    ///
    /// # Errors
    /// The first limit that the batch is beyond.
    pub fn accept(&self, shape: &Shape) -> Result<(), LimitError> {
        let device = || self.name.clone();
        if !self.algorithms.contains(&shape.algorithm) {
            return Err(LimitError::Algorithm { device: device(), algorithm: shape.algorithm });
        }
        if shape.messages > self.messages_max {
            let (messages, limit) = (shape.messages, self.messages_max);
            return Err(LimitError::Messages { device: device(), messages, limit });
        }
        if shape.text_bytes_max > self.text_bytes_max {
            let (bytes, limit) = (shape.text_bytes_max, self.text_bytes_max);
            return Err(LimitError::TextBytes { device: device(), bytes, limit });
        }
        if shape.aad_bytes_max > self.aad_bytes_max {
            let (bytes, limit) = (shape.aad_bytes_max, self.aad_bytes_max);
            return Err(LimitError::AadBytes { device: device(), bytes, limit });
        }
        // Other algorithms have one length, which whoever computes them takes.
        if shape.algorithm == Algorithm::AesGcm
            && let Some(bytes) = shape.nonce_lengths.first_missing_in(self.nonce_lengths)
        {
            return Err(LimitError::NonceLength { device: device(), bytes });
        }
        if !self.tag_lengths.contains(&shape.tag_length) {
            let bytes = shape.tag_length.bytes();
            return Err(LimitError::TagLength { device: device(), bytes });
        }
        if shape.in_place && !self.in_place {
            return Err(LimitError::InPlace { device: device() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NONCE_BYTES;

    /// Takes little of everything.
    fn capabilities() -> Capabilities {
        Capabilities {
            name: "small".into(),
            driver: "small",
            role: Role::TestOnly,
            origin: Origin::Measured,
            detail: String::new(),
            algorithms: vec![Algorithm::AesGcm],
            runs_on_calling_thread: true,
            cuts: Cuts::Batches,
            works_on: Resource::Cores(vec![]),
            cost: Cost::clamped(0.0, 0.0, 0.0),
            prepares: Duration::ZERO,
            in_place: false,
            workers: 1,
            slots: 1,
            messages_max: 2,
            text_bytes_max: 30,
            aad_bytes_max: 40,
            nonce_lengths: NonceLengths::of(&[NONCE_BYTES]),
            tag_lengths: vec![TagLength::FULL],
        }
    }

    #[test]
    fn keys_that_were_made_ready_are_no_cost_of_the_batch() {
        let timing = Timing { prepared_ns: 30, ..Timing::in_memory(100, 200) };
        assert_eq!((timing.cost_ns(), timing.elapsed_ns()), (70, 100));
        assert_eq!(Timing { core_ns: Some(20), ..timing }.cost_ns(), 0);
    }

    #[test]
    fn a_batch_is_taken_up_to_each_limit_and_not_beyond() {
        let most = Shape { aad_bytes_max: 40, ..Shape::of_seals(2, 30) };
        let accept = |shape: Shape| capabilities().accept(&shape);
        assert_eq!(accept(most), Ok(()));
        assert!(matches!(accept(Shape { messages: 3, ..most }), Err(LimitError::Messages { .. })));
        let long = Shape { text_bytes_max: 31, ..most };
        assert!(matches!(accept(long), Err(LimitError::TextBytes { .. })));
        let long = Shape { aad_bytes_max: 41, ..most };
        assert!(matches!(accept(long), Err(LimitError::AadBytes { .. })));
        assert!(matches!(
            accept(Shape { in_place: true, ..most }),
            Err(LimitError::InPlace { .. })
        ));
    }
}
