//! The lab's kernels.

use super::message::{MESSAGE_BYTES, Message, Slabs, UNIT, words_of};
use crate::code::{Code, LAUNCH_FAILED};
use crate::world::Memory;
use sealift_core::KeyLength;

/// What each work-item makes of the outputs of all messages.
pub(super) fn checksums(
    memory: &mut Memory,
    (keys, input, output, messages): (u64, u64, u64, u64),
    (count, items): (u64, u32),
    length: KeyLength,
) -> Result<(), Code> {
    let slabs = Slabs { input, output };
    let mut sums = [0_u32; 4];
    for number in 0..count {
        let message = Message::read(memory, messages + MESSAGE_BYTES * number)?;
        let key = message.key(memory, keys, length)?;
        for unit in message.output(memory, &key, &slabs)?.chunks(UNIT) {
            for (sum, word) in sums.iter_mut().zip(words_of(unit)) {
                *sum = sum.rotate_left(1).wrapping_add(word);
            }
        }
    }
    let sums: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    (0..u64::from(items)).try_for_each(|item| memory.write(output + UNIT as u64 * item, &sums))
}

/// An instruction that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Lop3,
    Prmt,
    Shf,
    Imad,
    ImadWide,
    Lds,
}

/// Where the chains of each work-item end.
pub(super) fn chains(
    memory: &mut Memory,
    unit: Unit,
    (input, output): (u64, u64),
    (rounds, items): (u64, u32),
) -> Result<(), Code> {
    let [b, c] = words_of(memory.read(input, 8)?).collect::<Vec<_>>()[..] else {
        return Err(LAUNCH_FAILED);
    };
    for item in 0..items {
        let (mut result, mut uppers) = (0_u32, 0_u32);
        for chain in 0..CHAINS {
            let mut word = begin(item, chain);
            if unit == Unit::Lds {
                word %= 256;
            }
            for _ in 0..rounds {
                word = match unit {
                    Unit::Lop3 => (word & b) ^ c,
                    Unit::Prmt => {
                        let low = word & 0x00ff_ffff;
                        (word & 0xff00_0000) | ((low << 8) & 0x00ff_ffff) | (low >> 16)
                    }
                    Unit::Shf => word.rotate_left(7),
                    Unit::Imad => word.wrapping_mul(b).wrapping_add(c),
                    Unit::Lds => (word * 97).wrapping_add(b & !3).wrapping_add(13) & 255,
                    Unit::ImadWide => {
                        let product = u64::from(word) * u64::from(b);
                        uppers ^= lower(product >> 32);
                        lower(product)
                    }
                };
            }
            result = result.rotate_left(5) ^ word;
        }
        memory.write(output + 4 * u64::from(item), &(result ^ uppers).to_le_bytes())?;
    }
    Ok(())
}

/// Products of matrices of bits, which a warp's lanes bring and take as PTX says of `mma.m16n8k256`.
pub(super) fn bit_products(
    memory: &mut Memory,
    (input, output): (u64, u64),
    (rounds, items): (u64, u32),
) -> Result<(), Code> {
    for warp in 0..u64::from(items / WARP) {
        let brought = memory.read(input + 1_024 * warp, 1_024)?.to_vec();
        let (mut left, mut right) = ([[false; 256]; 16], [[false; 8]; 256]);
        for (at, word) in words_of(&brought).enumerate() {
            let (lane, part) = (at / 8, at % 8);
            let (group, first) = (lane / 4, lane % 4 * 32);
            for bit in 0..32 {
                let is_set = (word >> bit) & 1 == 1;
                match part {
                    0..4 => left[group + part % 2 * 8][first + part / 2 * 128 + bit] = is_set,
                    4..6 => right[first + (part - 4) * 128 + bit][group] = is_set,
                    _ => {}
                }
            }
        }
        let mut taken = vec![];
        for lane in 0..WARP as usize {
            let (row, column) = (lane / 4, lane % 4 * 2);
            for (row, column) in
                [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
            {
                let ones = (0..256).filter(|k| left[row][*k] && right[*k][column]).count();
                let sum = ones as u64 * rounds * u64::from(CHAINS);
                taken.extend(lower(sum).to_le_bytes());
            }
        }
        memory.write(output + 512 * warp, &taken)?;
    }
    Ok(())
}

fn begin(item: u32, chain: u32) -> u32 {
    (item % DISTINCT + 1).wrapping_mul(2 * chain + 1).wrapping_mul(2_654_435_761)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower word is wanted")]
fn lower(wide: u64) -> u32 {
    wide as u32
}

const CHAINS: u32 = 8;
const DISTINCT: u32 = 1_024;
const WARP: u32 = 32;
