//! Which kernel is quicker with short messages under many keys: `narrow`, or the ones for lanes and chains.
//!
//! A message in registers of its own needs no transposes, and leaves part of a register idle where its blocks don't fill it.
//! Which weighs more differs from processor to processor, so each measures it, once.
#![allow(unsafe_code)]

use core::{array, ptr};
use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use sealift_core::{Key, Op, Status};

use super::{
    super::{cpu::HaveVaes512, narrow},
    chain,
    item::{Ahead, Class, Item, KeyForm, LONG_TEXT},
    lane,
};
use crate::{Path, Schedule};

/// Whether `narrow` is quicker, by blocks of text.
static IS_NARROW: OnceLock<[bool; TEXTS]> = OnceLock::new();

/// Texts of so many blocks and of more are worked alike. Measures, the first time, which takes a millisecond.
pub(super) fn long_text(token: HaveVaes512) -> usize {
    let is_narrow = IS_NARROW.get_or_init(|| {
        // For tests, which would else not know what they test.
        if cfg!(sealift_narrow) { [true; TEXTS] } else { measure(token) }
    });
    let longest = is_narrow.iter().rposition(|is_narrow| *is_narrow);
    longest.map_or(LONG_TEXT, |longest| LONG_TEXT.max(longest + 1))
}

/// Whether so many messages of a class are for `narrow`.
pub(super) fn is_narrow(class: &Class, messages: usize) -> bool {
    let is_quicker = || IS_NARROW.get().is_some_and(|is_narrow| is_narrow[class.text_blocks]);
    messages >= MESSAGES_MIN && narrow::takes_512(class) && is_quicker()
}

fn measure(token: HaveVaes512) -> [bool; TEXTS] {
    let expand = |key| Schedule::new(Path::Vaes512(token), &Key::Aes128([key; 16]));
    let schedules: Vec<_> = (0..MESSAGES).map(expand).collect();
    array::from_fn(|text_blocks| {
        let class = Class {
            op: Op::Seal,
            keys: KeyForm::Each,
            rounds: 10,
            tag_bytes: 16,
            has_plain_nonces: true,
            text_blocks,
            aad_blocks: 0,
        };
        if !narrow::takes_512(&class) {
            return false;
        }
        let other = if lane::takes(&class) { lane::run } else { chain::run };
        is_quicker(token, &class, &schedules, narrow::run_512, other)
    })
}

type Kernel = unsafe fn(HaveVaes512, &Class, &[Item], &mut Ahead<'_>);

/// Whether a kernel works messages of a class sooner than another; both take it.
fn is_quicker(
    token: HaveVaes512,
    class: &Class,
    schedules: &[Schedule],
    kernel: Kernel,
    other: Kernel,
) -> bool {
    let nonce = [0_u8; 12];
    let text = [0_u8; 16 * TEXTS];
    let mut places = vec![(text, [0_u8; 16], Status::Ok); schedules.len()];
    let item =
        |(i, (schedule, (text, tag, status))): (usize, (&Schedule, &mut (_, [u8; 16], _)))| {
            // Half of the texts end with a part of a block.
            let part = if i % 8 < 4 { 0 } else { 8 };
            let text = ptr::from_mut::<[u8; 16 * TEXTS]>(text).cast::<u8>();
            Item {
                input: text,
                output: text,
                tag: tag.as_mut_ptr(),
                nonce: nonce.as_ptr(),
                key: schedule.address(),
                status,
                text_bytes: u32::try_from((16 * class.text_blocks).saturating_sub(part))
                    .unwrap_or(0),
                nonce_bytes: 12,
                ..Item::NOBODYS
            }
        };
    let items: Vec<_> = schedules.iter().zip(&mut places).enumerate().map(item).collect();
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (least, kernel) in least.iter_mut().zip([kernel, other]) {
            let start = Instant::now();
            // SAFETY: the items' parts are what they say, and outlive this; the class is theirs, and taken by both.
            unsafe { kernel(token, class, &items, &mut Ahead::nothing()) };
            *least = start.elapsed().min(*least);
        }
    }
    least[0] < least[1]
}

/// How many numbers of blocks `narrow` takes, none among them.
const TEXTS: usize = narrow::TEXT_BLOCKS_512 + 1;

/// Messages that are measured, all under different keys: so many keys are in the second cache.
const MESSAGES: u8 = 128;

/// How often each kernel works them; the quickest time counts, which nobody disturbed.
const ROUNDS: usize = 4;

/// Fewer messages are not worth its beginning.
const MESSAGES_MIN: usize = 6;
