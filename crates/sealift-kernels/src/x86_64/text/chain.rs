//! Texts one after the other, the end of each hashed beside the first step of the next.
//!
//! A text by itself has nothing to hash while its first step is encrypted, and nothing to encrypt while its end is hashed.

use core::arch::x86_64::*;

use super::{
    STEP, TagBlocks,
    counters::First,
    end::{load, store},
    pieces::{self, first_piece, more_pieces, weave_piece},
    span::Span,
    steps::{self, Steps, fetch},
};
use crate::{
    schedule::{Expanded, POWERS},
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256},
        ghash::{Power, Sums},
        isa::Isa,
    },
};

/// Texts on registers of two blocks, all sealed or all opened.
pub(in crate::x86_64) struct Chain<const SEAL: bool> {
    isa: HaveVaes256,
    /// The power for each register of the present text's steps.
    powers: [Power<HaveVaes256>; STEP],
    end: End,
}

/// What is not hashed yet of the text before.
struct End {
    /// Its last blocks, behind zeros: ciphertext, to the first of which what was hashed before is added, and the block of lengths.
    blocks: [__m256i; STEP],
    /// The power for each of them.
    powers: [Power<HaveVaes256>; STEP],
    /// The last block, which is hashed behind them, of a text of whole steps and at most a block more. Then there is no room for
    /// the lengths either.
    rest: Option<__m128i>,
    /// The block of lengths, where there is no room for it.
    lengths: Option<__m128i>,
    /// The block that hides the hash.
    mask: __m128i,
    /// How many registers of blocks there are, none without a text.
    registers: usize,
}

impl<const SEAL: bool> Chain<SEAL> {
    /// Without a text.
    #[inline(always)]
    pub(in crate::x86_64) fn new(isa: HaveVaes256) -> Self {
        let (narrow, zero): (HaveAesNi, _) = (isa.into(), isa.broadcast(&0));
        let powers = [Power::of(isa, zero); STEP];
        let mask = narrow.broadcast(&0);
        let end =
            End { blocks: [zero; STEP], powers, rest: None, lengths: None, mask, registers: 0 };
        Self { isa, powers, end }
    }

    /// Seals or opens a text, with the hash of what comes before it. Gives back the tag of the text before, if there is one.
    /// `is_same_key` tells that its key is the same.
    ///
    /// # Safety
    /// `text` is readable and writable for its length, which is more than a step.
    #[inline(always)]
    pub(in crate::x86_64) unsafe fn push(
        &mut self,
        schedule: &Expanded,
        is_same_key: bool,
        first: First,
        hash: __m128i,
        TagBlocks { lengths, mask }: TagBlocks,
        mut text: Span,
    ) -> Option<__m128i> {
        let (isa, end) = (self.isa, &mut self.end);
        let narrow: HaveAesNi = isa.into();
        if !is_same_key {
            self.powers = steps::powers(isa, schedule);
        }
        let mut steps = Steps::new(isa, schedule, &self.powers, None, first, isa.first_lane(hash));
        // A block behind whole steps is encrypted beside the mask: a step of its own would wait for each of its rounds.
        let behind = (text.len() - 1) % pieces::BYTES + 1;
        let rest_bytes = if behind <= 16 { behind } else { 0 };
        let (mut rest, whole) = (text, text.len() - rest_bytes);
        rest.advance(whole);
        text = text.first(whole);
        let counter = narrow.reverse(narrow.later(first.block, whole / 16));
        let both = isa.xor(isa.first_lane(mask), isa.in_last_lane(counter));
        let mut masks = isa.xor(both, steps.round_key(0));
        let (powers, blocks) = (&end.powers, &mut end.blocks);
        macro_rules! first_piece {
            ($($after:literal)+) => {
                match end.registers.next_multiple_of(2) {
                    // SAFETY: the caller promises more than a step of text, and what is left of it is whole steps or as long.
                    $($after => unsafe {
                        first_piece::<SEAL, $after>(&mut steps, &mut masks, &mut text, blocks, powers)
                    },)+
                    more => unreachable!("an end of {more} registers"),
                }
            };
        }
        let hash = first_piece!(0 2 4 6 8);
        // SAFETY: the caller promises the text.
        unsafe { more_pieces::<SEAL>(&mut steps, &mut text, &mut end.blocks) };
        let tag = (end.registers > 0).then(|| end.tag(isa, hash));
        let [mask, stream] = isa.blocks(masks);
        end.mask = mask;
        macro_rules! registers {
            ($($n:literal)+) => {
                match text.len().div_ceil(HaveVaes256::BYTES) {
                    // Of a step and a block the step is the end.
                    0 => end.wait(&steps, lengths),
                    // SAFETY: the pieces leave a step at most, and that is so many registers, the last maybe in part.
                    $($n => unsafe { end.put::<$n, SEAL>(&mut steps, &text, lengths) },)+
                    more => unreachable!("an end of {more} registers"),
                }
            };
        }
        registers!(1 2 3 4 5 6 7 8);
        // SAFETY: the caller promises the text, of which a block or less is left there.
        end.rest = (rest_bytes > 0).then(|| unsafe { end_block::<SEAL>(narrow, stream, &rest) });
        if !is_same_key {
            for (i, power) in end.powers.iter_mut().enumerate() {
                *power = Power::in_order(isa, schedule, i * HaveVaes256::LANES);
            }
        }
        tag
    }

