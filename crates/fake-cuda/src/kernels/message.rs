//! Descriptors of messages, and one message.

use crate::code::{Code, LAUNCH_FAILED};
use crate::world::Memory;
use sealift_core::{KeyLength, Op, Slot, SlotTag, SlotText, Status};
use sealift_kernels::{Path, Schedule, ctr, process};
use std::sync::LazyLock;

/// A message as `kernels/message.h` describes it.
pub(super) struct Message {
    key: u32,
    nonce: u32,
    aad: u32,
    text: u32,
    expected: u32,
    pub(super) out: u32,
    pub(super) result: u32,
    pub(super) operation: u32,
    pub(super) text_bytes: usize,
    pub(super) aad_bytes: usize,
    nonce_bytes: usize,
    tag_bytes: usize,
    pub(super) first_piece: u32,
    pub(super) pieces: u32,
}

/// Where texts and results are.
pub(super) struct Slabs {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Message {
    pub(super) fn read(memory: &Memory, at: u64) -> Result<Self, Code> {
        let words: Vec<_> = words_of(memory.read(at, MESSAGE_WORDS * 4)?).collect();
        let [
            key,
            nonce,
            aad,
            text,
            expected,
            out,
            result,
            operation,
            text_bytes,
            aad_bytes,
            nonce_bytes,
            tag_bytes,
            first_piece,
            pieces,
            0,
            0,
        ] = words[..]
        else {
            return Err(LAUNCH_FAILED);
        };
        let [text_bytes, aad_bytes, nonce_bytes, tag_bytes] =
            [text_bytes, aad_bytes, nonce_bytes, tag_bytes].map(|bytes| bytes as usize);
        Ok(Self {
            key,
            nonce,
            aad,
            text,
            expected,
            out,
            result,
            operation,
            text_bytes,
            aad_bytes,
            nonce_bytes,
            tag_bytes,
            first_piece,
            pieces,
        })
    }

    /// Its raw key; behind it there are zeros.
    pub(super) fn key(
        &self,
        memory: &Memory,
        keys: u64,
        length: KeyLength,
    ) -> Result<Vec<u8>, Code> {
        padded(memory, keys, self.key, length.bytes(), KEY_BYTES)
    }

    /// Seals, opens or verifies it; a failed one gives zeros.
    pub(super) fn work(&self, memory: &mut Memory, key: &[u8], slabs: &Slabs) -> Result<(), Code> {
        let made = self.made(memory, key, slabs)?;
        self.put_text(memory, slabs, &made.text)?;
        self.put_result(memory, slabs, &made)
    }

    /// The same for one of which a failed text is cleared later.
    pub(super) fn work_long(
        &self,
        memory: &mut Memory,
        key: &[u8],
        slabs: &Slabs,
    ) -> Result<(), Code> {
        let made = self.made(memory, key, slabs)?;
        if made.status == OK {
            self.put_text(memory, slabs, &made.text)?;
        }
        self.put_result(memory, slabs, &made)
    }

    /// What would be in the output: the text, unless nobody wants it, and the result.
    pub(super) fn output(
        &self,
        memory: &Memory,
        key: &[u8],
        slabs: &Slabs,
    ) -> Result<Vec<u8>, Code> {
        let made = self.made(memory, key, slabs)?;
        let mut units = if self.operation == VERIFY { vec![] } else { made.text };
        units.resize(units.len().next_multiple_of(UNIT), 0);
        units.extend(made.tag);
        units.extend([made.status, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        Ok(units)
    }

    fn made(&self, memory: &Memory, key: &[u8], slabs: &Slabs) -> Result<Made, Code> {
        let schedule = Schedule::from_raw(*PATH, key).map_err(|_| LAUNCH_FAILED)?;
        let part = |unit, bytes: usize| {
            padded(memory, slabs.input, unit, bytes, bytes.next_multiple_of(UNIT))
        };
        let nonce = part(self.nonce, self.nonce_bytes)?;
        let (aad, text) = (part(self.aad, self.aad_bytes)?, part(self.text, self.text_bytes)?);
        let mut made = Made { text: vec![0; text.len()], tag: [0; UNIT], status: OK };
        if self.operation == COUNTER {
            let counter = nonce.try_into().map_err(|_| LAUNCH_FAILED)?;
            ctr(*PATH, &schedule, counter, &text, &mut made.text).map_err(|_| LAUNCH_FAILED)?;
            return Ok(made);
        }
        let expected =
            part(self.expected, if self.operation == SEAL { 0 } else { self.tag_bytes })?;
        let apart = SlotText::Apart { input: &text, output: &mut made.text };
        let (op, text, tag) = match self.operation {
            SEAL => (Op::Seal, apart, SlotTag::Write(&mut made.tag)),
            OPEN => (Op::Open, apart, SlotTag::Check(&expected)),
            VERIFY => (Op::Verify, SlotText::Read(&text), SlotTag::Check(&expected)),
            _ => return Err(LAUNCH_FAILED),
        };
        match process(*PATH, &schedule, Slot { op, nonce: &nonce, aad: &aad, text, tag }) {
            Status::Ok => Ok(made),
            Status::AuthFailed => Ok(Made { status: WRONG_TAG, ..made }),
            _ => Err(LAUNCH_FAILED),
        }
    }

    fn put_text(&self, memory: &mut Memory, slabs: &Slabs, text: &[u8]) -> Result<(), Code> {
        if self.operation == VERIFY {
            return Ok(());
        }
        let mut units = text.to_vec();
        units.resize(text.len().next_multiple_of(UNIT), 0);
        memory.write(slabs.output + at(self.out), &units)
    }

    fn put_result(&self, memory: &mut Memory, slabs: &Slabs, made: &Made) -> Result<(), Code> {
        let mut units = [0; 2 * UNIT];
        units[..UNIT].copy_from_slice(&made.tag);
        units[UNIT] = made.status;
        memory.write(slabs.output + at(self.result), &units)
    }

    /// The status that was put.
    pub(super) fn status(&self, memory: &Memory, output: u64) -> Result<u8, Code> {
        Ok(memory.read(output + at(self.result) + UNIT as u64, 1)?[0])
    }
}

/// What comes of a message.
struct Made {
    text: Vec<u8>,
    tag: [u8; UNIT],
    status: u8,
}

/// The bytes of a unit.
pub(super) fn at(unit: u32) -> u64 {
    UNIT as u64 * u64::from(unit)
}

pub(super) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}

/// Bytes from a unit on, behind which zeros have to be.
fn padded(
    memory: &Memory,
    slab: u64,
    unit: u32,
    bytes: usize,
    whole: usize,
) -> Result<Vec<u8>, Code> {
    let (part, padding) = memory.read(slab + at(unit), whole)?.split_at(bytes);
    if padding.iter().any(|byte| *byte != 0) {
        return Err(LAUNCH_FAILED);
    }
    Ok(part.to_vec())
}

static PATH: LazyLock<Path> = LazyLock::new(|| Path::best().ok().flatten().unwrap_or(Path::Model));

const MESSAGE_WORDS: usize = 16;
pub(super) const MESSAGE_BYTES: u64 = 4 * MESSAGE_WORDS as u64;
pub(super) const UNIT: usize = 16;
pub(super) const KEY_BYTES: usize = 32;
const SEAL: u32 = 0;
pub(super) const OPEN: u32 = 1;
pub(super) const VERIFY: u32 = 2;
const COUNTER: u32 = 3;
const OK: u8 = 1;
pub(super) const WRONG_TAG: u8 = 2;
