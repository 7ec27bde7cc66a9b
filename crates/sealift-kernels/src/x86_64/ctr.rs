//! Counter mode by itself.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::SlotText;

use super::{isa::Isa, text::Span};
use crate::schedule::Expanded;

/// Encrypts one block; each lane of the result is it.
#[inline(always)]
pub(super) fn encrypt_block<I: Isa>(
    isa: I,
    schedule: &Expanded,
    block: I::Register,
) -> I::Register {
    let [result] = encrypt(isa, schedule.round_keys(), [block]);
    result
}

/// Encrypts blocks where they are.
#[inline(always)]
pub(super) fn encrypt_blocks<I: Isa>(isa: I, round_keys: &[u128], blocks: &mut [u128]) {
    let mut eights = blocks.chunks_exact_mut(8 * I::LANES);
    for eight in &mut eights {
        encrypt_registers::<I, 8>(isa, round_keys, eight);
    }
    let mut ones = eights.into_remainder().chunks_exact_mut(I::LANES);
    for one in &mut ones {
        encrypt_registers::<I, 1>(isa, round_keys, one);
    }
    let rest = ones.into_remainder();
    if rest.is_empty() {
        return;
    }
    let (place, bytes): (*mut u8, _) = (rest.as_mut_ptr().cast(), size_of_val(rest));
    // SAFETY: so many bytes, fewer than a register's, are readable.
    let register = unsafe { isa.load_part(place.cast_const(), bytes) };
    let [register] = encrypt(isa, round_keys, [register]);
    // SAFETY: as many are writable.
    unsafe { isa.store_part(place, register, bytes) };
}

/// Encrypts `N` registers of blocks where they are.
#[inline(always)]
fn encrypt_registers<I: Isa, const N: usize>(isa: I, round_keys: &[u128], blocks: &mut [u128]) {
    assert!(blocks.len() == N * I::LANES, "{} blocks", blocks.len());
    let place: *mut u8 = blocks.as_mut_ptr().cast();
    let mut registers = [isa.broadcast(&0); N];
    for (at, register) in registers.iter_mut().enumerate() {
        // SAFETY: so many registers are readable, as was asserted.
        *register = unsafe { isa.load_table(place.wrapping_add(at * I::BYTES)) };
    }
    for (at, register) in encrypt(isa, round_keys, registers).into_iter().enumerate() {
        // SAFETY: so many registers are writable, as was asserted.
        unsafe { isa.store(place.wrapping_add(at * I::BYTES), register) };
    }
}

/// Adds the key stream of a counter block, a number that counts in all its bits, to a text.
#[inline(always)]
pub(super) fn add_key_stream<I: Isa>(
    isa: I,
    schedule: &Expanded,
    mut counter: u128,
    text: SlotText<'_>,
) {
    if matches!(text, SlotText::Read(_)) {
        return;
    }
    let mut text = Span::of(text);
    while text.len() > 0 {
        // Registers count in 32 bits.
        let blocks = (1 << 32) - (counter & 0xffff_ffff);
        let bytes = usize::try_from(16 * blocks).map_or(text.len(), |bytes| bytes.min(text.len()));
        let part = text.first(bytes);
        let first = isa.into().broadcast(&counter);
        // SAFETY: the text is readable and writable, and this is a part of it.
        unsafe { add_blocks(Blocks::new(isa, schedule, first), part) };
        text.advance(bytes);
        counter = counter.wrapping_add(blocks);
    }
}

/// Adds the key stream of some counters to a text.
///
/// # Safety
/// `text` is readable and writable for its length.
#[inline(always)]
unsafe fn add_blocks<I: Isa>(mut blocks: Blocks<'_, I>, mut text: Span) {
    let isa = blocks.isa;
    while text.len() >= 8 * I::BYTES {
        for stream in blocks.key_stream::<8>() {
            // SAFETY: at least 8 registers were left, and each round takes one.
            let input = unsafe { isa.load(text.from()) };
            // SAFETY: the caller promises as many registers to write, and this is the place of the one just read.
            unsafe { isa.store(text.to(), isa.xor(stream, input)) };
            text.advance(I::BYTES);
        }
    }
    while text.len() > 0 {
        let [stream] = blocks.key_stream::<1>();
        if text.len() < I::BYTES {
            // SAFETY: the span is readable for its length, which is less than a register's.
            let input = unsafe { isa.load_part(text.from(), text.len()) };
            // SAFETY: the span is writable for its length, which is less than a register's.
            unsafe { isa.store_part(text.to(), isa.xor(stream, input), text.len()) };
            return;
        }
        // SAFETY: at least a register is left.
        let input = unsafe { isa.load(text.from()) };
        // SAFETY: the caller promises as many bytes to write: at least a register is left.
        unsafe { isa.store(text.to(), isa.xor(stream, input)) };
        text.advance(I::BYTES);
    }
}

/// Counter blocks, to be encrypted.
struct Blocks<'s, I: Isa> {
    isa: I,
    schedule: &'s Expanded,
    counters: I::Register,
}

impl<'s, I: Isa> Blocks<'s, I> {
    /// Those from a reversed counter block on.
    #[inline(always)]
    fn new(isa: I, schedule: &'s Expanded, first: __m128i) -> Blocks<'s, I> {
        Blocks { isa, schedule, counters: isa.counters(first) }
    }

    /// The next `N` registers of them, encrypted.
    #[inline(always)]
    fn key_stream<const N: usize>(&mut self) -> [I::Register; N] {
        let mut blocks = [self.counters; N];
        for block in &mut blocks {
            *block = self.isa.reverse(self.counters);
            self.counters = self.isa.later(self.counters, I::LANES);
        }
        encrypt(self.isa, self.schedule.round_keys(), blocks)
    }
}

/// Encrypts `N` registers of blocks, side by side: AES has a latency of several instructions.
#[inline(always)]
fn encrypt<I: Isa, const N: usize>(
    isa: I,
    round_keys: &[u128],
    mut states: [I::Register; N],
) -> [I::Register; N] {
    let [first, middle @ .., last] = round_keys else { return states };
    let first = isa.broadcast(first);
    for state in &mut states {
        *state = isa.xor(*state, first);
    }
    for key in middle {
        let key = isa.broadcast(key);
        for state in &mut states {
            *state = isa.aes(*state, key);
        }
    }
    let last = isa.broadcast(last);
    for state in &mut states {
        *state = isa.aes_last(*state, last);
    }
    states
}
