//! Nonces and texts of a group.

use core::arch::x86_64::*;

use super::super::{
    item::Item,
    zmm::{Z, load, load_nonce, pin, store, wide_fn},
};
use super::shared::Shared;

/// Messages whose first counters, hashes and tags share a register.
pub(super) const QUAD: usize = 4;

/// The registers of a group's texts: one of each of eight messages, or two of each of four.
pub(super) type Rows = [Z; 8];

/// The first or the second four messages of a group.
#[inline(always)]
pub(super) fn quad<const N: usize>(group: &[Item; N], index: usize) -> &[Item; QUAD] {
    const { assert!(N == QUAD || N == 2 * QUAD) };
    &group.as_chunks::<QUAD>().0[index]
}

wide_fn! {
    /// The nonces of four messages, each in all lanes, zeros behind it.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn nonces(four: &[Item; QUAD]) -> [Z; QUAD] {
        // SAFETY: the caller promises readable nonces, and those of this kernel have 12 bytes.
        four.each_ref().map(|item| _mm512_broadcast_i32x4(unsafe { load_nonce(item.nonce) }))
    }
}

wide_fn! {
    /// The texts of a group, read once. `OWN` is 0 where all messages are alike.
    ///
    /// # Safety
    /// They are readable, and of the class.
    #[inline]
    pub(super) unsafe fn load_rows<const N: usize, const OWN: u8>(
        shared: &Shared,
        group: &[Item; N],
    ) -> Rows {
        macro_rules! rows {
            ($full:literal: $($row:literal)+) => {
                [$(
                    // SAFETY: the caller promises readable texts of the class: this register is of one of them.
                    unsafe { load_row(group, $row, $full) }
                ),+]
            };
        }
        if OWN == 0 && shared.is_full {
            rows!(true: 0 1 2 3 4 5 6 7)
        } else {
            rows!(false: 0 1 2 3 4 5 6 7)
        }
    }
}

wide_fn! {
    /// Writes texts, and returns them, with zeros behind those that are sealed.
    ///
    /// # Safety
    /// They are writable, and of the class.
    #[inline]
    pub(super) unsafe fn store_rows<const N: usize, const OWN: u8, const SEAL: bool>(
        shared: &Shared,
        group: &[Item; N],
        mut rows: Rows,
    ) -> Rows {
        macro_rules! store {
            ($full:literal: $($row:literal)+) => {$(
                // SAFETY: the caller promises writable texts of the class: this register is of one of them.
                unsafe { store_row(group, $row, rows[$row], $full) };
                if SEAL && !$full && $row % (8 / N) == 8 / N - 1 {
                    rows[$row] = keep(rows[$row], last_bytes(&group[$row * N / 8], 8 / N));
                }
            )+};
        }
        if OWN == 0 && shared.is_full {
            store!(true: 0 1 2 3 4 5 6 7);
        } else {
            store!(false: 0 1 2 3 4 5 6 7);
        }
        rows
    }
}

wide_fn! {
    /// # Safety
    /// As for [`load_rows`].
    #[inline]
    unsafe fn load_row<const N: usize>(group: &[Item; N], row: usize, is_full: bool) -> Z {
        let (item, register) = (&group[row * N / 8], row % (8 / N));
        let from = item.input.wrapping_add(64 * register);
        let bytes = last_bytes(item, 8 / N);
        let mut row = if is_full || register < 8 / N - 1 {
            // SAFETY: the caller promises a readable text, which is full or goes on behind this register.
            unsafe { load(from) }
        } else {
            // SAFETY: the caller promises a readable text, and `bytes` are what is left of it behind its other registers.
            unsafe { load_up_to(from, bytes) }
        };
        pin!(row);
        row
    }
}

wide_fn! {
    /// # Safety
    /// As for [`store_rows`].
    #[inline]
    unsafe fn store_row<const N: usize>(group: &[Item; N], row: usize, text: Z, is_full: bool) {
        let (item, register) = (&group[row * N / 8], row % (8 / N));
        let to = item.output.wrapping_add(64 * register);
        let bytes = last_bytes(item, 8 / N);
        if is_full || register < 8 / N - 1 {
            // SAFETY: the caller promises a writable text, which is full or goes on behind this register.
            unsafe { store(to, text) };
        } else {
            // SAFETY: the caller promises a writable text, and `bytes` are what is left of it behind its other registers.
            unsafe { store_up_to(to, text, bytes) };
        }
    }
}

wide_fn! {
    /// Bytes of the last of a message's registers, at most 64.
    #[inline]
    fn last_bytes(item: &Item, registers: usize) -> usize {
        (item.text_bytes as usize).wrapping_sub(64 * (registers - 1))
    }
}

wide_fn! {
    /// Loads up to 64 bytes, zeros behind them.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    pub(super) unsafe fn load_up_to(from: *const u8, bytes: usize) -> Z {
        if bytes >= 64 {
            // SAFETY: the caller promises 64 readable bytes, if there are so many.
            unsafe { load(from) }
        } else {
            // SAFETY: the caller promises `bytes` readable bytes; masked ones are not touched.
            unsafe { _mm512_maskz_loadu_epi8(mask(bytes), from.cast()) }
        }
    }
}

wide_fn! {
    /// Stores up to 64 bytes.
    ///
    /// # Safety
    /// They are writable.
    #[inline]
    pub(super) unsafe fn store_up_to(to: *mut u8, register: Z, bytes: usize) {
        if bytes >= 64 {
            // SAFETY: the caller promises 64 writable bytes, if there are so many.
            unsafe { store(to, register) }
        } else {
            // SAFETY: the caller promises `bytes` writable bytes; masked ones are not touched.
            unsafe { _mm512_mask_storeu_epi8(to.cast(), mask(bytes), register) }
        }
    }
}

wide_fn! {
    /// Zeros behind the first bytes.
    #[inline]
    pub(super) fn keep(register: Z, bytes: usize) -> Z {
        _mm512_maskz_mov_epi8(if bytes >= 64 { u64::MAX } else { mask(bytes) }, register)
    }
}

/// A bit for each of the first `bytes`, fewer than 64.
#[inline(always)]
fn mask(bytes: usize) -> u64 {
    (1 << bytes) - 1
}
