//! Many short messages at once, on registers of one block or of two.
//!
//! A message alone waits for each round of AES and for each product of its hash. Here a few of them go
//! through AES side by side, each with a key of its own, and the hashes of the few before are computed
//! between their rounds. Messages are taken in windows, and those of one length in blocks are worked together;
//! what is longer, or has nonces that must be hashed, is worked one by one.
#![allow(unsafe_code)]

mod fresh;
mod group;
mod hash;
mod kernel;
mod pays;
mod tag;
mod text;
mod width;
mod words;

use core::ops::Range;

use sealift_core::Work;

use self::{group::Call, width::Width};
use super::cpu::{HaveAesNi, HaveVaes256};
use super::window::{
    desk::{How, Together},
    item::{Class, KeyForm, MEDIUM_AAD},
    windows,
};
use crate::Schedules;

pub(crate) use self::pays::pays;

/// Works on the messages of a range that the kernel takes; the others are given back, untouched.
pub(crate) fn run_128(
    token: HaveAesNi,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Vec<usize> {
    run(token, work, range, schedules)
}

/// The same on registers of two blocks.
pub(crate) fn run_256(
    token: HaveVaes256,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Vec<usize> {
    run(token, work, range, schedules)
}

fn run<W: Width>(
    w: W,
    work: &mut Work<'_>,
    range: Range<usize>,
    schedules: Schedules<'_>,
) -> Vec<usize> {
    windows(work, range, schedules, None, LONG_TEXT, how, |together, items, ahead| {
        if let Together::Alike(class) = together {
            // SAFETY: the items are of spans, which borrow the work meanwhile, and of the class.
            unsafe { w.run(&Call::of(class), items, ahead) };
        }
    })
}

/// How so many messages of a class are worked.
fn how(class: &Class, has_plain_nonce: bool, messages: usize) -> How {
    let least = if class.keys == KeyForm::Raw { 2 } else { ALIKE_MIN };
    let is_short = class.text_blocks < LONG_TEXT && class.aad_blocks < MEDIUM_AAD;
    let takes = is_short && has_plain_nonce;
    if takes && messages >= least { How::Alike } else { How::Alone }
}

/// Texts of so many blocks are longer than the kernel takes. 9 blocks, 129 to 144 bytes, still gain: under raw keys they
/// took 460 ns one by one.
const LONG_TEXT: usize = 10;

/// Fewer messages of a class are worked one by one.
const ALIKE_MIN: usize = 6;
