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
