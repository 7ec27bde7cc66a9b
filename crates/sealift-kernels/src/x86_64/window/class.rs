//! What messages have in common, in a number.

use sealift_core::Op;

use super::item::{Class, KeyForm, LONG_AAD, LONG_TEXT_MAX, MEDIUM_AAD, MEDIUM_AAD_BLOCKS};

/// What differs between the classes of a batch, in a number.
///
/// In the order of the numbers, messages of neighbouring classes take about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassId(u16);

impl ClassId {
    /// How many there can be.
    pub(super) const NUMBER: usize = 3 * 3 * 3 * (Self::SHAPES as usize);
    const AADS: u16 = small(LONG_AAD + 1);
    const SHAPES: u16 = small(LONG_TEXT_MAX + 1) * Self::AADS;
    const OF_KEY: u16 = 3 * 3 * Self::SHAPES;

    /// The class of a message under a key of 10 rounds; lengths are in bytes. Texts of `long` blocks and of more are in one,
    /// that of [`LONG_TEXT_MAX`].
    #[inline]
    pub(super) fn new(op: Op, text: usize, aad: usize, nonce: usize, long: usize) -> ClassId {
        debug_assert!(long <= LONG_TEXT_MAX, "texts of {long} blocks");
        let op = match op {
            Op::Seal => 0,
            Op::Open => 1,
            Op::Verify => 2,
        };
        let aad = match aad.div_ceil(16) {
            blocks if blocks < MEDIUM_AAD => blocks,
            blocks if blocks <= MEDIUM_AAD_BLOCKS => MEDIUM_AAD,
            _ => LONG_AAD,
        };
        let shape = small(known_blocks(text, long)) * Self::AADS + small(aad);
        let nonce = match nonce {
            12 => 0,
            0..=16 => 1,
            _ => 2,
        };
        ClassId((op * 3 + nonce) * Self::SHAPES + shape)
    }

    /// The same under a key of 10, 12 or 14 rounds, of one under a key of 10.
    #[inline]
    pub(super) fn under(self, rounds: usize) -> ClassId {
        debug_assert!(self.rounds() == 10, "{self:?}");
        ClassId(small((rounds - 10) / 2) * Self::OF_KEY + self.0)
    }

    /// The same with texts of no block up to [`LONG_TEXT_MAX`].
    pub(super) fn of_all_texts(self) -> [ClassId; LONG_TEXT_MAX + 1] {
        let shape = self.0 % Self::SHAPES;
        let none = self.0 - shape + shape % Self::AADS;
        core::array::from_fn(|blocks| ClassId(none + small(blocks) * Self::AADS))
    }

    /// Its place in a table of all.
    #[inline]
    pub(super) fn place(self) -> usize {
        usize::from(self.0)
    }

    /// 10, 12 or 14.
    pub(super) fn rounds(self) -> usize {
        10 + 2 * usize::from(self.0 / Self::OF_KEY)
    }

    /// The class that it stands for in a batch.
    pub(super) fn class(self, keys: KeyForm, tag_bytes: usize) -> Class {
        let op = match self.0 % Self::OF_KEY / (3 * Self::SHAPES) {
            0 => Op::Seal,
            1 => Op::Open,
            _ => Op::Verify,
        };
        let text_blocks = usize::from(self.0 % Self::SHAPES / Self::AADS);
        let aad_blocks = usize::from(self.0 % Self::AADS);
        let has_plain_nonces = (self.0 / Self::SHAPES).is_multiple_of(3);
        let rounds = self.rounds();
        Class { op, keys, rounds, tag_bytes, has_plain_nonces, text_blocks, aad_blocks }
    }
}

/// Blocks of a text, or what stands for all texts of `long` and more.
#[inline(always)]
pub(super) fn known_blocks(text: usize, long: usize) -> usize {
    let blocks = text.div_ceil(16);
    if blocks < long { blocks } else { LONG_TEXT_MAX }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 65,536 classes")]
const fn small(number: usize) -> u16 {
    number as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_one_class() {
        let mut seen = [false; ClassId::NUMBER];
        let aads = [0, 1, 17, 48, 49, 129];
        for (op, rounds) in [Op::Seal, Op::Open, Op::Verify]
            .into_iter()
            .flat_map(|op| [10, 12, 14].map(|rounds| (op, rounds)))
        {
            for (text, aad) in (0..=LONG_TEXT_MAX).flat_map(|text| aads.map(|aad| (text, aad))) {
                for nonce in [12, 16, 128] {
                    let id = ClassId::new(op, 16 * text, aad, nonce, LONG_TEXT_MAX).under(rounds);
                    let class = id.class(KeyForm::Each, 16);
                    assert_eq!((class.op, class.rounds, class.text_blocks), (op, rounds, text));
                    assert_eq!(class.has_plain_nonces, nonce == 12);
                    assert!(!core::mem::replace(&mut seen[id.place()], true), "{class:?}");
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn a_class_is_found_by_the_blocks_of_its_text() {
        for (text, aad) in [(0, 0), (7, 17), (100, 129)] {
            let all = ClassId::new(Op::Open, 16 * text, aad, 16, LONG_TEXT_MAX).of_all_texts();
            for (blocks, id) in all.into_iter().enumerate() {
                assert_eq!(id, ClassId::new(Op::Open, 16 * blocks, aad, 16, LONG_TEXT_MAX));
            }
        }
    }

    #[test]
    fn blocks_are_counted_with_the_last_one_in_part() {
        let class = |text, aad| ClassId::new(Op::Open, text, aad, 12, 9).class(KeyForm::One, 12);
        let blocks = |text, aad| (class(text, aad).text_blocks, class(text, aad).aad_blocks);
        assert_eq!(blocks(0, 0), (0, 0));
        assert_eq!(blocks(113, 33), (8, 3));
        assert_eq!(blocks(129, 49), (LONG_TEXT_MAX, MEDIUM_AAD));
        assert_eq!(blocks(1 << 20, 5_000), (LONG_TEXT_MAX, LONG_AAD));
    }
}
