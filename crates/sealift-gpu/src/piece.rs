//! Long messages in pieces that kernels work side by side.

use crate::message::{MANY_BYTES, Message, PIECE_BLOCKS, UNIT_BYTES, in_order};

/// A run of blocks of a long message's text, or of an aad that is long itself.
///
/// What is hashed, the aad's blocks and behind them the text's, is cut into slots of [`PIECE_BLOCKS`] from its end on. A
/// piece is what a slot has of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which message of the round.
    pub message: u32,
    /// Which of its parts.
    pub part: Part,
    /// The first block, counted in that part.
    pub first_block: u32,
    /// How many.
    pub blocks: u32,
    /// Blocks behind them in their slot, which are the text's.
    pub gap: u32,
    /// How many slots follow.
    pub behind: u32,
}

/// What a piece is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// Of a text.
    Text = 0,
    /// Of an aad.
    Aad = 1,
}

impl Piece {
    /// As it lies in [`Slab::Pieces`](crate::gpu::Slab::Pieces).
    #[must_use]
    pub fn bytes(&self) -> [u8; PIECE_BYTES] {
        let Self { message, part, first_block, blocks, gap, behind } = *self;
        in_order(&[message, part as u32, first_block, blocks, gap, behind, 0, 0])
    }
}

/// How many blocks of a message are worked in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    aad: u32,
    text: u32,
}

impl Cut {
    /// None where a work-item works all of it.
    pub(crate) fn of(aad_bytes: usize, text_bytes: usize) -> Option<Self> {
        let is_long = |bytes| bytes > MANY_BYTES;
        let blocks = |bytes: usize| u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let aad = if is_long(aad_bytes) { blocks(aad_bytes) } else { 0 };
        (is_long(aad_bytes) || is_long(text_bytes)).then(|| Self { aad, text: blocks(text_bytes) })
    }

    /// How many pieces that makes.
    pub(crate) fn pieces(self) -> usize {
        let slots = |blocks: u32| blocks.div_ceil(SLOT) as usize;
        match self.aad {
            0 => slots(self.text),
            aad => slots(self.text) + slots(self.text + aad) - (self.text / SLOT) as usize,
        }
    }

    /// The pieces of the message of that number.
    fn cut(self, message: u32) -> impl Iterator<Item = Piece> {
        let of = move |part, all: u32, after: u32| {
            let mut first_block = 0;
            std::iter::from_fn(move || {
                let left = all - first_block;
                let slot = (left + after).checked_sub(1)? % SLOT + 1;
                let blocks = slot.min(left);
                let (gap, behind) = (slot - blocks, (left + after - slot) / SLOT);
                let piece = Piece { message, part, first_block, blocks, gap, behind };
                first_block += blocks;
                (blocks > 0).then_some(piece)
            })
        };
        of(Part::Aad, self.aad, self.text).chain(of(Part::Text, self.text, 0))
    }
}

/// Writes a message's pieces behind those of the ones before.
pub(crate) fn cut_up(message: &Message, number: u32, pieces: &mut [u8]) {
    let [aad, text] = [message.aad_bytes, message.text_bytes].map(|bytes| bytes as usize);
    let own = pieces.as_chunks_mut().0[message.first_piece as usize..].iter_mut();
    let cut = Cut::of(aad, text).into_iter().flat_map(|cut| cut.cut(number));
    own.zip(cut).for_each(|(place, piece)| *place = piece.bytes());
}

#[expect(clippy::cast_possible_truncation, reason = "it is a thousand")]
const SLOT: u32 = PIECE_BLOCKS as u32;
/// Bytes of a [`Piece`].
pub const PIECE_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT_BYTES: usize = PIECE_BLOCKS * UNIT_BYTES;

    #[test]
    fn pieces_are_all_blocks_in_order_and_end_where_their_slots_say() {
        let lengths =
            [0, 1, 2_048, 2_049, SLOT_BYTES - 16, SLOT_BYTES - 15, SLOT_BYTES + 1, 40_000, 98_304];
        for (aad, text) in lengths.into_iter().flat_map(|aad| lengths.map(|text| (aad, text))) {
            let Some(cut) = Cut::of(aad, text) else {
                assert!(aad.max(text) <= MANY_BYTES, "{aad} {text}");
                continue;
            };
            let pieces: Vec<_> = cut.cut(7).collect();
            assert_eq!(pieces.len(), cut.pieces(), "{aad} {text}");
            let in_pieces = if aad > MANY_BYTES { aad.div_ceil(UNIT_BYTES) } else { 0 };
            let all = in_pieces + text.div_ceil(UNIT_BYTES);
            let mut next = 0;
            for piece in pieces {
                let [first, blocks, gap, behind] =
                    [piece.first_block, piece.blocks, piece.gap, piece.behind]
                        .map(|number| number as usize);
                let (part, before) =
                    if next < in_pieces { (Part::Aad, 0) } else { (Part::Text, in_pieces) };
                assert_eq!((piece.message, piece.part, before + first), (7, part, next));
                assert!(blocks > 0 && blocks + gap <= PIECE_BLOCKS, "{piece:?}");
                assert!(part == Part::Aad || gap == 0, "{piece:?}");
                next += blocks;
                assert!(part == Part::Text || next <= in_pieces, "{piece:?}");
                assert_eq!(all - next, PIECE_BLOCKS * behind + gap, "{piece:?}");
            }
            assert_eq!(next, all, "{aad} {text}");
        }
    }

    #[test]
    fn a_piece_is_eight_words_in_the_order_of_the_header() {
        let part = Part::Aad;
        let piece = Piece { message: 1, part, first_block: 3, blocks: 4, gap: 5, behind: 6 };
        let words: Vec<u32> =
            piece.bytes().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert_eq!(words, [1, Part::Aad as u32, 3, 4, 5, 6, 0, 0]);
    }
}
