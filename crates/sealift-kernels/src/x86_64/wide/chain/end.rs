//! Ends of messages, and their tags.

use core::{arch::x86_64::*, ptr};

use sealift_core::Status;

use super::{
    super::{
        block::{keep, load_block, store_block},
        item::{Class, Item},
        zmm::{self, Z, wide_fn},
    },
    STEP_BYTES,
    pieces::{Place, Rows, Weights},
};
use crate::{
    schedule::{Expanded, POWERS},
    verdict::public,
};

/// The end of a message that was worked and is not hashed yet; its rows are registers of their own.
pub(super) struct End<'i> {
    pub(super) item: &'i Item,
    /// How many rows there are, none before the first message.
    pub(super) rows: Rows,
    /// The block that hides the tag, in the first lane.
    pub(super) mask: Z,
    /// Blocks hashed behind the rows, if `rest_weights` says so: one of ciphertext or none, that of lengths, and zeros.
    pub(super) rest: Z,
    /// Where their powers begin, or null.
    rest_weights: *const u8,
}

impl<'i> End<'i> {
    /// Before the first message; an item stands in for it.
    #[inline(always)]
    pub(super) fn none(item: &'i Item, zero: Z) -> End<'i> {
        let nowhere = ptr::null();
        let rows = Rows { count: 0, weights: Weights { first: nowhere, last: nowhere } };
        End { item, rows, mask: zero, rest: zero, rest_weights: nowhere }
    }

    /// Takes the number of rows and the places of powers from the message's shape and its key's first power.
    #[inline(always)]
    pub(super) fn set_weights(&mut self, shape: &Shape, powers: *const u8) {
        let weights = Weights { first: powers, last: powers.wrapping_add(shape.last) };
        self.rows = Rows { count: shape.count, weights };
        self.rest_weights =
            if shape.rest > 0 { powers.wrapping_add(shape.rest) } else { ptr::null() };
    }

    wide_fn! {
        /// Writes the tag of the message or compares it, given the hash of its ciphertext. A message that fails leaves zeros.
        ///
        /// # Safety
        /// The item's addresses are what they say.
        #[inline]
        pub(super) unsafe fn conclude<const SEALS: bool>(&self, class: &Class, hash: Z) {
            if self.rows.count == 0 {
                return;
            }
            let mut hash = _mm512_castsi512_si128(hash);
            if !self.rest_weights.is_null() {
                let rest = _mm512_castsi512_si256(self.rest);
                // SAFETY: the weights are those of two blocks.
                hash = unsafe { with_two(hash, rest, self.rest_weights) };
            }
            let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            let tag = _mm_xor_si128(_mm_shuffle_epi8(hash, order), _mm512_castsi512_si128(self.mask));
            if SEALS {
                // SAFETY: the caller promises a tag to write.
                return unsafe { store_block(self.item.tag, tag, class.tag_bytes) };
            }
            // SAFETY: the caller promises a tag to read.
            let expected = unsafe { load_block(self.item.tag, class.tag_bytes) };
            let difference = _mm_xor_si128(keep(tag, class.tag_bytes), expected);
            if !public(_mm_testz_si128(difference, difference) == 1) {
                // SAFETY: the caller promises the item.
                unsafe { fail(self.item) };
            }
        }
    }
}

/// Numbers that follow from a message's lengths, worked out again only where these differ from those of the message before.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    text_bytes: u32,
    aad_bytes: u16,
    /// Bytes of its whole steps.
    pub(super) steps_bytes: usize,
    /// Bytes behind them.
    pub(super) end_bytes: usize,
    /// The block of lengths, in all lanes.
    pub(super) lengths: Z,
    /// A bit for each byte of the last register.
    bytes: u64,
    /// The halves of the last register that are the block of lengths.
    same: u8,
    /// The same for a register of its own behind the last one.
    own: u8,
    /// How many rows are left to be hashed, made even: the end, or the last step where the end is a block or none.
    count: usize,
    /// How far behind the first power those for the last rows begin.
    last: usize,
    /// The same for those of what is hashed behind the rows; zero if there is nothing.
    pub(super) rest: usize,
}

