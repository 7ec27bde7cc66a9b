//! What is done with four messages, but for AES and GHASH.
#![allow(unsafe_code)]

use core::arch::x86_64::*;
use core::mem::offset_of;

use sealift_core::Op;

use super::{
    PIECE_BLOCKS, PIECES_MAX,
    lanes::{gather, lanes},
    weave::hashed_blocks,
};
use crate::x86_64::wide::{
    item::{Class, Item},
    zmm::{
        Z, load, load_nonce, load_part, mask, pin, store, store_part, transpose_reversed, wide_fn,
        xor,
    },
};

/// Four messages, one for each lane.
pub(super) type Group = [Item; 4];

/// A piece of each text of a group, which has others if it is `LONG`.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a, const LONG: bool> {
    pub(super) group: &'a Group,
    /// Which of two places for groups is its group's.
    pub(super) place: usize,
    /// How many are before it.
    number: usize,
    /// How many its texts have.
    pieces: usize,
}

impl<'a, const LONG: bool> Piece<'a, LONG> {
    /// The first of so many of a group, which has a number of its own.
    #[inline(always)]
    pub(super) fn first(group: &'a Group, number: usize, pieces: usize) -> Self {
        Piece { group, place: number % 2, number: 0, pieces }
    }

    /// The one behind it.
    #[inline(always)]
    pub(super) fn next(self) -> Self {
        Piece { number: self.number + 1, ..self }
    }

    /// How many are before it.
    #[inline(always)]
    pub(super) fn number(&self) -> usize {
        // Said, so that the compiler knows it.
        if LONG { self.number } else { 0 }
    }

    /// Where it begins in a text, in bytes.
    #[inline(always)]
    pub(super) fn start(&self) -> usize {
        16 * PIECE_BLOCKS * self.number()
    }

    /// Whether there is none behind it.
    #[inline(always)]
    pub(super) fn is_last(&self) -> bool {
        !LONG || self.number + 1 == self.pieces
    }
}

/// What all messages of a call have in common.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) op: Op,
    pub(super) tag_bytes: usize,
    /// Where among the hashed blocks the aad begins.
    pub(super) aad_at: usize,
    /// Where the text begins.
    pub(super) text_at: usize,
    /// Where the block of lengths is.
    pub(super) lengths_at: usize,
}

impl Call {
    /// For messages of a class, the last of whose hashed blocks is the one before `hashed`.
    pub(super) fn new(class: &Class, hashed: usize) -> Call {
        let lengths_at = hashed - 1;
        let text_at = lengths_at - class.text_blocks;
        Call {
            op: class.op,
            tag_bytes: class.tag_bytes,
            aad_at: text_at - class.aad_blocks,
            text_at,
            lengths_at,
        }
    }
}

/// Places for the hashed blocks of two groups, in lanes and reversed. Behind the lengths there is room for what is laid down before
/// them and is longer than it has to be.
// IMPLEMENTATION NOTE: how far the places of two groups are from each other counts, for a processor tells addresses apart by their lower
// bits at first: with 68 or 96 blocks for each, long or short, 128 and 256 bytes took 2 to 9 % longer (Zen 4).
#[repr(C)]
pub(super) struct Hashed {
    short: [[Z; SHORT_BLOCKS + 4]; 2],
    /// Of messages in several pieces. Up to six blocks are laid down behind the lengths.
    long: [[Z; LONG_BLOCKS + 7]; 2],
}

/// Blocks of the longest messages of one piece, rounded up to a power of two.
const SHORT_BLOCKS: usize = 16;
/// Of the longest ones of several.
const LONG_BLOCKS: usize = hashed_blocks(PIECE_BLOCKS, true) * PIECES_MAX;

const _: () = {
    assert!(hashed_blocks(PIECE_BLOCKS, true) <= SHORT_BLOCKS);
};

impl Hashed {
    /// That of a block in one of the two places.
    #[inline(always)]
    pub(super) fn at<const LONG: bool>(&mut self, place: usize, block: usize) -> &mut Z {
        &mut self.four::<LONG>(place, block)[0]
    }

    /// Those of four blocks.
    #[inline(always)]
    fn four<const LONG: bool>(&mut self, place: usize, block: usize) -> &mut [Z] {
        if LONG {
            &mut self.long[place % 2][block..][..4]
        } else {
            &mut self.short[place % 2][block % SHORT_BLOCKS..][..4]
        }
    }

    /// Those of all blocks, of both.
    pub(super) fn all<const LONG: bool>(&mut self) -> [&mut [Z]; 2] {
        if LONG {
            self.long.each_mut().map(|place| &mut place[..])
        } else {
            self.short.each_mut().map(|place| &mut place[..])
        }
    }
}

