//! Counter mode and the ciphertext's way into the hash.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::{Op, SlotText};

use super::{ghash, isa::Isa, long};
use crate::schedule::Expanded;

/// A text as pointers: the buffers may change under us, which Rust's references don't allow for.
pub(super) struct Span {
    from: *const u8,
    /// Null if nothing is written.
    to: *mut u8,
    len: usize,
    /// What is read after it, which only the cache is asked for; null if the text is in the caches.
    next: *const u8,
}

impl Span {
    /// The span of a text: readable for its length, and unless it is only read writable too.
    #[inline(always)]
    pub(super) fn of(text: SlotText<'_>) -> Span {
        let (from, to, len) = match text {
            SlotText::Apart { input, output } => {
                (input.as_ptr(), output.as_mut_ptr(), input.len().min(output.len()))
            }
            SlotText::InPlace(text) => {
                let (place, len) = (text.as_mut_ptr(), text.len());
                // One address for both: to borrow the text again would end what was borrowed first.
                (place.cast_const(), place, len)
            }
            SlotText::Read(text) => (text.as_ptr(), core::ptr::null_mut(), text.len()),
        };
        Span { from, to, len, next: core::ptr::null() }
    }

    /// The same with what is read after it, if it isn't in the caches.
    #[inline(always)]
    pub(super) fn before(self, next: *const u8) -> Span {
        Span { next, ..self }
    }

    /// Whether the caches have to be asked for it.
    #[inline(always)]
    pub(super) fn is_far(&self) -> bool {
        !self.next.is_null()
    }

    /// What will be read in `bytes`: `width` bytes of the text, or of what comes after it.
    #[inline(always)]
    pub(super) fn ahead(&self, bytes: usize, width: usize) -> *const u8 {
        if bytes + width <= self.len {
            self.from.wrapping_add(bytes)
        } else {
            self.next.wrapping_add(bytes.saturating_sub(self.len))
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
    pub(super) fn to(&self) -> *mut u8 {
        self.to
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.len -= bytes;
    }
}

/// The counter block of a text's first block.
#[derive(Clone, Copy)]
pub(super) struct First {
    /// It, reversed.
    pub(super) block: __m128i,
    /// Whether anybody may know it: a hashed nonce tells of the hash key.
    pub(super) is_public: bool,
}

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

/// Seals or opens the text and takes its ciphertext into the hash.
///
/// `first` is the counter block of the first block. Each register of an open is loaded once, and what is
/// hashed is what is decrypted.
///
/// # Safety
/// `text` is readable and writable for its length, which with `LONG` is at least [`long::least_bytes`].
#[inline(always)]
pub(super) unsafe fn crypt<I: Isa, const LONG: bool>(
    isa: I,
    schedule: &Expanded,
    op: Op,
    first: First,
    hash: __m128i,
    mut text: Span,
) -> __m128i {
    let mut stream = Stream { blocks: Blocks::new(isa, schedule, first.block), op, hash };
    if LONG {
        let counters = &mut stream.blocks.counters;
        // SAFETY: the caller keeps the same promise.
        stream.hash = unsafe { long::crypt(isa, schedule, op, first, counters, hash, &mut text) };
    }
    while text.len >= 4 * I::BYTES {
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
    while text.len > 0 {
        // Registers count in 32 bits.
        let blocks = (1 << 32) - (counter & 0xffff_ffff);
        let bytes = usize::try_from(16 * blocks).map_or(text.len, |bytes| bytes.min(text.len));
        let part = Span { len: bytes, ..text };
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
    while text.len >= 8 * I::BYTES {
        for stream in blocks.key_stream::<8>() {
            // SAFETY: at least 8 registers were left, and each round takes one.
            let input = unsafe { isa.load(text.from) };
            // SAFETY: the caller promises as many registers to write, and this is the place of the one just read.
            unsafe { isa.store(text.to, isa.xor(stream, input)) };
            text.advance(I::BYTES);
        }
    }
    while text.len > 0 {
        let [stream] = blocks.key_stream::<1>();
        if text.len < I::BYTES {
            // SAFETY: the span is readable for its length, which is less than a register's.
            let input = unsafe { isa.load_part(text.from, text.len) };
            // SAFETY: the span is writable for its length, which is less than a register's.
            unsafe { isa.store_part(text.to, isa.xor(stream, input), text.len) };
            return;
        }
        // SAFETY: at least a register is left.
        let input = unsafe { isa.load(text.from) };
        // SAFETY: the caller promises as many bytes to write: at least a register is left.
        unsafe { isa.store(text.to, isa.xor(stream, input)) };
        text.advance(I::BYTES);
    }
}

struct Stream<'s, I: Isa> {
    blocks: Blocks<'s, I>,
    op: Op,
    hash: __m128i,
}

impl<I: Isa> Stream<'_, I> {
    /// Works on the next `N` registers of text.
    ///
    /// # Safety
    /// As many bytes are left.
    #[inline(always)]
    unsafe fn registers<const N: usize>(&mut self, text: &mut Span) {
        let Blocks { isa, schedule, .. } = self.blocks;
        let mut registers = self.blocks.key_stream::<N>();
        for register in &mut registers {
            // SAFETY: the caller promises that N registers are left; each round takes one.
            let input = unsafe { isa.load(text.from) };
            let output = isa.xor(*register, input);
            // SAFETY: the caller promises that N registers are left to write, too; each round takes one.
            unsafe { isa.store(text.to, output) };
            *register = self.ciphertext(input, output);
            text.advance(I::BYTES);
        }
        self.hash = ghash::absorb(isa, schedule, self.hash, &registers);
    }

    /// Works on the end of the text, shorter than a register.
    ///
    /// # Safety
    /// The text is shorter than a register.
    #[inline(always)]
    unsafe fn part(&mut self, text: &Span) {
        let Blocks { isa, schedule, .. } = self.blocks;
        let [stream] = self.blocks.key_stream::<1>();
        // SAFETY: the span is readable for its length, which is less than a register's.
        let input = unsafe { isa.load_part(text.from, text.len) };
        let output = isa.keep(isa.xor(stream, input), text.len);
        // SAFETY: the span is writable for its length, which is less than a register's.
        unsafe { isa.store_part(text.to, output, text.len) };
        let (ciphertext, blocks) = (self.ciphertext(input, output), text.len.div_ceil(16));
        self.hash = ghash::absorb_part(isa, schedule, self.hash, ciphertext, blocks);
    }

    #[inline(always)]
    fn ciphertext(&self, input: I::Register, output: I::Register) -> I::Register {
        if matches!(self.op, Op::Seal) { output } else { input }
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
