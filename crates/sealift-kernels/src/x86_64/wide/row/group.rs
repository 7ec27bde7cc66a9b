//! Four messages at a time through AES and GHASH.

use core::arch::x86_64::*;

use super::super::{
    item::{Ahead, Item},
    zmm::{Z, load, pin, reverse, store, wide_fn, xor, xor3},
};
use super::hash::{aad, add, hash, lengths, product, reduce, sum_2, sum_4};
use super::place::{
    GROUP, Rows, all_right, compare_tags, is_right, keep, last_bytes, load_up_to, nonce,
    note_failures, store_up_to, write_tags,
};
use super::shared::Shared;

wide_fn! {
    /// Works messages of one class.
    ///
    /// # Safety
    /// The items' addresses are what they say, and they have `ROWS` registers of text each; `shared` is of
    /// their class and their key, which has `ROUNDS` rounds.
    #[inline(never)]
    pub(super) unsafe fn groups<const ROUNDS: usize, const ROWS: usize, const SEAL: bool, const OWN: usize>(
        shared: &Shared,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        let (whole, rest) = items.as_chunks::<GROUP>();
        let tail = filled(rest, items[0]);
        let zero = _mm512_setzero_si512();
        let mut rows: Rows = [[zero; 2]; GROUP];
        let mut first = zero;
        let mut before: Option<&[Item; GROUP]> = None;
        for index in 0..items.len().div_ceil(GROUP) {
            let group = whole.get(index).unwrap_or(&tail);
            ahead.fetch(GROUP);
            // SAFETY: the caller promises it.
            let mut states = unsafe { States::new(shared, group) };
            if !SEAL {
                // SAFETY: the caller promises it.
                rows = unsafe { load_rows::<ROWS>(group) };
            }
            let hashed = if SEAL { before.unwrap_or(group) } else { group };
            // SAFETY: the caller promises it.
            let hash = unsafe { states.rounds::<ROUNDS, ROWS, SEAL, OWN>(shared, hashed, &rows) };
            let keys = shared.keys();
            // SAFETY: the last round key.
            let key = unsafe { load(keys.wrapping_add(ROUNDS).cast()) };
            if SEAL {
                let tags = xor(reverse(hash), first);
                if let Some(before) = before {
                    // SAFETY: the caller promises it.
                    unsafe { write_tags(before, tags, shared.class.tag_bytes) };
                }
                // SAFETY: the caller promises it.
                rows = unsafe { load_rows::<ROWS>(group) };
                first = _mm512_aesenclast_epi128(states.first, key);
                states.last::<ROWS>(&mut rows, key);
                // SAFETY: the caller promises it.
                unsafe { store_rows::<ROWS, true>(group, &mut rows) };
                before = Some(group);
            } else {
                first = _mm512_aesenclast_epi128(states.first, key);
                let tags = xor(reverse(hash), first);
                // SAFETY: the caller promises it.
                let differ = unsafe { compare_tags(group, tags, shared.class.tag_bytes) };
                states.last::<ROWS>(&mut rows, key);
                if !all_right(differ) {
                    // SAFETY: the caller promises it.
                    unsafe { note_failures(group, differ) };
                    for message in 0..GROUP {
                        let mask = if is_right(differ, message) { 0xff } else { 0 };
                        rows[message] = rows[message].map(|row| _mm512_maskz_mov_epi64(mask, row));
                    }
                }
                // SAFETY: the caller promises it.
                unsafe { store_rows::<ROWS, false>(group, &mut rows) };
            }
        }
        if let (true, Some(before)) = (SEAL, before) {
            // SAFETY: the caller promises it.
            let hash = unsafe { hash::<ROWS>(shared, before, &rows) };
            let tags = xor(reverse(hash), first);
            // SAFETY: the caller promises it.
            unsafe { write_tags(before, tags, shared.class.tag_bytes) };
        }
    }
}