wide_fn! {
    /// The nonces, in lanes, with zeros where counters stand.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn nonces(group: &Group) -> Z {
        // SAFETY: the caller promises 12 readable bytes.
        let a = unsafe { load_nonce(group[0].nonce) };
        // SAFETY: the caller promises 12 readable bytes of the second nonce, too.
        let b = unsafe { load_nonce(group[1].nonce) };
        // SAFETY: the caller promises 12 readable bytes of the third nonce, too.
        let c = unsafe { load_nonce(group[2].nonce) };
        // SAFETY: the caller promises 12 readable bytes of the fourth nonce, too.
        let d = unsafe { load_nonce(group[3].nonce) };
        lanes(a, b, c, d)
    }
}

wide_fn! {
    /// The blocks of lengths in bits, in lanes and reversed.
    #[inline]
    pub(super) fn lengths(group: &Group) -> Z {
        let tails = [&group[0], &group[1], &group[2], &group[3]]
            .map(|item| (&raw const *item).cast::<u8>().wrapping_add(TAIL));
        // SAFETY: the last 16 bytes of items.
        let tails = unsafe { gather(tails) };
        // SAFETY: an array of 16 bytes.
        let order = unsafe { _mm_loadu_si128(LENGTHS.as_ptr().cast()) };
        let bytes = _mm512_shuffle_epi8(tails, _mm512_broadcast_i32x4(order));
        _mm512_slli_epi64::<3>(bytes)
    }
}

wide_fn! {
    /// Lays down the aad of at most three blocks in a place, from one on among what is hashed, and zeros behind it.
    ///
    /// # Safety
    /// It is readable.
    #[inline]
    pub(super) unsafe fn lay_aad<const LONG: bool>(group: &Group, place: usize, at: usize, hashed: &mut Hashed) {
        // SAFETY: the caller promises readable aad.
        let a = unsafe { load_part(group[0].aad, group[0].aad_bytes.into()) };
        // SAFETY: the caller promises that the second aad is readable, too.
        let b = unsafe { load_part(group[1].aad, group[1].aad_bytes.into()) };
        // SAFETY: the caller promises that the third aad is readable, too.
        let c = unsafe { load_part(group[2].aad, group[2].aad_bytes.into()) };
        // SAFETY: the caller promises that the fourth aad is readable, too.
        let d = unsafe { load_part(group[3].aad, group[3].aad_bytes.into()) };
        lay::<3, LONG>([a, b, c, d], place, at, hashed);
    }
}

wide_fn! {
    /// Lays down the first `COUNT` columns of rows among what is hashed.
    #[inline]
    fn lay<const COUNT: usize, const LONG: bool>(rows: [Z; 4], place: usize, at: usize, hashed: &mut Hashed) {
        let places = hashed.four::<LONG>(place, at);
        for (place, column) in places.iter_mut().zip(transpose_reversed(rows)).take(COUNT) {
            *place = column;
        }
    }
}

wide_fn! {
    /// Lays down pieces of at most `BLOCKS` blocks of ciphertexts, from block 4 * `HALF` on, as they come in rows: in a place, from
    /// one on among what is hashed.
    #[inline]
    pub(super) fn lay_half<const BLOCKS: usize, const HALF: usize, const LONG: bool>(
        rows: [Z; 4],
        place: usize,
        at: usize,
        hashed: &mut Hashed,
    ) {
        match BLOCKS {
            1 => lay::<1, LONG>(rows, place, at, hashed),
            2 => lay::<2, LONG>(rows, place, at, hashed),
            _ => lay::<4, LONG>(rows, place, at + 4 * HALF, hashed),
        }
    }
}

/// Whether each text has all blocks of a register, from block 4 * `HALF` of a piece on, when pieces have at most `BLOCKS`.
#[inline(always)]
pub(super) fn are_whole<const BLOCKS: usize, const HALF: usize>(
    group: &Group,
    start: usize,
) -> bool {
    let end = start + 64 * HALF + 16 * BLOCKS.min(4);
    let is_whole = |lane: usize| group[lane].text_bytes as usize >= end;
    // Of 5 blocks and more the first 4 are whole.
    (BLOCKS == 8 && HALF == 0 && start == 0)
        || (is_whole(0) & is_whole(1) & is_whole(2) & is_whole(3))
}

