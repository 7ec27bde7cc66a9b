//! Long messages: each kernel leaves marks that the next one looks for, and the last but one does the work.

use super::message::{
    KEY_BYTES, MESSAGE_BYTES, Message, OPEN, UNIT, VERIFY, WRONG_TAG, at, words_of,
};
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

/// Keeps a message's key, of which no block is hashed yet.
pub(super) fn prepare(
    memory: &mut Memory,
    key: &[u8],
    prepared: u64,
    number: u64,
) -> Result<(), Code> {
    let mut all = vec![PREPARED; to_usize(PREPARED_BYTES)?];
    all[..HASHED_AT].fill(0);
    all[..key.len()].copy_from_slice(key);
    all[HASHED_AT..][..4].fill(0);
    memory.write(prepared + PREPARED_BYTES * number, &all)
}

/// The key that was kept, and how many blocks were hashed.
fn kept(memory: &Memory, prepared: u64, number: u64) -> Result<(Vec<u8>, usize), Code> {
    let all = memory.read(prepared + PREPARED_BYTES * number, to_usize(PREPARED_BYTES)?)?;
    let (key, behind) = all.split_at(HASHED_AT);
    let (hashed, marks) = behind.split_first_chunk().ok_or(LAUNCH_FAILED)?;
    if marks.iter().any(|byte| *byte != PREPARED) {
        return Err(LAUNCH_FAILED);
    }
    Ok((key.to_vec(), u32::from_le_bytes(*hashed) as usize))
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

/// Counts a piece's blocks as hashed, if it was worked: those of an aad that is long come first, then those of the text, each
/// within a slot, of which the last one ends where the message does.
pub(super) fn join(memory: &mut Memory, places: &Places, number: u64) -> Result<(), Code> {
    let worked = memory.read(places.partial + PARTIAL_BYTES * number, to_usize(PARTIAL_BYTES)?)?;
    let (piece, marks) = worked.split_at(PIECE);
    if marks.iter().any(|byte| *byte != HASHED) {
        return Err(LAUNCH_FAILED);
    }
    let piece = Piece::of(piece)?;
    let of = u64::from(piece.message);
    let message = Message::read(memory, places.messages + MESSAGE_BYTES * of)?;
    let (_, next) = kept(memory, places.prepared, of)?;
    let (aad, all) = hashed_blocks(&message);
    let [blocks, gap, behind] = [piece.blocks, piece.gap, piece.behind].map(|n| n as usize);
    let (part, before, end) = if next < aad { (AAD, 0, aad) } else { (TEXT, aad, all) };
    let is_next = piece.part == part && before + piece.first_block as usize == next;
    let own = message.first_piece..message.first_piece + message.pieces;
    let is_own = u32::try_from(number).is_ok_and(|number| own.contains(&number));
    let is_inside = is_own && 0 < blocks && next + blocks <= end && blocks + gap <= SLOT;
    if !is_next || !is_inside || all - next - blocks != SLOT * behind + gap {
        return Err(LAUNCH_FAILED);
    }
    let hashed = u32::try_from(next + blocks).map_err(|_| LAUNCH_FAILED)?.to_le_bytes();
    memory.write(places.prepared + PREPARED_BYTES * of + HASHED_AT as u64, &hashed)
}

/// The key of a message of which all blocks are hashed.
pub(super) fn key(
    memory: &Memory,
    of: &Message,
    prepared: u64,
    number: u64,
    length: KeyLength,
) -> Result<Vec<u8>, Code> {
    let (mut key, hashed) = kept(memory, prepared, number)?;
    if hashed != hashed_blocks(of).1 {
        return Err(LAUNCH_FAILED);
    }
    key.truncate(length.bytes());
    Ok(key)
}

/// How many blocks of a message's aad are hashed in pieces, and of all of it.
fn hashed_blocks(of: &Message) -> (usize, usize) {
    let aad = if of.aad_bytes > MANY_BYTES { of.aad_bytes.div_ceil(UNIT) } else { 0 };
    (aad, aad + of.text_bytes.div_ceil(UNIT))
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
/// Where the number of blocks stands that were hashed, behind the key.
const HASHED_AT: usize = KEY_BYTES;
/// What stands behind that number, ...
const PREPARED: u8 = 0x11;
/// ... behind a piece that was hashed, ...
const HASHED: u8 = 0x22;
/// ... and in a text before its message is finished.
const UNFINISHED: u8 = 0x5a;
