//! Long messages: each kernel leaves marks that the next one looks for, and the last but one does the work.

use super::message::{MESSAGE_BYTES, Message, OPEN, UNIT, VERIFY, WRONG_TAG, at, words_of};
use crate::code::{Code, LAUNCH_FAILED};
use crate::world::Memory;
use sealift_core::KeyLength;
use sealift_gpu::message::{self, MANY_BYTES, PIECE_BLOCKS};
use sealift_gpu::piece::PIECE_BYTES;

/// Where `long_pieces` finds and puts things.
pub(super) struct Places {
    pub(super) output: u64,
    pub(super) messages: u64,
    pub(super) pieces: u64,
    pub(super) prepared: u64,
    pub(super) partial: u64,
}

/// Keeps a message's key.
pub(super) fn prepare(
    memory: &mut Memory,
    key: &[u8],
    prepared: u64,
    number: u64,
) -> Result<(), Code> {
    let mut all = vec![PREPARED; to_usize(PREPARED_BYTES)?];
    all[..key.len()].copy_from_slice(key);
    memory.write(prepared + PREPARED_BYTES * number, &all)
}

/// The key that was kept.
pub(super) fn key(
    memory: &Memory,
    prepared: u64,
    number: u64,
    length: KeyLength,
) -> Result<Vec<u8>, Code> {
    let all = memory.read(prepared + PREPARED_BYTES * number, to_usize(PREPARED_BYTES)?)?;
    let (key, behind) = all.split_at(length.bytes());
    if behind.iter().any(|byte| *byte != PREPARED) {
        return Err(LAUNCH_FAILED);
    }
    Ok(key.to_vec())
}

/// Writes no text yet that anybody could take for the right one.
pub(super) fn piece(memory: &mut Memory, places: &Places, number: u64) -> Result<(), Code> {
    let piece = Piece::read(memory, places.pieces, number)?;
    let message =
        Message::read(memory, places.messages + MESSAGE_BYTES * u64::from(piece.message))?;
    memory.read(places.prepared + PREPARED_BYTES * u64::from(piece.message), 1)?;
    if piece.part == TEXT && message.operation != VERIFY {
        piece.fill(memory, places.output, &message, UNFINISHED)?;
    }
    let mut all = vec![HASHED; to_usize(PARTIAL_BYTES)?];
    all[..PIECE].copy_from_slice(memory.read(places.pieces + PIECE as u64 * number, PIECE)?);
    memory.write(places.partial + PARTIAL_BYTES * number, &all)
}

/// Leaves a mark that a piece's sums were joined.
pub(super) fn join(memory: &mut Memory, partial: u64, number: u64) -> Result<(), Code> {
    let of = partial + PARTIAL_BYTES * number;
    if memory.read(of, to_usize(PARTIAL_BYTES)?)?[PIECE..].iter().any(|byte| *byte != HASHED) {
        return Err(LAUNCH_FAILED);
    }
    memory.write(of + PIECE as u64, &[JOINED])
}

/// Checks that all of a message's pieces were worked: those of its aad, if that is long, and behind them those of its text,
/// each within a slot, of which the last one ends where the message does.
pub(super) fn check_pieces(
    memory: &Memory,
    of: &Message,
    partial: u64,
    number: u64,
) -> Result<(), Code> {
    let text = of.text_bytes.div_ceil(UNIT);
    let aad = if of.aad_bytes > MANY_BYTES { of.aad_bytes.div_ceil(UNIT) } else { 0 };
    let mut next = 0;
    for piece in of.first_piece..of.first_piece + of.pieces {
        let all = memory.read(partial + PARTIAL_BYTES * u64::from(piece), PIECE + 1)?;
        let piece = Piece::of(all)?;
        let [blocks, gap, behind] = [piece.blocks, piece.gap, piece.behind].map(|n| n as usize);
        let (part, before) = if next < aad { (AAD, 0) } else { (TEXT, aad) };
        let after = (aad + text).checked_sub(next + blocks).ok_or(LAUNCH_FAILED)?;
        let is_in_slot = after == SLOT * behind + gap && 0 < blocks && blocks + gap <= SLOT;
        let is_next = u64::from(piece.message) == number
            && piece.part == part
            && before + piece.first_block as usize == next;
        let crosses = part == AAD && next + blocks > aad;
        if all[PIECE] != JOINED || !is_in_slot || !is_next || crosses {
            return Err(LAUNCH_FAILED);
        }
        next += blocks;
    }
    if next == aad + text { Ok(()) } else { Err(LAUNCH_FAILED) }
}

/// Writes zeros over a piece of a message that did not open.
pub(super) fn clear(
    memory: &mut Memory,
    output: u64,
    messages: u64,
    pieces: u64,
    number: u64,
) -> Result<(), Code> {
    let piece = Piece::read(memory, pieces, number)?;
    let message = Message::read(memory, messages + MESSAGE_BYTES * u64::from(piece.message))?;
    let opens = piece.part == TEXT && message.operation == OPEN;
    if opens && message.status(memory, output)? == WRONG_TAG {
        piece.fill(memory, output, &message, 0)?;
    }
    Ok(())
}

/// A run of blocks.
struct Piece {
    message: u32,
    part: u32,
    first_block: u32,
    blocks: u32,
    gap: u32,
    behind: u32,
}

impl Piece {
    fn read(memory: &Memory, pieces: u64, number: u64) -> Result<Self, Code> {
        Self::of(memory.read(pieces + PIECE as u64 * number, PIECE)?)
    }

    fn of(bytes: &[u8]) -> Result<Self, Code> {
        let words: Vec<_> = words_of(&bytes[..PIECE]).collect();
        match words[..] {
            [message, part, first_block, blocks, gap, behind, 0, 0] => {
                Ok(Self { message, part, first_block, blocks, gap, behind })
            }
            _ => Err(LAUNCH_FAILED),
        }
    }

    fn fill(
        &self,
        memory: &mut Memory,
        output: u64,
        message: &Message,
        byte: u8,
    ) -> Result<(), Code> {
        let from = output + at(message.out) + at(self.first_block);
        memory.write(from, &vec![byte; UNIT * self.blocks as usize])
    }
}

fn to_usize(number: u64) -> Result<usize, Code> {
    usize::try_from(number).map_err(|_| LAUNCH_FAILED)
}

const PREPARED_BYTES: u64 = message::PREPARED_BYTES as u64;
const PARTIAL_BYTES: u64 = message::PARTIAL_BYTES as u64;
const PIECE: usize = PIECE_BYTES;
const SLOT: usize = PIECE_BLOCKS;
const TEXT: u32 = 0;
const AAD: u32 = 1;
/// What stands behind a key that was kept, ...
const PREPARED: u8 = 0x11;
/// ... behind a piece that was hashed, ...
const HASHED: u8 = 0x22;
/// ... and joined, ...
const JOINED: u8 = 0x33;
/// ... and in a text before its message is finished.
const UNFINISHED: u8 = 0x5a;
