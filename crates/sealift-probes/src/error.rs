use crate::frames::{Access, Name, Side};
use sealift::EngineError;
use std::fmt::Display;
use thiserror::Error;

/// Why an arm can't be measured, or can't be measured any longer.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArmError {
    /// The columns don't fit each other or AES-GCM.
    #[error("{what} of {value}: right would be {right}")]
    Spec {
        /// Which part of the spec.
        what: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        right: String,
    },
    /// Nothing to compare the device with.
    #[error(
        "no other device checks {device}: {tried}; open `library` or `reference` beside it, \
         results that nobody checked are not measured"
    )]
    NoChecker {
        /// The device to be measured.
        device: String,
        /// What was tried, and why it didn't do.
        tried: String,
    },
    /// The device's seconds are a model's.
    #[error(
        "{device} is simulated: its seconds are not this machine's, and only these are measured"
    )]
    Simulated {
        /// The device.
        device: String,
    },
    /// The device computed something wrong. Its times mean nothing.
    #[error("{device} gave a wrong result: {what}")]
    Wrong {
        /// The device.
        device: String,
        /// Which message, what was expected and found.
        what: String,
    },
    /// The caller wished to stop while the arm was prepared.
    #[error("stopped while {device} was prepared")]
    Stopped {
        /// The device.
        device: String,
    },
    /// A primitive couldn't be computed.
    #[error("{primitive} failed: {reason}")]
    Primitive {
        /// Which.
        primitive: &'static str,
        /// What the library refused.
        reason: &'static str,
    },
    /// This machine lacks what is to be measured.
    #[error("{what} can't be measured here: {reason}")]
    Absent {
        /// What it lacks.
        what: String,
        /// Why, and what helps.
        reason: String,
    },
    /// More than there is memory for.
    #[error("there is no memory for a buffer of {bytes} bytes: take a smaller one")]
    NoMemory {
        /// The buffer's length in bytes.
        bytes: usize,
    },
    /// A file, or memory beside it, couldn't be used.
    #[error("could not {doing}: {reason}")]
    File {
        /// What was to be done.
        doing: &'static str,
        /// What the system said.
        reason: String,
    },
    /// The engine or the device refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A measuring thread couldn't be kept to its core.
    #[error("a thread can't be kept to core {core} any more: {reason}; measure again")]
    Core {
        /// The core.
        core: usize,
        /// What the system said.
        reason: String,
    },
    /// Two processes can't exchange frames, or not any longer.
    #[error("frames by {way}: {what}")]
    Frames {
        /// What they go through.
        way: &'static str,
        /// What happened.
        what: String,
    },
    /// The rules don't let a process touch a region.
    #[error(
        "the {side} process may not {wanted} the region {region}: the rules grant it {granted}"
    )]
    Forbidden {
        /// Which region.
        region: Name,
        /// Which process.
        side: Side,
        /// What it wanted.
        wanted: Access,
        /// What it may do.
        granted: Access,
    },
    /// Shared memory couldn't be made or taken.
    #[error("the region {region} {what}")]
    Region {
        /// Which region.
        region: Name,
        /// What is wrong with it.
        what: String,
    },
    /// A measuring thread couldn't be started.
    #[error("thread {thread} of {threads} could not be started: {reason}; measure fewer threads")]
    Thread {
        /// Which, from 0.
        thread: usize,
        /// How many there should be.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

impl ArmError {
    /// A file, or memory beside it, that couldn't be used: what was to be done, then what the system said.
    pub(crate) fn file<E: Display>(doing: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::File { doing, reason: error.to_string() }
    }

    /// The value of a name, which is one of those there are.
    pub(crate) fn named<T: Copy>(
        what: &'static str,
        all: &[(&str, T)],
        name: &str,
    ) -> Result<T, Self> {
        let found = all.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).ok_or_else(|| Self::Spec {
            what,
            value: format!("{name:?}"),
            right: all.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
        })
    }

    /// Refuses a number outside of what would be right.
    pub(crate) fn check(
        what: &'static str,
        value: usize,
        least: usize,
        most: usize,
    ) -> Result<(), Self> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let right = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, usize::MAX) => format!("{least} or more"),
            (least, most) => format!("{least} to {most}"),
        };
        Err(Self::Spec { what, value: value.to_string(), right })
    }
}
