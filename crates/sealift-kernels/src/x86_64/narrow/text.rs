//! Texts of `T` blocks.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::{hash::lengths, width::Width};
use crate::x86_64::{cpu::HaveAesNi, window::item::Item};

/// Texts of so many blocks, of which the last may be a part, or of none if it is 1.
pub(super) struct Text<const T: usize>;

impl<const T: usize> Text<T> {
    /// What is added to a nonce to be a counter: for each block of text, and 1 behind.
    pub(super) const COUNTERS: &[u128; 16] = &{
        let mut counters = [FIRST_COUNTER; 16];
        let mut block = 0;
        while block < T {
            counters[block] = (block as u128 + 2) << 120;
            block += 1;
        }
        counters
    };

    /// What is added to a first counter, reversed: for each block of text, and 0 behind.
    pub(super) const LATER: &[u128; 16] = &{
        let mut later = [0; 16];
        let mut block = 0;
        while block < T {
            later[block] = block as u128 + 1;
            block += 1;
        }
        later
    };

    /// Seals, opens or reads a text with its key stream, and lays down what is hashed of it. Returns the
    /// mask of its tag.
    ///
    /// # Safety
    /// The item's text is readable, and writable if it is written, and has these blocks.
    #[inline(always)]
    pub(super) unsafe fn crypt<W: Width, const R: usize, const SEAL: bool, const WRITE: bool>(
        w: W,
        item: &Item,
        streams: &[W::Register; R],
        hashed: &mut [W::Register; R],
    ) -> __m128i {
        let narrow: HaveAesNi = w.into();
        let lengths = lengths(narrow, item);
        let mut mask = lengths;
        // A loop over registers would not be unrolled everywhere.
        macro_rules! registers {
            ($($register:literal)+) => {$(
                if $register < R {
                    let (block, at) = (W::LANES * $register, W::BYTES * $register);
                    let stream = streams[$register % R];
                    let place = Place::<SEAL, WRITE> {
                        from: item.input.wrapping_add(at),
                        to: item.output.wrapping_add(at),
                        bytes: (item.text_bytes as usize).wrapping_sub(at),
                    };
                    hashed[$register % R] = if block >= T {
                        mask = w.lane::<0>(stream);
                        w.first_lane(lengths)
                    } else if block + W::LANES < T {
                        // SAFETY: a whole register of the text.
                        w.reverse(unsafe { place.whole(w, stream) })
                    } else if block + W::LANES == T {
                        // SAFETY: the last register of the text.
                        w.reverse(unsafe { place.end(w, stream) })
                    } else {
                        // The last blocks of the text, and behind them the lengths.
                        macro_rules! blocks {
                            ($blocks:literal) => {{
                                mask = w.lane::<$blocks>(stream);
                                // SAFETY: so many blocks are left of the text.
                                let end = unsafe { place.blocks::<W, $blocks>(w, stream) };
                                w.with_lane::<$blocks>(w.reverse(end), lengths)
                            }};
                        }
                        match T % W::LANES {
                            1 => blocks!(1),
                            2 => blocks!(2),
                            _ => blocks!(3),
                        }
                    };
                }
            )+};
        }
        registers!(0 1 2 3 4 5 6 7 8);
        mask
    }
}

/// Where a register of text is, and what is left there.
struct Place<const SEAL: bool, const WRITE: bool> {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

impl<const SEAL: bool, const WRITE: bool> Place<SEAL, WRITE> {
    /// A register of text with its key stream; returns the ciphertext.
    ///
    /// # Safety
    /// A register is readable, and writable if it is written.
    #[inline(always)]
    unsafe fn whole<W: Width>(&self, w: W, stream: W::Register) -> W::Register {
        // SAFETY: the caller promises a readable register.
        let input = unsafe { w.load(self.from) };
        let output = w.xor(stream, input);
        if WRITE {
            // SAFETY: the caller promises a writable register where one is written.
            unsafe { w.store(self.to, output) };
        }
        if SEAL { output } else { input }
    }

    /// The same for so many blocks, fewer than there are lanes, of which the last may be a part; zeros behind them.
    ///
    /// # Safety
    /// What is left is readable, and writable if it is written: so many blocks.
    #[inline(always)]
    unsafe fn blocks<W: Width, const BLOCKS: usize>(
        &self,
        w: W,
        stream: W::Register,
    ) -> W::Register {
        let narrow: HaveAesNi = w.into();
        if BLOCKS == 1 && (W::LANES == 2 || self.bytes == 16) {
            // SAFETY: the caller promises what is left, a block.
            return w.first_lane(unsafe { self.end(narrow, w.lane::<0>(stream)) });
        }
        // SAFETY: the caller promises what is left.
        unsafe { self.end(w, stream) }
    }

    /// The same for what is left, at most a register; zeros behind it.
    ///
    /// # Safety
    /// So many bytes are readable, and writable if they are written.
    #[inline(always)]
    unsafe fn end<W: Width>(&self, w: W, stream: W::Register) -> W::Register {
        if self.bytes == W::BYTES {
            // SAFETY: a register is left.
            return unsafe { self.whole(w, stream) };
        }
        // SAFETY: the caller promises so many readable bytes; a whole register was worked above, so they are fewer.
        let input = unsafe { w.load_part(self.from, self.bytes) };
        let output = w.keep(w.xor(stream, input), self.bytes);
        if WRITE {
            // SAFETY: the caller promises so many writable bytes where some are written; they are fewer than a register.
            unsafe { w.store_part(self.to, output, self.bytes) };
        }
        if SEAL { output } else { input }
    }
}

/// What is added to a nonce to be the first counter, which masks the tag.
pub(super) const FIRST_COUNTER: u128 = 1 << 120;

/// A nonce of 12 bytes, zeros behind it.
///
/// # Safety
/// It is readable.
#[inline(always)]
pub(super) unsafe fn nonce(_token: HaveAesNi, from: *const u8) -> __m128i {
    // SAFETY: the caller promises 12 readable bytes.
    let end = unsafe { from.wrapping_add(8).cast::<i32>().read_unaligned() };
    // SAFETY: `_token` is proof of the instructions, and 8 bytes are readable.
    unsafe { nonce_compiled(from, end) }
}

#[inline]
#[target_feature(enable = "sse2,sse4.1")]
unsafe fn nonce_compiled(from: *const u8, end: i32) -> __m128i {
    // SAFETY: the caller promises 8 readable bytes.
    let start = unsafe { _mm_loadl_epi64(from.cast()) };
    _mm_insert_epi32::<2>(start, end)
}