wide_fn! {
    /// Verifies messages of one class.
    ///
    /// # Safety
    /// As for [`groups`].
    #[inline(never)]
    pub(super) unsafe fn verify<const ROWS: usize>(
        shared: &Shared,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        let (whole, rest) = items.as_chunks::<GROUP>();
        let tail = filled(rest, items[0]);
        for index in 0..items.len().div_ceil(GROUP) {
            let group = whole.get(index).unwrap_or(&tail);
            ahead.fetch(GROUP);
            // SAFETY: the caller promises it.
            let mut first = unsafe { States::new(shared, group) }.first;
            let keys = shared.keys();
            for round in 1..shared.class.rounds {
                // SAFETY: a round key.
                first = _mm512_aesenc_epi128(first, unsafe { load(keys.wrapping_add(round).cast()) });
            }
            // SAFETY: the last round key.
            let key = unsafe { load(keys.wrapping_add(shared.class.rounds).cast()) };
            // SAFETY: the caller promises it.
            let rows = unsafe { load_rows::<ROWS>(group) };
            // SAFETY: the caller promises it.
            let hash = unsafe { hash::<ROWS>(shared, group, &rows) };
            let tags = xor(reverse(hash), _mm512_aesenclast_epi128(first, key));
            // SAFETY: the caller promises it.
            let differ = unsafe { compare_tags(group, tags, shared.class.tag_bytes) };
            if !all_right(differ) {
                // SAFETY: the caller promises it.
                unsafe { note_failures(group, differ) };
            }
        }
    }
}

/// AES states.
struct States {
    own: Rows,
    first: Z,
}

impl States {
    wide_fn! {
        /// # Safety
        /// The nonces are readable.
        #[inline]
        unsafe fn new(shared: &Shared, group: &[Item; GROUP]) -> States {
            let [a, b, c, d] = group;
            // SAFETY: the caller promises it.
            let a = unsafe { nonce(a) };
            // SAFETY: the caller promises it.
            let b = unsafe { nonce(b) };
            // SAFETY: the caller promises it.
            let c = unsafe { nonce(c) };
            // SAFETY: the caller promises it.
            let d = unsafe { nonce(d) };
            let start = |nonce| [shared.start(nonce, 0), shared.start(nonce, 1)];
            let ab = _mm512_mask_blend_epi64(0x0c, a, b);
            let cd = _mm512_mask_blend_epi64(0xc0, c, d);
            let first = shared.first(_mm512_mask_blend_epi64(0xf0, ab, cd));
            States { own: [start(a), start(b), start(c), start(d)], first }
        }
    }

    wide_fn! {
        /// All rounds but the last, woven into the hash of a group's ciphertext, which is returned.
        ///
        /// # Safety
        /// The key has `ROUNDS` rounds.
        #[inline]
        unsafe fn rounds<const ROUNDS: usize, const ROWS: usize, const SEAL: bool, const OWN: usize>(
            &mut self,
            shared: &Shared,
            hashed: &[Item; GROUP],
            rows: &Rows,
        ) -> Z {
            let keys = shared.keys();
            macro_rules! key {
                ($round:expr) => {{
                    // SAFETY: a round key.
                    unsafe { load(keys.wrapping_add($round).cast()) }
                }};
            }
            macro_rules! aes {
                ($message:literal, $key:ident) => {
                    self.own[$message][0] = aes(self.own[$message][0], $key);
                    if ROWS > 1 {
                        self.own[$message][1] = aes(self.own[$message][1], $key);
                    }
                };
            }
            macro_rules! plain {
                ($round:literal) => {
                    let key = key!($round);
                    aes!(0, key);
                    aes!(1, key);
                    aes!(2, key);
                    aes!(3, key);
                    self.first = aes(self.first, key);
                };
            }
            macro_rules! woven {
                ($round:expr, $message:literal, $row:literal) => {{
                    let key = key!($round);
                    let mut y = reverse(rows[$message][$row]);
                    pin!(y);
                    let (power, folded) = shared.text_powers($row);
                    let a = clmul::<0x00>(y, folded);
                    aes!(0, key);
                    let b = clmul::<0x10>(y, folded);
                    aes!(1, key);
                    let c = clmul::<0x01>(y, power);
                    aes!(2, key);
                    let d = clmul::<0x11>(y, power);
                    aes!(3, key);
                    self.first = aes(self.first, key);
                    (a, b, c, d)
                }};
            }
            macro_rules! message {
                ($round:expr, $message:literal) => {{
                    let (a, b, c, d) = woven!($round * ROWS + 1, $message, 0);
                    let (mut low, mut high) = (xor(a, c), xor(b, d));
                    if OWN == 2 {
                        // SAFETY: the caller promises it.
                        let y = reverse(unsafe { aad(&hashed[$message]) });
                        let (power, folded) = shared.aad_powers();
                        let (a, b) = (clmul::<0x00>(y, folded), clmul::<0x10>(y, folded));
                        let (c, d) = (clmul::<0x01>(y, power), clmul::<0x11>(y, power));
                        (low, high) = (xor3(low, a, c), xor3(high, b, d));
                    }
                    if ROWS > 1 {
                        let (a, b, c, d) = woven!($round * ROWS + 2, $message, 1);
                        (low, high) = (xor3(low, a, c), xor3(high, b, d));
                    }
                    pin!(low);
                    pin!(high);
                    (low, high)
                }};
            }
            let a = message!(0, 0);
            let c = message!(1, 2);
            let mut ac = sum_2(a, c);
            pin!(ac.0);
            pin!(ac.1);
            let b = message!(2, 1);
            let d = message!(3, 3);
            if ROWS == 1 {
                plain!(5);
            }
            let mut sums = add(shared.same(), sum_4(ac, sum_2(b, d)));
            if OWN > 0 {
                sums = add(sums, product(lengths(hashed), shared.last_power()));
            }
            if ROWS == 1 {
                plain!(6);
                plain!(7);
                plain!(8);
            }
            let hash = reduce(sums);
            plain!(9);
            if ROUNDS > 10 {
                plain!(10);
                plain!(11);
            }
            if ROUNDS > 12 {
                plain!(12);
                plain!(13);
            }
            hash
        }
    }

