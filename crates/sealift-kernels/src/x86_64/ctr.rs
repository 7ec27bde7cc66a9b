//! Counter mode and the ciphertext's way into the hash.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::{Op, SlotText};

use super::{ghash, isa::Isa};
use crate::{schedule::Expanded, verdict::Fitting};

/// A text as pointers: the buffers may change under us, which Rust's references don't allow for.
pub(super) struct Span {
    from: *const u8,
    /// Null if nothing is written.
    to: *mut u8,
    len: usize,
}

impl Span {
    /// The span of a message's text: readable for its length, and of a seal or an open writable too.
    #[inline(always)]
    pub(super) fn of(slot: &mut Fitting<'_, '_>) -> Span {
        match slot.text() {
            SlotText::Apart { input, output } => {
                Span { from: input.as_ptr(), to: output.as_mut_ptr(), len: input.len() }
            }
            SlotText::InPlace(text) => {
                let to = text.as_mut_ptr();
                Span { from: to, to, len: text.len() }
            }
            SlotText::Read(text) => {
                Span { from: text.as_ptr(), to: core::ptr::null_mut(), len: text.len() }
            }
        }
    }

    #[inline(always)]
    pub(super) fn from(&self) -> *const u8 {
        self.from
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.len -= bytes;
    }
}

/// Encrypts one block; each lane of the result is it.
#[inline(always)]
pub(super) fn encrypt_block<I: Isa>(
    isa: I,
    schedule: &Expanded,
    block: I::Register,
) -> I::Register {
    let [result] = encrypt(isa, schedule, [block]);
    result
}

/// Seals or opens the text and takes its ciphertext into the hash.
///
/// `first` is the counter block of the first block, reversed. Each register of an open is loaded
/// once, and what is hashed is what is decrypted.
///
/// # Safety
/// `text` is readable and writable for its length.
#[inline(always)]
pub(super) unsafe fn crypt<I: Isa>(
    isa: I,
    schedule: &Expanded,
    op: Op,
    first: __m128i,
    hash: __m128i,
    mut text: Span,
) -> __m128i {
    let mut stream = Stream { isa, schedule, op, counters: isa.counters(first), hash };
    while text.len >= 8 * I::BYTES {
        // SAFETY: at least 8 registers are left.
        unsafe { stream.registers::<8>(&mut text) };
    }
    if text.len >= 4 * I::BYTES {
        // SAFETY: at least 4 registers are left.
        unsafe { stream.registers::<4>(&mut text) };
    }
    if text.len >= 2 * I::BYTES {
        // SAFETY: at least 2 registers are left.
        unsafe { stream.registers::<2>(&mut text) };
    }
    if text.len >= I::BYTES {
        // SAFETY: at least one register is left.
        unsafe { stream.registers::<1>(&mut text) };
    }
    if text.len > 0 {
        // SAFETY: fewer bytes than a register are left.
        unsafe { stream.part(&text) };
    }
    stream.hash
}

struct Stream<'s, I: Isa> {
    isa: I,
    schedule: &'s Expanded,
    op: Op,
    counters: I::Register,
    hash: __m128i,
}

impl<I: Isa> Stream<'_, I> {
    /// Works on the next `N` registers of text.
    ///
    /// # Safety
    /// As many bytes are left.
    #[inline(always)]
    unsafe fn registers<const N: usize>(&mut self, text: &mut Span) {
        let mut registers = self.key_stream::<N>();
        for register in &mut registers {
            // SAFETY: the caller promises that N registers are left; each round takes one.
            let input = unsafe { self.isa.load(text.from) };
            let output = self.isa.xor(*register, input);
            // SAFETY: as above.
            unsafe { self.isa.store(text.to, output) };
            *register = self.ciphertext(input, output);
            text.advance(I::BYTES);
        }
        self.hash = ghash::absorb(self.isa, self.schedule, self.hash, &registers);
    }

    /// Works on the end of the text, shorter than a register.
    ///
    /// # Safety
    /// The text is shorter than a register.
    #[inline(always)]
    unsafe fn part(&mut self, text: &Span) {
        let [stream] = self.key_stream::<1>();
        // SAFETY: the span is readable for its length, which is less than a register's.
        let input = unsafe { self.isa.load_part(text.from, text.len) };
        let output = self.isa.keep(self.isa.xor(stream, input), text.len);
        // SAFETY: the span is writable for its length, which is less than a register's.
        unsafe { self.isa.store_part(text.to, output, text.len) };
        let (ciphertext, blocks) = (self.ciphertext(input, output), text.len.div_ceil(16));
        self.hash = ghash::absorb_part(self.isa, self.schedule, self.hash, ciphertext, blocks);
    }

    #[inline(always)]
    fn ciphertext(&self, input: I::Register, output: I::Register) -> I::Register {
        if matches!(self.op, Op::Seal) { output } else { input }
    }

    #[inline(always)]
    fn key_stream<const N: usize>(&mut self) -> [I::Register; N] {
        let mut blocks = [self.counters; N];
        for block in &mut blocks {
            *block = self.isa.reverse(self.counters);
            self.counters = self.isa.next_counters(self.counters);
        }
        encrypt(self.isa, self.schedule, blocks)
    }
}

/// Encrypts `N` registers of blocks, side by side: AES has a latency of several instructions.
#[inline(always)]
fn encrypt<I: Isa, const N: usize>(
    isa: I,
    schedule: &Expanded,
    mut states: [I::Register; N],
) -> [I::Register; N] {
    let [first, middle @ .., last] = schedule.round_keys() else { return states };
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