impl Shape {
    wide_fn! {
        /// That of a message.
        #[inline]
        pub(super) fn of(item: &Item) -> Shape {
            let (text_bytes, aad_bytes) = (item.text_bytes, item.aad_bytes);
            let bits = |bytes: u64| (8 * bytes).swap_bytes().cast_signed();
            let lengths = _mm_set_epi64x(bits(text_bytes.into()), bits(aad_bytes.into()));
            let end_bytes = text_bytes as usize % STEP_BYTES;
            let blocks = end_bytes.div_ceil(16);
            // A block behind whole steps is hashed behind them. With as many blocks as there are powers that of lengths needs others.
            let (is_behind, has_room) = (end_bytes <= 16, !blocks.is_multiple_of(POWERS));
            let hashed = if is_behind { 2 * POWERS } else { blocks + usize::from(has_room) };
            let rest = match (is_behind, has_room) {
                (true, _) => last_of(blocks + 1),
                (false, true) => 0,
                (false, false) => last_of(1),
            };
            let lane = if has_room { 0b11 << (2 * (blocks % 4)) } else { 0 };
            let (same, own) = if blocks.is_multiple_of(4) { (0, lane) } else { (lane, 0) };
            Shape {
                text_bytes,
                aad_bytes,
                steps_bytes: text_bytes as usize - end_bytes,
                end_bytes,
                lengths: _mm512_broadcast_i32x4(lengths),
                bytes: u64::MAX >> (64_usize.wrapping_sub(end_bytes) % 64),
                same,
                own,
                count: hashed.div_ceil(4).next_multiple_of(2),
                last: last_of((hashed - 1) % POWERS + 1),
                rest,
            }
        }
    }

    /// Whether it is that of a message.
    #[inline(always)]
    pub(super) fn is_of(&self, item: &Item) -> bool {
        (self.text_bytes, self.aad_bytes) == (item.text_bytes, item.aad_bytes)
    }
}

/// How far behind the first power those for the last so many blocks begin.
#[inline(always)]
fn last_of(blocks: usize) -> usize {
    16 * (POWERS - blocks)
}

/// # Safety
/// The item's addresses are what they say, and it was opened.
#[cold]
#[inline(never)]
unsafe fn fail(item: &Item) {
    // SAFETY: the caller promises a status to write.
    unsafe { item.status.write(Status::AuthFailed) };
    // SAFETY: the caller promises a text to write.
    unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
}

wide_fn! {
    /// Works the end of a text of which all rounds but the last are behind it, and leaves in `rows` what is to be hashed: its
    /// ciphertext, the block of lengths where there is room for it, and zeros up to an even number of rows.
    ///
    /// # Safety
    /// So many bytes of the text are left, and they have `N` registers, of which the last may be a part.
    #[inline]
    pub(super) unsafe fn put<const SEALS: bool, const N: usize>(
        rows: &mut [Z; 8],
        states: &[Z; 8],
        key: Z,
        Place { from, to, .. }: Place,
        shape: &Shape,
    ) {
        // The compiler does not unroll every loop.
        macro_rules! registers {
            ($($i:literal)+) => {$(
                if $i + 1 < N {
                    // SAFETY: the caller promises `N` registers, and only the last may be a part.
                    let input = once(unsafe { zmm::load(from.wrapping_add(64 * $i)) });
                    let output = _mm512_aesenclast_epi128(states[$i], zmm::xor(key, input));
                    // SAFETY: the caller promises as many to write.
                    unsafe { zmm::store(to.wrapping_add(64 * $i), output) };
                    rows[$i] = if SEALS { output } else { input };
                }
            )+};
        }
        registers!(0 1 2 3 4 5 6);
        let at = 64 * (N - 1);
        // SAFETY: the caller promises so many bytes; others are not touched.
        let input = once(unsafe { _mm512_maskz_loadu_epi8(shape.bytes, from.wrapping_add(at).cast()) });
        let output = _mm512_aesenclast_epi128(states[N - 1], zmm::xor(key, input));
        // SAFETY: the caller promises as many to write; others are not touched.
        unsafe { _mm512_mask_storeu_epi8(to.wrapping_add(at).cast(), shape.bytes, output) };
        let row = if SEALS { _mm512_maskz_mov_epi8(shape.bytes, output) } else { input };
        rows[N - 1] = _mm512_mask_mov_epi64(row, shape.same, shape.lengths);
        if N < 8 {
            rows[N] = _mm512_maskz_mov_epi64(shape.own, shape.lengths);
        }
        if N < 7 && N.is_multiple_of(2) {
            rows[N + 1] = _mm512_setzero_si512();
        }
    }
}

