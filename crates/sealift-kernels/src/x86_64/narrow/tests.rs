use sealift_core::Op;

use super::{Call, takes, width::Width};
use crate::{
    Path,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256, HaveVaes512},
        window::{
            item::{Ahead, Class, Item, KeyForm, MEDIUM_AAD, MEDIUM_AAD_BLOCKS},
            messages::{self, Message, Random},
        },
    },
};

const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];
const TAG_BYTES: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];

/// Works messages of every class that a width takes: some are wrong where that can be.
fn check_all<W: Width>(token: Result<W, Vec<&str>>, path: fn(W) -> Path, seed: u64) {
    let Ok(w) = token else { return eprintln!("skipped: this processor lacks the instructions") };
    let mut random = Random(seed);
    for (text_blocks, aad_blocks) in
        (0..=W::TEXT_BLOCKS).flat_map(|t| [0, 1, 2, 3, 7].map(move |a| (t, a)))
    {
        let longest_aad = if aad_blocks < MEDIUM_AAD { aad_blocks } else { MEDIUM_AAD_BLOCKS };
        if !takes::<W>(text_blocks, longest_aad) {
            continue;
        }
        for (op, rounds) in OPS.into_iter().flat_map(|op| [10, 12, 14].map(|rounds| (op, rounds))) {
            let tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
            let class = Class {
                op,
                keys: KeyForm::Each,
                rounds,
                tag_bytes,
                has_plain_nonces: true,
                text_blocks,
                aad_blocks,
            };
            let count = 1 + random.below(17);
            let wrong: Vec<_> =
                (0..count).map(|_| op != Op::Seal && random.below(3) == 0).collect();
            let each = wrong.iter().map(|wrong| {
                let message = Message::new(&mut random, &class);
                if *wrong { message.spoilt(&mut random) } else { message }
            });
            let messages: Vec<_> = each.collect();
            for in_place in [false, true] {
                let kernel = |items: &[Item]| {
                    // SAFETY: addresses of buffers of those lengths, and expanded keys.
                    unsafe { w.run(&Call::of(&class), items, &mut Ahead::nothing()) }
                };
                messages::check(path(w), kernel, &class, &messages, &wrong, in_place);
            }
        }
    }
}

/// Works longer texts of every length in blocks that makes another end, under keys that some have in common.
#[test]
fn every_chain_gives_what_the_model_gives() {
    let Ok(w) = HaveVaes256::check() else {
        return eprintln!("skipped: this processor lacks the instructions");
    };
    let (blocks, mut random) = (HaveVaes256::TEXT_BLOCKS, Random(63));
    for (op, rounds) in
        [Op::Seal, Op::Open].map(|op| [10, 12, 14].map(|rounds| (op, rounds))).concat()
    {
        for turn in 0..40 {
            let class = |random: &mut Random| Class {
                op,
                keys: KeyForm::Each,
                rounds,
                tag_bytes: TAG_BYTES[turn % TAG_BYTES.len()],
                has_plain_nonces: turn % 3 > 0,
                // In some the last byte of the counter wraps.
                text_blocks: [0, 0, 0, 14 * blocks][random.below(4)]
                    + blocks
                    + 1
                    + random.below(3 * blocks),
                aad_blocks: [0, 0, 1, 2, 7, 20][random.below(6)],
            };
            let count = 1 + random.below(20);
            let mut messages: Vec<Message> = vec![];
            for _ in 0..count {
                let class = class(&mut random);
                let message = match messages.last() {
                    Some(last) if random.below(2) == 0 => last.another(&mut random, &class),
                    _ => Message::new(&mut random, &class),
                };
                messages.push(message);
            }
            let wrong: Vec<_> =
                (0..count).map(|_| op == Op::Open && random.below(3) == 0).collect();
            for (message, _) in messages.iter_mut().zip(&wrong).filter(|(_, wrong)| **wrong) {
                *message = message.spoilt(&mut random);
            }
            let class = class(&mut random);
            for (in_place, is_far) in [(false, false), (true, false), (false, true), (true, true)] {
                let kernel = |items: &[Item]| {
                    let ahead = Ahead { is_far, has_far_keys: is_far, ..Ahead::nothing() };
                    // SAFETY: addresses of buffers of those lengths, and expanded keys.
                    unsafe { w.chain(&Call::of(&class), items, &ahead) }
                };
                messages::check(Path::Vaes256(w), kernel, &class, &messages, &wrong, in_place);
            }
        }
    }
}

#[test]
fn every_shape_gives_what_the_model_gives_on_one_lane() {
    check_all(HaveAesNi::check(), Path::AesNi, 60);
}

#[test]
fn every_shape_gives_what_the_model_gives_on_two_lanes() {
    check_all(HaveVaes256::check(), Path::Vaes256, 61);
}

#[test]
fn every_shape_gives_what_the_model_gives_on_four_lanes() {
    check_all(HaveVaes512::check(), Path::Vaes512, 62);
}
