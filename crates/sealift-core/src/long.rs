//! One long message whose text is worked in parts, on several threads at the same time.

use crate::{Slot, SlotText, Status};
use std::fmt;
use zeroize::ZeroizeOnDrop;

/// A message of which [`Device::long_message`](crate::Device::long_message) works parts.
pub trait LongMessage: Send + Sync {
    /// Seals or opens a part of the text, or only hashes it for a verify. Parts begin at whole blocks of 16 bytes,
    /// `first_block` of them behind the beginning, and all but the last end there.
    fn work_part(&self, first_block: u32, text: SlotText<'_>) -> PartHash;

    /// Makes or compares the tag when all parts were worked; `hashes` are theirs in order, and `slot` has the whole text.
    /// If the tag is wrong, the output becomes zeros.
    fn conclude(&self, slot: Slot<'_>, hashes: &[PartHash]) -> Status;
}

/// What a part of a text adds to the tag of its message: secret, behind a pointer so that moving it leaves no copy, and
/// wiped when it is dropped.
#[derive(ZeroizeOnDrop)]
pub struct PartHash {
    blocks: u64,
    hash: Box<u128>,
}

impl PartHash {
    /// That of a part of so many blocks, the last one perhaps not whole. `write` writes it to its place; what it is only its
    /// device knows.
    #[must_use]
    pub fn new(blocks: u64, write: impl FnOnce(&mut u128)) -> Self {
        let mut hash = Box::new(0);
        write(&mut hash);
        Self { blocks, hash }
    }

    /// Blocks of the part.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// What its device wrote.
    #[must_use]
    pub fn hash(&self) -> &u128 {
        &self.hash
    }
}

impl fmt::Debug for PartHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartHash({} blocks, secret)", self.blocks)
    }
}
