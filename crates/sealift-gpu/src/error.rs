//! What can go wrong between this machine and its GPU.

use thiserror::Error;

/// Why a GPU was not opened, or did not do what it was told.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuError {
    /// The library that speaks to GPUs isn't here, or can't be opened.
    #[error("{library} is not on this machine ({reason}); {hint}")]
    NoLibrary {
        /// Its file's name.
        library: String,
        /// What the loader says.
        reason: String,
        /// What brings it, for people.
        hint: &'static str,
    },
    /// The library lacks a function.
    #[error("{library} has no function {function}: it is too old, install a newer driver")]
    NoFunction {
        /// The library.
        library: String,
        /// What it lacks.
        function: String,
    },
    /// The library is here and knows no device.
    #[error("{library} is here and finds no device ({reason}); install {install}")]
    NoDevice {
        /// The library.
        library: String,
        /// What it says.
        reason: String,
        /// What brings one, for people.
        install: &'static str,
    },
    /// There are devices, but all of them are processors.
    #[error(
        "{library} finds no GPU, only {found}, whose run time depends on secrets; {opens} opens it for tests"
    )]
    OnlyProcessors {
        /// The library.
        library: String,
        /// What there is.
        found: String,
        /// The spec that opens one all the same.
        opens: &'static str,
    },
    /// There are devices, but not that one.
    #[error(
        "there is no device {number}: {library} finds {found}, counted from 0; the first one is {opens}"
    )]
    NoSuchDevice {
        /// The library.
        library: String,
        /// What was asked for.
        number: usize,
        /// How many there are.
        found: usize,
        /// The spec that opens the first one, and what that one is for where it is no GPU.
        opens: &'static str,
    },
    /// The device can't run these kernels.
    #[error("{device} is of no use here: {reason}")]
    Unfit {
        /// The device.
        device: String,
        /// What it lacks.
        reason: String,
    },
    /// The kernels did not compile or load.
    #[error("{device} does not take program {program} ({code}): {log}")]
    Build {
        /// The device.
        device: String,
        /// Which program.
        program: String,
        /// The call and its error.
        code: String,
        /// What its compiler says.
        log: String,
    },
    /// No memory, on the device or pinned on the host.
    #[error("{device} has no {bytes} bytes for {what}: split the batch, or give memory back")]
    OutOfMemory {
        /// The device.
        device: String,
        /// What it was for.
        what: &'static str,
        /// How much.
        bytes: usize,
    },
    /// A kernel did not start.
    #[error("{device} did not start kernel {kernel}: {code}")]
    Launch {
        /// The device.
        device: String,
        /// Which kernel.
        kernel: &'static str,
        /// The call and its error.
        code: String,
    },
    /// Any other call failed, and the device can still be used.
    #[error("{device}: {code}")]
    Call {
        /// The device.
        device: String,
        /// The call and its error.
        code: String,
    },
    /// A message or batch is longer than its kernels count.
    #[error("{device} takes {what} of at most {limit}, and this is {found}: split it")]
    TooLong {
        /// The device.
        device: String,
        /// Of what there is too much.
        what: &'static str,
        /// How much.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// It computed something else than this processor does.
    #[error("{device} computes wrong: {what}; believe no figure of it, and run its tests")]
    Wrong {
        /// The device.
        device: String,
        /// What differs.
        what: String,
    },
    /// What was asked to be measured can't be.
    #[error("nothing can measure that: {reason}")]
    NoSuchBench {
        /// Why, and what to ask for instead.
        reason: String,
    },
    /// The device is gone or its state is unknown; nothing on it can be used any more.
    #[error(
        "{device} is lost ({code}): drop all that uses it and open it again, or restart the process"
    )]
    Lost {
        /// The device.
        device: String,
        /// The call and its error.
        code: String,
    },
    /// The device did not answer; whether it still works is unknown.
    #[error(
        "{device} did not answer for {seconds} s and is taken as lost: drop all that uses it and open it again"
    )]
    TimedOut {
        /// The device.
        device: String,
        /// How long it was waited for.
        seconds: u64,
    },
}

impl GpuError {
    /// Whether the open device can't be used any more.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Self::Lost { .. } | Self::TimedOut { .. })
    }
}
