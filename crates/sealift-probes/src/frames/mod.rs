//! Frames between two processes: by a ring in memory that both have, plain or sealed, beside what the
//! system offers.
//!
//! The process that measures (near) starts another one (far), to which it speaks over a socket that also
//! tells each when the other is gone. Every frame is another one, and every byte of it is compared where it
//! arrives. Who may touch which memory is data: [`RULES`].

mod arm;
mod content;
mod control;
mod end;
mod far;
mod ffi;
mod near;
mod patience;
mod process;
mod region;
mod ring;
mod rules;
mod setup;
mod stream;
mod texts;
mod trips;

pub use arm::FramesArm;
pub use far::answer_frames;
pub use rules::{Access, Name, RULES, Rules, Side};

use crate::ArmError;
use std::ffi::OsString;
use std::fmt::Display;

/// What is exchanged, how, and with whom.
#[derive(Clone, Debug)]
pub struct FrameSpec {
    /// What the frames go through.
    pub way: Way,
    /// Who sends when.
    pub pattern: Pattern,
    /// Bytes of each frame, [`FRAME_BYTES_MIN`] to [`FRAME_BYTES_MAX`].
    pub frame_bytes: usize,
    /// Frames handed over at once, 1 to [`BATCH_MAX`].
    pub batch: usize,
    /// Of the frames' content, and of keys where they are sealed.
    pub seed: u64,
    /// Who may touch which memory.
    pub rules: Rules,
    /// The command that starts the far process: it calls [`answer_frames`] with its standard input.
    pub far: Vec<OsString>,
}

/// What frames go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Memory that both have, written and compared in place.
    Ring,
    /// The same; the engine seals into it and opens out of it.
    SealedRing,
    /// A pipe for each direction.
    Pipe,
    /// A pair of connected Unix sockets.
    UnixSocket,
    /// Read out of the other process by `process_vm_readv`, told by counters in memory that both have.
    ProcessVmReadv,
    /// A TCP connection over 127.0.0.1.
    Tcp,
}

/// Who sends when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The near process sends, the far one answers, and each waits for the other.
    PingPong,
    /// The near process sends as fast as the far one takes.
    Stream,
}

impl Way {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 6] = [
        ("ring", Self::Ring),
        ("ring-sealed", Self::SealedRing),
        ("pipe", Self::Pipe),
        ("unix-socket", Self::UnixSocket),
        ("process-vm-readv", Self::ProcessVmReadv),
        ("loopback-tcp", Self::Tcp),
    ];

    /// The way of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        ArmError::named("a way for frames", &Self::ALL, name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// What it is, for people.
    fn words(self) -> &'static str {
        match self {
            Self::Ring => "memory that both have",
            Self::SealedRing => "ciphertext in memory that both have",
            Self::Pipe => "pipes of a mebibyte, where the system allows it",
            Self::UnixSocket => "Unix stream sockets",
            Self::ProcessVmReadv => "process_vm_readv, with counters in memory that both have",
            Self::Tcp => "TCP over 127.0.0.1, without delay",
        }
    }

    /// Whether its counters lie in memory that both have, so that waiting costs no call.
    fn is_ring(self) -> bool {
        matches!(self, Self::Ring | Self::SealedRing | Self::ProcessVmReadv)
    }
}

impl Pattern {
    /// Both with their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("ping-pong", Self::PingPong), ("stream", Self::Stream)];

    /// The pattern of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        ArmError::named("a pattern of frames", &Self::ALL, name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// How many frames a hand makes go: there, or there and back.
    fn directions(self) -> u64 {
        match self {
            Self::PingPong => 2,
            Self::Stream => 1,
        }
    }
}

/// What a hand holds: frames that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    way: Way,
    frame_bytes: usize,
    batch: usize,
}

impl Form {
    /// From one frame to the next: a tag behind each would shift all frames off their cache lines.
    fn slot_bytes(self) -> usize {
        match self.way {
            Way::SealedRing => self.sealed_bytes().next_multiple_of(LINE_BYTES),
            _ => self.frame_bytes,
        }
    }

    /// A ciphertext with its tag.
    fn sealed_bytes(self) -> usize {
        self.frame_bytes + TAG_BYTES
    }

    fn hand_bytes(self) -> usize {
        self.slot_bytes() * self.batch
    }

    fn plain_bytes(self) -> usize {
        self.frame_bytes * self.batch
    }
}

/// A system call that failed.
fn failed<E: Display>(way: Way, what: &str) -> impl Fn(E) -> ArmError {
    move |error| told(way, format!("{what}: {error}"))
}

fn told(way: Way, what: String) -> ArmError {
    ArmError::Frames { way: way.name(), what }
}

/// The shortest frame; a stream is answered with as much at its end.
pub const FRAME_BYTES_MIN: usize = 16;
/// The longest frame.
pub const FRAME_BYTES_MAX: usize = 64 << 20;
/// The most frames handed over at once.
pub const BATCH_MAX: usize = 1_024;
const TAG_BYTES: usize = 16;
const LINE_BYTES: usize = 64;
const RECEIPT_BYTES: usize = FRAME_BYTES_MIN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_answered_with_those_there_are() {
        for (name, way) in Way::ALL {
            assert_eq!((Way::parse(name), way.name()), (Ok(way), name));
        }
        for (name, pattern) in Pattern::ALL {
            assert_eq!((Pattern::parse(name), pattern.name()), (Ok(pattern), name));
        }
        let error = Way::parse("udp").unwrap_err().to_string();
        assert!(error.contains("\"udp\"") && error.contains("ring, ring-sealed, pipe"), "{error}");
    }
}
