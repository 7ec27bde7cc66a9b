//! What is done with four messages, but for AES and GHASH.
#![allow(unsafe_code)]

use core::arch::x86_64::*;
use core::mem::offset_of;

use sealift_core::Op;

use super::{
    PIECE_BLOCKS,
    lanes::{gather, lanes},
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

/// A piece of each text of a group.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) group: &'a Group,
    /// Which of two places for groups is its group's.
    pub(super) place: usize,
    /// How many are before it.
    pub(super) number: usize,
    pub(super) is_last: bool,
}

impl<'a> Piece<'a> {
    /// The first of so many of a group, which has a number of its own.
    #[inline(always)]
    pub(super) fn first(group: &'a Group, number: usize, pieces: usize) -> Self {
        Piece { group, place: number % 2, number: 0, is_last: pieces == 1 }
    }

    /// The one behind it, of so many.
    #[inline(always)]
    pub(super) fn next(self, pieces: usize) -> Self {
        let number = self.number + 1;
        Piece { number, is_last: number + 1 == pieces, ..self }
    }

    /// Where it begins in a text, in bytes.
    #[inline(always)]
    pub(super) fn start(&self) -> usize {
        16 * PIECE_BLOCKS * self.number
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

/// A place for the hashed blocks of four messages, in lanes and reversed. Behind the lengths there is
/// room for what is laid down before them and is longer than it has to be.
pub(super) type Hashed = [Z; PLACES + 4];

/// Blocks of the longest messages, rounded up to a power of two.
pub(super) const PLACES: usize = 64;

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
    /// Lays down the aad of at most three blocks among what is hashed, and zeros behind it.
    ///
    /// # Safety
    /// It is readable.
    #[inline]
    pub(super) unsafe fn lay_aad(group: &Group, call: &Call, hashed: &mut Hashed) {
        // SAFETY: the caller promises readable aad.
        let a = unsafe { load_part(group[0].aad, group[0].aad_bytes.into()) };
        // SAFETY: the caller promises that the second aad is readable, too.
        let b = unsafe { load_part(group[1].aad, group[1].aad_bytes.into()) };
        // SAFETY: the caller promises that the third aad is readable, too.
        let c = unsafe { load_part(group[2].aad, group[2].aad_bytes.into()) };
        // SAFETY: the caller promises that the fourth aad is readable, too.
        let d = unsafe { load_part(group[3].aad, group[3].aad_bytes.into()) };
        lay::<3>([a, b, c, d], call.aad_at, hashed);
    }
}

wide_fn! {
    /// Lays down the first `COUNT` columns of rows among what is hashed.
    #[inline]
    fn lay<const COUNT: usize>(rows: [Z; 4], at: usize, hashed: &mut Hashed) {
        let places = &mut hashed[at % PLACES..][..4];
        for (place, column) in places.iter_mut().zip(transpose_reversed(rows)).take(COUNT) {
            *place = column;
        }
    }
}

wide_fn! {
    /// Lays down ciphertexts of at most `BLOCKS` blocks a piece, from block 4 * `HALF` of one on, as they come in rows. The
    /// piece begins so many bytes behind the text's start.
    #[inline]
    pub(super) fn lay_half<const BLOCKS: usize, const HALF: usize>(
        rows: [Z; 4],
        call: &Call,
        start: usize,
        hashed: &mut Hashed,
    ) {
        let at = call.text_at + start / 16;
        match BLOCKS {
            1 => lay::<1>(rows, at, hashed),
            2 => lay::<2>(rows, at, hashed),
            _ => lay::<4>(rows, at + 4 * HALF, hashed),
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