wide_fn! {
    /// Works the last bytes of a text, a block at most, with the key stream in the second lane of `masks`, and gives what is to be
    /// hashed of them, and the block of lengths.
    ///
    /// # Safety
    /// So many bytes of the text are left.
    #[inline]
    pub(super) unsafe fn rest<const SEALS: bool>(masks: Z, Place { from, to, .. }: Place, bytes: usize, lengths: Z) -> Z {
        if bytes == 0 {
            return _mm512_maskz_mov_epi64(0b11, lengths);
        }
        // SAFETY: the caller promises so many bytes.
        let input = once(_mm512_zextsi128_si512(unsafe { load_block(from, bytes) }));
        let output = zmm::xor(input, _mm512_zextsi128_si512(_mm512_extracti32x4_epi32::<1>(masks)));
        let output = _mm512_maskz_mov_epi8(zmm::mask(bytes), output);
        let block = _mm512_castsi512_si128(output);
        // SAFETY: the caller promises as many to write.
        unsafe { store_block(to, block, bytes) };
        _mm512_mask_mov_epi64(if SEALS { output } else { input }, 0b11 << 2, lengths)
    }
}

wide_fn! {
    /// The hash with that of rows.
    ///
    /// # Safety
    /// There are powers for them.
    // Not a part of its caller, where rows would else be in memory.
    #[inline(never)]
    pub(super) unsafe fn hash_rows(rows: [Z; 8], Rows { count, weights }: Rows, mut hash: Z) -> Z {
        let (first, last) = rows[..count].split_at(if count > 4 { 4 } else { 0 });
        for (rows, weights) in [(first, weights.first), (last, weights.last)] {
            if !rows.is_empty() {
                // SAFETY: the caller keeps the same promise.
                hash = unsafe { absorb(rows, weights, hash) };
            }
        }
        hash
    }
}

wide_fn! {
    /// The hash of a message's aad, which has a byte at least.
    ///
    /// # Safety
    /// It is readable, and there are powers.
    #[inline]
    pub(super) unsafe fn aad_hash(item: &Item, powers: *const u8) -> Z {
        let bytes = usize::from(item.aad_bytes);
        if bytes > 64 {
            // SAFETY: the caller keeps the same promise.
            return unsafe { long_aad_hash(item, powers) };
        }
        // SAFETY: the caller promises the aad.
        let row = unsafe { zmm::load_part(item.aad, bytes) };
        let (weights, nothing) = (powers.wrapping_add(last_of(bytes.div_ceil(16))), _mm512_setzero_si512());
        // SAFETY: the caller promises powers.
        unsafe { absorb(&[row], weights, nothing) }
    }
}