    /// The tag of the last text, if there is one.
    #[inline(always)]
    pub(in crate::x86_64) fn finish(&self) -> Option<__m128i> {
        let (isa, end) = (self.isa, &self.end);
        let mut sums = Sums::nothing(isa);
        for (block, power) in end.blocks.iter().zip(end.powers) {
            sums = sums.and(isa, isa.reverse(*block), power);
        }
        (end.registers > 0).then(|| end.tag(isa, sums.reduced(isa)))
    }
}

impl End {
    /// The tag, with the hash of the blocks in lanes.
    #[inline(always)]
    fn tag(&self, isa: HaveVaes256, hash: __m256i) -> __m128i {
        let narrow: HaveAesNi = isa.into();
        debug_assert!(self.rest.is_none() || self.lengths.is_some(), "lengths are hashed last");
        let mut hash = isa.sum(hash);
        if let (Some(rest), Some(lengths)) = (self.rest, self.lengths) {
            let first = isa.first_lane(narrow.xor(hash, rest));
            let blocks = isa.xor(first, isa.in_last_lane(lengths));
            let sums = Sums::nothing(isa).and(isa, blocks, self.powers[STEP - 1]);
            hash = isa.sum(sums.reduced(isa));
        } else if let Some(lengths) = self.lengths {
            let [_, h] = isa.blocks(self.powers[STEP - 1].h);
            let power = Power::of(narrow, h);
            let block = narrow.xor(hash, lengths);
            hash = Sums::nothing(narrow).and(narrow, block, power).reduced(narrow);
        }
        narrow.xor(narrow.reverse(hash), self.mask)
    }

    /// Leaves a step whose ciphertext was put down to be hashed.
    #[inline(always)]
    fn wait(&mut self, steps: &Steps<'_, HaveVaes256>, lengths: __m128i) {
        self.blocks[0] = steps.isa.xor(self.blocks[0], steps.isa.reverse(steps.hash));
        (self.lengths, self.registers) = (Some(lengths), STEP);
    }

    /// Works the end of a text, while the step before it is hashed, and puts down what of it is to be hashed.
    ///
    /// # Safety
    /// The text is readable and writable for its length, and has `N` registers, of which the last may be a part.
    #[inline(always)]
    unsafe fn put<const N: usize, const SEAL: bool>(
        &mut self,
        steps: &mut Steps<'_, HaveVaes256>,
        text: &Span,
        lengths: __m128i,
    ) {
        let isa = steps.isa;
        let narrow: HaveAesNi = isa.into();
        fetch(isa, text, N * HaveVaes256::BYTES);
        let mut input = [isa.broadcast(&0); N];
        // A part of a register takes long to put together; the others are loaded when there are registers for them.
        // SAFETY: the caller promises the text.
        unsafe { load(isa, text, N - 1..N, &mut input) };
        // SAFETY: the steps have proof of the instructions.
        let states = unsafe { weave_piece::<N>(steps, &self.blocks) };
        // SAFETY: the caller promises the text.
        unsafe { load(isa, text, 0..N - 1, &mut input) };
        // SAFETY: the caller promises the text.
        let output = unsafe { store(steps, &states, &input, text) };

        let mut blocks = if SEAL { output } else { input };
        let count = text.len().div_ceil(16);
        let has_room = count < POWERS;
        let hashed = count + usize::from(has_room);
        self.registers = hashed.div_ceil(HaveVaes256::LANES);
        blocks[0] = isa.xor(blocks[0], isa.reverse(steps.hash));
        self.lengths = (!has_room).then_some(lengths);
        let lengths = narrow.reverse(lengths);
        if !count.is_multiple_of(2) {
            blocks[N - 1] = isa.xor(blocks[N - 1], isa.in_last_lane(lengths));
        }
        self.blocks = [isa.broadcast(&0); STEP];
        let place = self.blocks.as_mut_ptr().cast::<u8>();
        for (i, register) in blocks.iter().enumerate() {
            let to = place.wrapping_add(16 * (POWERS - hashed) + i * HaveVaes256::BYTES);
            // SAFETY: `N` registers end with the last place, or one before it where that is the lengths' and not among them.
            unsafe { isa.store(to, *register) };
        }
        if has_room && count.is_multiple_of(2) {
            // SAFETY: the last place.
            unsafe { narrow.store(place.wrapping_add(16 * (POWERS - 1)), lengths) };
        }
    }
}

/// Works a block, or a part of one, with its key stream, and gives back what of it is to be hashed.
///
/// # Safety
/// It is readable and writable for its length, of 16 bytes at most.
#[inline(always)]
unsafe fn end_block<const SEAL: bool>(isa: HaveAesNi, stream: __m128i, text: &Span) -> __m128i {
    let is_whole = text.len() == HaveAesNi::BYTES;
    let input = if is_whole {
        // SAFETY: it is a whole block.
        unsafe { isa.load(text.from()) }
    } else {
        // SAFETY: it is a part of one.
        unsafe { isa.load_part(text.from(), text.len()) }
    };
    let mut output = isa.xor(input, stream);
    if is_whole {
        // SAFETY: it is a whole block.
        unsafe { isa.store(text.to(), output) };
    } else {
        output = isa.keep(output, text.len());
        // SAFETY: it is a part of one.
        unsafe { isa.store_part(text.to(), output, text.len()) };
    }
    isa.reverse(if SEAL { output } else { input })
}

const _: () =
    assert!(STEP * HaveVaes256::LANES == POWERS, "there is a power for each block of an end");
