//! What is copied, how, and between which memory.

use super::kind::Kind;
use crate::ArmError;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What a [`CopyArm`](super::CopyArm) does.
#[derive(Clone, Debug)]
pub struct CopySpec {
    /// Whether bytes are copied, or only read or written.
    pub operation: Operation,
    /// By which instructions.
    pub function: Function,
    /// Length of one operation in bytes.
    pub bytes: usize,
    /// Threads that each do it.
    pub threads: usize,
    /// Where the source lies.
    pub source: Kind,
    /// Where the destination lies.
    pub target: Kind,
    /// Whether the bytes are in the caches.
    pub state: State,
    /// Whether each thread has buffers of its own.
    pub buffers: Buffers,
    /// Destination minus source, modulo 4,096.
    pub offset: usize,
    /// What else this process does meanwhile, on a thread more.
    pub beside: Beside,
    /// What the source holds.
    pub content: Content,
    /// Where files are made that have no name.
    pub folder: PathBuf,
}

/// An enum whose variants have names for people and for Python.
macro_rules! named {
    ($(#[$about:meta])* $name:ident, $what:literal: $($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The one of a name.
            ///
            /// # Errors
            /// There is none; with those there are.
            pub fn parse(name: &str) -> Result<Self, ArmError> {
                Self::ALL.iter().find(|each| each.name() == name).copied().ok_or_else(|| {
                    ArmError::Spec { what: $what, value: format!("{name:?}"), right: [$($text),*].join(", ") }
                })
            }

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

named!(
    /// What is done with bytes.
    Operation, "operation":
    /// Source to destination.
    Copy = "copy",
    /// The source alone; every word counts.
    Read = "read",
    /// The destination alone, with 8 bytes again and again.
    Write = "write",
    /// The destination alone, with one byte.
    Fill = "fill",
);

named!(
    /// Who does it.
    Function, "function":
    /// The C library.
    Glibc = "glibc",
    /// A loop of 8-byte words.
    Words = "words",
    /// A loop of 16-byte registers: what compilers make of a loop of words.
    Sse2 = "sse2",
    /// The string instruction, `rep movsb`.
    RepMovsb = "rep-movsb",
    /// A loop of 64-byte registers.
    Avx512 = "avx512",
    /// A loop of 64-byte registers with stores past the caches.
    NonTemporal = "non-temporal",
    /// In the manner of Apex memmove: 16-byte registers, past the caches from 256 KiB on.
    Apex = "apex",
    /// `sealift_kernels::copy`.
    Ours = "ours",
    /// Out of a file by a call of the system.
    Pread = "pread",
    /// Into a file by a call of the system.
    Pwrite = "pwrite",
    /// The C library, out of a part of a file that is mapped for it alone.
    MapRead = "map-read",
    /// The C library, into a part of a file that is mapped for it alone.
    MapWrite = "map-write",
    /// The C library, into pages that nobody touched before.
    FirstTouch = "first-touch",
    /// The C library, into new pages that the system was asked to have ready.
    Populated = "populated",
);

named!(
    /// Whether bytes are in the caches when they are copied.
    State, "state":
    /// The same bytes every time.
    Hot = "hot",
    /// Each time others, which were flushed from all caches before.
    Cold = "cold",
    /// Each time others, of a file of which a quarter fits into the memory that there is.
    Beyond = "beyond memory",
);

named!(
    /// Whose buffers threads use.
    Buffers, "buffers":
    /// Each thread has a source and a destination of its own.
    Private = "private",
    /// All threads copy the same source to the same destination.
    Shared = "shared",
);

named!(
    /// What one more thread of this process does while the others are timed.
    Beside, "beside":
    /// There is none.
    Nothing = "nothing",
    /// It computes, and leaves memory alone.
    Spinner = "spinner",
    /// It takes a page's write access away and gives it back, so that all cores must forget it.
    Protector = "protector",
    /// It takes the pages of a file's mapping out of the page tables, so that each is faulted in again.
    Evictor = "evictor",
);

/// What a source holds, so that a destination can be compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Bytes drawn by a seed.
    Seeded(u64),
    /// The published tool's: byte `i` is `i` plus a value, modulo 256.
    Counting(u8),
    /// Those of [`Content::Counting`], written by somebody else before: left as found, and checked.
    Found(u8),
    /// Whatever is there: left as found.
    Left,
}

impl Function {
    /// Those that an operation has.
    pub(super) fn of(operation: Operation) -> impl Iterator<Item = Self> {
        let all: &[Self] = match operation {
            Operation::Copy => Self::ALL,
            Operation::Read => &[Self::Words, Self::Avx512],
            Operation::Write => &[Self::Avx512, Self::NonTemporal],
            Operation::Fill => &[Self::Glibc],
        };
        all.iter().copied()
    }

    /// Whether this processor has the instructions.
    ///
    /// # Errors
    /// It has not; says which.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    pub(super) fn check_processor(self) -> Result<(), ArmError> {
        let is_wide = matches!(self, Self::Avx512 | Self::NonTemporal);
        if !is_wide || (is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("bmi2")) {
            return Ok(());
        }
        let what = format!("the function {self}");
        Err(ArmError::Absent { what, reason: "this processor lacks AVX-512BW".to_owned() })
    }
}

pub(super) const PAGE_BYTES: usize = 4_096;