wide_fn! {
    /// # Safety
    /// As for [`aad_hash`].
    #[cold]
    #[inline(never)]
    unsafe fn long_aad_hash(item: &Item, powers: *const u8) -> Z {
        let (mut from, mut left, mut hash) = (item.aad, usize::from(item.aad_bytes), _mm512_setzero_si512());
        while left > 0 {
            let (bytes, mut rows) = (left.min(256), [_mm512_setzero_si512(); 4]);
            let count = bytes.div_ceil(64);
            for (i, row) in rows.iter_mut().enumerate().take(count) {
                // SAFETY: the caller promises the aad.
                *row = unsafe { zmm::load_part(from.wrapping_add(64 * i), (bytes - 64 * i).min(64)) };
            }
            // SAFETY: the caller promises powers.
            hash = unsafe { absorb(&rows[..count], powers.wrapping_add(last_of(bytes.div_ceil(16))), hash) };
            (from, left) = (from.wrapping_add(bytes), left - bytes);
        }
        hash
    }
}

wide_fn! {
    /// The hash with that of up to four rows, in the first lane.
    ///
    /// # Safety
    /// There are powers for them.
    #[inline]
    unsafe fn absorb(rows: &[Z], weights: *const u8, mut hash: Z) -> Z {
        let (mut low, mut high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (i, row) in rows.iter().enumerate() {
            let y = zmm::xor(zmm::reverse(*row), hash);
            hash = _mm512_setzero_si512();
            let at = weights.wrapping_add(64 * i);
            // SAFETY: the caller promises powers.
            let h = unsafe { zmm::load(at) };
            // SAFETY: the caller promises powers, before which the same are folded.
            let folded = unsafe { zmm::load(at.wrapping_sub(Expanded::FOLDED_BEFORE)) };
            let (p, q) = zmm::multiply(y, h, folded);
            (low, high) = (zmm::xor(low, p), zmm::xor(high, q));
        }
        _mm512_zextsi128_si512(sum(zmm::reduce((low, high))))
    }
}

wide_fn! {
    /// The hash with that of two blocks.
    ///
    /// # Safety
    /// There are powers for them.
    // IMPLEMENTATION NOTE: in a register of two blocks, which takes half as long: of whole steps, as of 512 bytes, this is the end of
    // every message.
    #[inline]
    unsafe fn with_two(hash: __m128i, blocks: __m256i, at: *const u8) -> __m128i {
        let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let blocks = _mm256_shuffle_epi8(blocks, _mm256_broadcastsi128_si256(order));
        let y = _mm256_xor_si256(blocks, _mm256_zextsi128_si256(hash));
        // SAFETY: the caller promises powers.
        let h = unsafe { _mm256_loadu_si256(at.cast()) };
        // SAFETY: the caller promises powers, before which the same are folded.
        let folded = unsafe { _mm256_loadu_si256(at.wrapping_sub(Expanded::FOLDED_BEFORE).cast()) };
        let low = _mm256_xor_si256(
            _mm256_clmulepi64_epi128::<0x00>(y, folded),
            _mm256_clmulepi64_epi128::<0x01>(y, h),
        );
        let high = _mm256_xor_si256(
            _mm256_clmulepi64_epi128::<0x10>(y, folded),
            _mm256_clmulepi64_epi128::<0x11>(y, h),
        );
        let modulus = _mm256_set1_epi64x(0xc2_i64 << 56);
        let swapped = _mm256_xor_si256(high, _mm256_shuffle_epi32::<0x4e>(low));
        let both = _mm256_xor_si256(swapped, _mm256_clmulepi64_epi128::<0x00>(low, modulus));
        _mm_xor_si128(_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both))
    }
}

wide_fn! {
    /// The sum of all lanes.
    #[inline]
    fn sum(register: Z) -> __m128i {
        let upper = _mm512_extracti64x4_epi64::<1>(register);
        let half = _mm256_xor_si256(_mm512_castsi512_si256(register), upper);
        _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }
}

wide_fn! {
    /// Hides where a register came from, so that the compiler can't load it again.
    #[inline]
    fn once(mut register: Z) -> Z {
        zmm::pin!(register);
        register
    }
}