wide_fn! {
    /// Seals, opens or reads a register of each text, from block 4 * `HALF` of a piece on, with its key stream.
    /// Returns the ciphertext.
    ///
    /// # Safety
    /// Texts are readable, and writable for a seal and an open, and have the blocks.
    #[inline]
    pub(super) unsafe fn crypt_whole<const BLOCKS: usize, const HALF: usize>(
        group: &Group,
        call: &Call,
        start: usize,
        stream: [Z; 4],
    ) -> [Z; 4] {
        let at = start + 64 * HALF;
        // SAFETY: the caller promises readable blocks.
        let mut a = unsafe { load_blocks::<BLOCKS>(group[0].input.wrapping_add(at)) };
        // SAFETY: the caller promises readable blocks of the second text, too.
        let mut b = unsafe { load_blocks::<BLOCKS>(group[1].input.wrapping_add(at)) };
        // SAFETY: the caller promises readable blocks of the third text, too.
        let mut c = unsafe { load_blocks::<BLOCKS>(group[2].input.wrapping_add(at)) };
        // SAFETY: the caller promises readable blocks of the fourth text, too.
        let mut d = unsafe { load_blocks::<BLOCKS>(group[3].input.wrapping_add(at)) };
        // Read once: what is hashed is what is decrypted, whoever rewrites the text meanwhile.
        pin!(a, b, c, d);
        let result = [xor(a, stream[0]), xor(b, stream[1]), xor(c, stream[2]), xor(d, stream[3])];
        if call.op != Op::Verify {
            // SAFETY: the caller promises writable blocks.
            unsafe { store_blocks::<BLOCKS>(group[0].output.wrapping_add(at), result[0]) };
            // SAFETY: the caller promises writable blocks of the second result, too.
            unsafe { store_blocks::<BLOCKS>(group[1].output.wrapping_add(at), result[1]) };
            // SAFETY: the caller promises writable blocks of the third result, too.
            unsafe { store_blocks::<BLOCKS>(group[2].output.wrapping_add(at), result[2]) };
            // SAFETY: the caller promises writable blocks of the fourth result, too.
            unsafe { store_blocks::<BLOCKS>(group[3].output.wrapping_add(at), result[3]) };
        }
        if call.op == Op::Seal { result } else { [a, b, c, d] }
    }
}

wide_fn! {
    /// The same for one text of any length; behind its end there are zeros.
    ///
    /// # Safety
    /// The text is readable, and writable for a seal and an open.
    #[inline]
    pub(super) unsafe fn crypt_part<const HALF: usize>(
        item: &Item,
        call: &Call,
        start: usize,
        stream: Z,
    ) -> Z {
        let at = start + 64 * HALF;
        let bytes = (item.text_bytes as usize).saturating_sub(at);
        // SAFETY: the caller promises a readable text.
        let mut input = unsafe { load_part(item.input.wrapping_add(at), bytes) };
        pin!(input);
        let result = _mm512_maskz_mov_epi8(mask(bytes), xor(input, stream));
        if call.op != Op::Verify {
            let to = item.output.wrapping_add(at);
            // SAFETY: the caller promises a writable text.
            unsafe { store_part(to, result, bytes) };
        }
        if call.op == Op::Seal { result } else { input }
    }
}

wide_fn! {
    /// # Safety
    /// So many blocks, or four of more, are readable.
    #[inline]
    unsafe fn load_blocks<const BLOCKS: usize>(from: *const u8) -> Z {
        match BLOCKS {
            // SAFETY: the caller promises as many readable blocks.
            1 => _mm512_zextsi128_si512(unsafe { _mm_loadu_si128(from.cast()) }),
            // SAFETY: the caller promises two readable blocks.
            2 => _mm512_zextsi256_si512(unsafe { _mm256_loadu_si256(from.cast()) }),
            // SAFETY: the caller promises four readable blocks, of more than two.
            _ => unsafe { load(from) },
        }
    }
}

wide_fn! {
    /// # Safety
    /// So many blocks, or four of more, are writable.
    #[inline]
    unsafe fn store_blocks<const BLOCKS: usize>(to: *mut u8, blocks: Z) {
        let (first, half) = (_mm512_castsi512_si128(blocks), _mm512_castsi512_si256(blocks));
        match BLOCKS {
            // SAFETY: the caller promises as many writable blocks.
            1 => unsafe { _mm_storeu_si128(to.cast(), first) },
            // SAFETY: the caller promises two writable blocks.
            2 => unsafe { _mm256_storeu_si256(to.cast(), half) },
            // SAFETY: the caller promises four writable blocks, of more than two.
            _ => unsafe { store(to, blocks) },
        }
    }
}

/// Where the last 16 bytes of an item begin, among which its lengths are.
const TAIL: usize = size_of::<Item>() - 16;

/// Takes the two lengths from there: that of the text below, that of the aad above.
const LENGTHS: [u8; 16] = {
    let mut order = [0x80; 16];
    let mut byte = 0;
    while byte < 4 {
        order[byte] = place(offset_of!(Item, text_bytes) + byte);
        byte += 1;
    }
    order[8] = place(offset_of!(Item, aad_bytes));
    order[9] = place(offset_of!(Item, aad_bytes) + 1);
    order
};

#[allow(clippy::cast_possible_truncation, reason = "less than 16")]
const fn place(offset: usize) -> u8 {
    assert!(offset >= TAIL && offset < TAIL + 16);
    (offset - TAIL) as u8
}
