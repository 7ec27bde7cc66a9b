//! Counters that wrap: the last four bytes of the counter block go from ffffffff to zero, and
//! nothing is carried into the twelve before.
//!
//! A nonce of 12 bytes starts at one, so only hashed nonces get there. For one of 16 bytes the
//! first counter block is J = (N·H xor L)·H with L the length block, which is solved for N.

use crate::compare::{grouped, must_conform, seal_truths};
use crate::form::Form;
use crate::message::{Group, Message, Ring};
use crate::random::Random;
use crate::recipe::{keys_of_all_sizes, mixed};
use crate::subject::Subject;
use sealift_core::{Key, Op, TagLength};
use sealift_drivers::kernels::Kernels;

/// Blocks before the wrap: around every width of kernels, and far.
const FAR: [u32; 9] = [127, 128, 129, 255, 256, 257, 511, 512, 1_000];
const NEAR: u32 = 70;
const NEAR_SLOW: u32 = 10;

/// Texts whose counter wraps after each of these numbers of blocks.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    if !subject.nonce_lengths().contains(&16) {
        return Ok("none of its nonces gets there: it takes no nonces of 16 B".to_owned());
    }
    let mut random = Random::new(subject.seed, 0x3a9);
    let near = if subject.is_slow() { NEAR_SLOW } else { NEAR };
    let far = FAR.into_iter().filter(|_| !subject.is_slow());
    let ring = Ring::new(keys_of_all_sizes(12, &mut random));
    let hash_keys = (0..ring.len()).map(|key| hash_key(ring.key_bytes(key)));
    let hash_keys = hash_keys.collect::<Result<Vec<_>, _>>()?;
    let mut messages = 0;
    let wraps = |before: &u32| subject.text_bytes(usize::MAX) > 16 * *before as usize;
    for before in (0..near).chain(far).filter(wraps) {
        let any: Vec<_> = (0..ring.len()).map(|_| before as usize + random.below(40)).collect();
        // So many alike are worked together, and their last block is a part behind whole steps.
        let alike = vec![(before as usize).next_multiple_of(16).max(16); 4 * ring.len()];
        for blocks in [any, alike] {
            let mut message = |(message, blocks): (usize, usize)| {
                let key = message % ring.len();
                let counter = u128::from(random.next()) << 64 | u128::from(u32::MAX - before);
                Message {
                    op: Op::Seal,
                    key,
                    nonce: nonce_for(hash_keys[key], counter).to_vec(),
                    aad: vec![],
                    text: random.bytes(subject.text_bytes(16 * blocks + 5)),
                    tag: vec![],
                }
            };
            messages += blocks.len();
            let mut sealed = Group {
                ring: ring.clone(),
                tag_length: TagLength::FULL,
                messages: blocks.into_iter().enumerate().map(&mut message).collect(),
                truths: vec![],
            };
            seal_truths(&*subject.oracle, &mut sealed)?;
            let form = Form::nth(before as usize, subject.capabilities());
            must_conform(&*subject.device, &sealed, form)?;
            must_conform(&*subject.device, &mixed(&sealed, &mut random), form)?;
        }
    }
    ring.retire_all(&*subject.device);
    Ok(format!("{} messages", grouped(messages)))
}

/// The nonce of 16 bytes whose first counter block is `counter`.
fn nonce_for(hash_key: u128, counter: u128) -> [u8; 16] {
    let length = multiply(128, hash_key);
    let nonce = multiply(counter ^ length, inverse(multiply(hash_key, hash_key)));
    nonce.to_be_bytes()
}

/// The encrypted zero block.
fn hash_key(key: &[u8]) -> Result<u128, String> {
    let key = Key::new(key).map_err(|error| error.to_string())?;
    let kernels = Kernels::best(String::new()).map_err(|error| error.to_string())?;
    let mut block = [0; 16];
    kernels.ctr_in_place(&key, [0; 16], &mut block);
    Ok(u128::from_be_bytes(block))
}

/// Multiplies in the field of SP 800-38D, whose x^0 is the highest bit (algorithm 1).
fn multiply(a: u128, b: u128) -> u128 {
    let (mut product, mut shifted) = (0, b);
    for bit in (0..128).rev() {
        product ^= if a >> bit & 1 == 1 { shifted } else { 0 };
        shifted = shifted >> 1 ^ if shifted & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    product
}

/// a^(2^128 - 2).
fn inverse(a: u128) -> u128 {
    let step = |(square, product): (u128, u128)| {
        let square = multiply(square, square);
        (square, multiply(product, square))
    };
    let one = 1 << 127;
    (1..128).fold((a, one), |state, _| step(state)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_are_solved_for_the_counter_they_start_at() {
        let hash_key = hash_key(&[7; 16]).unwrap();
        let mut random = Random::new(1, 1);
        for _ in 0..20 {
            let counter = u128::from(random.next()) << 64 | u128::from(random.next());
            let nonce = u128::from_be_bytes(nonce_for(hash_key, counter));
            assert_eq!(multiply(multiply(nonce, hash_key) ^ 128, hash_key), counter);
            assert_eq!(multiply(counter, inverse(counter)), 1 << 127);
        }
    }
}
