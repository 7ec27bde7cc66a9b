//! Where the bytes of a column lie.

use crate::ffi::Guarded;

/// Which memory a column is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Ordinary memory.
    Heap,
    /// The last byte is the last before an inaccessible page.
    BeforeGuard,
    /// The first byte is the first behind an inaccessible page.
    BehindGuard,
}

/// So many bytes there.
pub(crate) enum Memory {
    Heap(Vec<u8>),
    Guarded(Guarded),
}

impl Memory {
    pub(crate) fn new(len: usize, place: Where) -> Self {
        match place {
            Where::Heap => Self::Heap(vec![0; len]),
            Where::BeforeGuard => Self::Guarded(Guarded::ending_at_guard(len)),
            Where::BehindGuard => Self::Guarded(Guarded::starting_behind_guard(len)),
        }
    }

    /// From now on a write is a fault, where the memory can do that.
    pub(crate) fn forbid_writing(&mut self) {
        if let Self::Guarded(guarded) = self {
            guarded.forbid_writing();
        }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Guarded(guarded) => guarded.as_mut(),
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Guarded(guarded) => guarded.as_ref(),
        }
    }
}
