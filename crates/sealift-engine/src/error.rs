use sealift_core::{
    Algorithm, Batch, BatchError, DeviceError, LimitError, OpenError, SessionId, Ticket,
};
use thiserror::Error;

/// Why an engine did not do what it was asked.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EngineError {
    /// Batch and output don't fit each other or the standard.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// No such session here.
    #[error(
        "message {message} names session {session}, which this engine does not have: it was \
         dropped or belongs to another engine, make it with `session(key)` and keep it alive"
    )]
    UnknownSession {
        /// The first message that names it.
        message: usize,
        /// The session.
        session: SessionId,
    },
    /// A batch for another algorithm than its session's key.
    #[error(
        "message {message} names session {session}, whose key is for {key}, in a batch for {batch}: set the batch's \
         algorithm to {key}"
    )]
    Algorithm {
        /// The first message that names it.
        message: usize,
        /// The session.
        session: SessionId,
        /// What its key is for.
        key: Algorithm,
        /// What the batch is for.
        batch: Algorithm,
    },
    /// The key has sealed as much as it may.
    #[error(
        "session {session} has sealed {sealed} messages and this batch would pass its limit of \
         {limit} (SP 800-38D section 8.3): make a session with a new key"
    )]
    SealLimit {
        /// The session.
        session: SessionId,
        /// Seals counted so far.
        sealed: u64,
        /// The most it may seal.
        limit: u64,
    },
    /// Counted nonces for a session whose nonces come from the caller.
    #[error(
        "session {session} has sealed with nonces that were given, and its counter knows nothing of them: give nonces \
         on, or make a session with a new key"
    )]
    NoncesOfCaller {
        /// The session.
        session: SessionId,
    },
    /// Nonces given by hand for a session that counts its own.
    #[error(
        "session {session} seals with nonces that it counts itself: give none, or make a session with a new key"
    )]
    NoncesCounted {
        /// The session.
        session: SessionId,
    },
    /// Counted nonces for raw keys.
    #[error(
        "raw keys have no counter of nonces: give a nonce for each message, or make sessions with `session(key)`"
    )]
    RawKeysDontCount,
    /// A limit over the standard's.
    #[error("a limit of {limit} seals a key: SP 800-38D section 8.3 allows at most {max}")]
    LimitTooHigh {
        /// What was asked for.
        limit: u64,
        /// The most there may be.
        max: u64,
    },
    /// No device takes the batch.
    #[error("no device takes this batch: {}", join(.0))]
    Limits(Vec<LimitError>),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A device that was named could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No device has this name.
    #[error("no open device is called {name:?}: there are {known}")]
    UnknownDevice {
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No such policy, or a setting of it is wrong.
    #[error("{policy:?} is no scheduling policy: {reason}")]
    Policy {
        /// What was asked for.
        policy: String,
        /// What is wrong with it, or what there is.
        reason: String,
    },
    /// An audit that can't be done.
    #[error("an audit of {share} of all messages: {reason}")]
    Audit {
        /// The share that was asked for.
        share: String,
        /// What would be right.
        reason: String,
    },
    /// A number of threads that is none.
    #[error("{reason}")]
    Threads {
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// An engine without devices.
    #[error("an engine needs a device: {reason}")]
    NoDevice {
        /// What was looked for.
        reason: String,
    },
    /// Two devices that nothing could tell apart.
    #[error("{name} is opened twice: give each device a setting of its own, for example cores=")]
    SameName {
        /// Their name.
        name: String,
    },
    /// No such ticket in flight.
    #[error("ticket {} is not in flight: it was taken already or never given", .0.0)]
    UnknownTicket(Ticket),
    /// A run that was told to stop.
    #[error("the batch was stopped: the statuses say which messages are done")]
    Stopped,
    /// The process was forked after the engine was made.
    #[error(
        "this engine was made before the process forked and its threads are gone: make a new \
         engine and new sessions in the child"
    )]
    Forked,
    /// The system gave no random bytes.
    #[error("the system gave no random bytes for a nonce: {reason}")]
    Random {
        /// What it said.
        reason: String,
    },
    /// The system refused a file descriptor to wait on.
    #[error("the system gave no event descriptor: {reason}; look at `ulimit -n`")]
    EventDescriptor {
        /// What it said.
        reason: String,
    },
}

/// Why a batch was not taken. It comes back with the reason.
#[derive(Debug, Error)]
#[error("{reason}")]
pub struct SubmitError {
    /// The batch, unchanged.
    pub batch: Box<Batch<'static>>,
    /// Why.
    #[source]
    pub reason: SubmitRefusal,
}

/// Why a batch was not taken.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SubmitRefusal {
    /// Back-pressure: later there will be room.
    #[error(
        "{device} has no free slot: {in_flight} of {slots} batches in flight; take a completion \
         with poll or wait, then submit again"
    )]
    Full {
        /// Who is full.
        device: String,
        /// Batches it holds.
        in_flight: usize,
        /// Batches it can hold.
        slots: usize,
    },
    /// It would never be taken.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

fn join(limits: &[LimitError]) -> String {
    limits.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