    wide_fn! {
        /// The last round: rows of text become the other text.
        #[inline]
        fn last<const ROWS: usize>(&self, rows: &mut Rows, key: Z) {
            for (states, rows) in self.own.iter().zip(rows) {
                rows[0] = _mm512_aesenclast_epi128(states[0], xor(key, rows[0]));
                if ROWS > 1 {
                    rows[1] = _mm512_aesenclast_epi128(states[1], xor(key, rows[1]));
                }
            }
        }
    }
}

wide_fn! {
    #[inline]
    fn aes(state: Z, key: Z) -> Z {
        let mut state = _mm512_aesenc_epi128(state, key);
        pin!(state);
        state
    }
}

wide_fn! {
    #[inline]
    fn clmul<const HALVES: i32>(y: Z, power: Z) -> Z {
        let mut product = _mm512_clmulepi64_epi128::<HALVES>(y, power);
        pin!(product);
        product
    }
}

wide_fn! {
    /// The texts of a group, read once.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    unsafe fn load_rows<const ROWS: usize>(group: &[Item; GROUP]) -> Rows {
        let mut rows = [[_mm512_setzero_si512(); 2]; GROUP];
        for (rows, item) in rows.iter_mut().zip(group) {
            if ROWS > 1 {
                // SAFETY: the caller promises it: a text of two registers fills the first.
                rows[0] = unsafe { load(item.input) };
                pin!(rows[0]);
            }
            let from = item.input.wrapping_add(64 * (ROWS - 1));
            // SAFETY: the caller promises it.
            rows[ROWS - 1] = unsafe { load_up_to(from, last_bytes(item, ROWS)) };
            pin!(rows[ROWS - 1]);
        }
        rows
    }
}

wide_fn! {
    /// Writes texts, and leaves zeros behind those that are sealed.
    ///
    /// # Safety
    /// They are writable, unless a message has no output.
    #[inline]
    unsafe fn store_rows<const ROWS: usize, const SEAL: bool>(
        group: &[Item; GROUP],
        rows: &mut Rows,
    ) {
        for (rows, item) in rows.iter_mut().zip(group) {
            let bytes = last_bytes(item, ROWS);
            if SEAL && bytes < 64 {
                rows[ROWS - 1] = keep(rows[ROWS - 1], bytes);
            }
            if item.output.is_null() {
                continue;
            }
            if ROWS > 1 {
                // SAFETY: the caller promises it: a text of two registers fills the first.
                unsafe { store(item.output, rows[0]) };
            }
            // SAFETY: the caller promises it.
            unsafe { store_up_to(item.output.wrapping_add(64 * (ROWS - 1)), rows[ROWS - 1], bytes) };
        }
    }
}

/// The messages left over, made up to a group with copies of one that are read and not written.
fn filled(rest: &[Item], item: Item) -> [Item; GROUP] {
    let none = Item { output: core::ptr::null_mut(), status: core::ptr::null_mut(), ..item };
    let mut group = [none; GROUP];
    group.iter_mut().zip(rest).for_each(|(to, item)| *to = *item);
    group
}
