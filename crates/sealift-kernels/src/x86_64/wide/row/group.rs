//! Eight registers of text at a time through AES and GHASH: those of `N` messages, four or eight.

use core::arch::x86_64::*;

use super::{
    super::{
        item::{Ahead, Item},
        zmm::{Z, reverse, wide_fn, xor},
    },
    hash::{Halves, aad_and_lengths, add, hash, lengths, product, reduce, sum_2, sum_4},
    place::{QUAD, Rows, load_rows, nonces, quad, store_rows},
    shared::Shared,
    spare::Groups,
    tag::{all_right, cleared, compare_tags, note_failures, write_tags},
    weave::{States, multiply_aad},
};

wide_fn! {
    /// Seals or opens messages of one class.
    ///
    /// # Safety
    /// The items' addresses are what they say, and they have `8 / N` registers of text each; `shared` is of
    /// their class and their key.
    #[inline(never)]
    pub(super) unsafe fn groups<const N: usize, const SEAL: bool, const OWN: u8>(
        shared: &Shared,
        items: &Groups<'_, N>,
        ahead: &mut Ahead<'_>,
    ) {
        let zero = _mm512_setzero_si512();
        let mut rows: Rows = [zero; 8];
        let mut masks = [zero; 2];
        let mut before: Option<&[Item; N]> = None;
        for index in 0..items.len() {
            let (group, live) = items.get(index);
            ahead.fetch(N);
            let shared = shared.again();
            // SAFETY: the caller promises the items: nonces are readable.
            let mut states = unsafe { States::<N>::new(shared, group) };
            if !SEAL {
                // SAFETY: the caller promises the items: texts of an open are readable, and `shared` is of their class.
                rows = unsafe { load_rows::<N, OWN>(shared, group) };
            }
            let hashed = if SEAL { before.unwrap_or(group) } else { group };
            // SAFETY: the caller promises the items: aads are readable, also those of the group before.
            let hashes = unsafe { states.rounds::<SEAL, OWN>(shared, hashed, rows) };
            let key = shared.last_key();
            if SEAL {
                if let Some(before) = before {
                    let tags = mask(hashes, masks);
                    // SAFETY: the caller promises the items: tags of a seal are writable, and as long as the class says.
                    unsafe { write_tags(before, tags, shared.class.tag_bytes) };
                }
                before = Some(group);
                // SAFETY: the caller promises the items: texts of a seal are readable, and `shared` is of their class.
                rows = unsafe { load_rows::<N, OWN>(shared, group) };
                masks = states.masks(key);
                rows = states.last(rows, key);
                // SAFETY: the caller promises the items: texts of a seal are as long to write as to read.
                rows = unsafe { store_rows::<N, OWN, true>(shared, group, rows) };
            } else {
                let tags = mask(hashes, states.masks(key));
                // SAFETY: the caller promises the items: tags of an open are readable, and as long as the class says.
                let differ = unsafe { compare_tags(group, tags, shared.class.tag_bytes) } & live;
                rows = states.last(rows, key);
                if !all_right(differ) {
                    // SAFETY: the caller promises the items: statuses are writable.
                    unsafe { note_failures(group, differ) };
                    macro_rules! clear {
                        ($($row:literal)+) => {$(
                            rows[$row] = cleared(rows[$row], differ, $row * N / 8);
                        )+};
                    }
                    clear!(0 1 2 3 4 5 6 7);
                }
                // SAFETY: the caller promises the items: texts of an open are as long to write as to read.
                unsafe { store_rows::<N, OWN, false>(shared, group, rows) };
            }
        }
        if let (true, Some(before)) = (SEAL, before) {
            // SAFETY: the caller promises the items: aads of the last group are readable.
            let tags = mask(unsafe { hash(shared, before, copied(&rows)) }, masks);
            // SAFETY: the caller promises the items: tags of the last group are writable, and as long as the class says.
            unsafe { write_tags(before, tags, shared.class.tag_bytes) };
        }
    }
}

impl<const N: usize> States<N> {
    wide_fn! {
        /// The states before the first round.
        ///
        /// # Safety
        /// The nonces are readable.
        #[inline]
        pub(super) unsafe fn new(shared: &Shared, group: &[Item; N]) -> States<N> {
            // SAFETY: the caller promises readable nonces, of which these are the first four.
            let a = unsafe { nonces(quad(group, 0)) };
            let first = shared.first(a);
            if N == QUAD {
                let start = |message: usize| [shared.start(a[message], 0), shared.start(a[message], 1)];
                let [[a, b], [c, d], [e, f], [g, h]] = [start(0), start(1), start(2), start(3)];
                return States { own: [a, b, c, d, e, f, g, h], first: [first, first] };
            }
            // SAFETY: the caller promises readable nonces, of which these are the second four.
            let b = unsafe { nonces(quad(group, 1)) };
            let second = shared.first(b);
            let ([a, b, c, d], [e, f, g, h]) = (a, b);
            let own = [a, b, c, d, e, f, g, h].map(|nonce| shared.start(nonce, 0));
            States { own, first: [first, second] }
        }
    }

    wide_fn! {
        /// All rounds but the last, woven into the hash of a group's ciphertext, which is returned.
        ///
        /// # Safety
        /// The items' aads are readable.
        // IMPLEMENTATION NOTE: `SEAL` makes this another function for each caller, so that the compiler
        // inlines it: states that are passed through memory would stay there.
        #[inline]
        unsafe fn rounds<const SEAL: bool, const OWN: u8>(
            &mut self,
            shared: &Shared,
            hashed: &[Item; N],
            rows: Rows,
        ) -> [Z; 2] {
            macro_rules! aad {
                ($message:literal, $sums:ident) => {
                    if OWN == 2 {
                        // SAFETY: the caller promises readable aads, that of this message among them.
                        multiply_aad(shared, unsafe { aad_and_lengths(&hashed[$message]) }, $sums)
                    } else {
                        $sums
                    }
                };
            }
            // Two rounds with the registers of one of four messages.
            macro_rules! two {
                ($message:literal: $round:literal $row:literal, $next_round:literal $next_row:literal) => {{
                    let sums = self.multiply::<$round, 0>(shared, rows[$row]);
                    let sums = aad!($message, sums);
                    self.multiply_add::<$next_round, 1>(shared, rows[$next_row], sums)
                }};
            }
            // A round with the register of one of eight messages.
            macro_rules! one {
                ($round:literal $message:literal) => {{
                    let sums = self.multiply::<$round, 0>(shared, rows[$message]);
                    aad!($message, sums)
                }};
            }
            let sums = if N == QUAD {
                let (a, c) = (two!(0: 1 0, 2 1), two!(2: 3 4, 4 5));
                let ac = sum_2(a, c);
                let (b, d) = (two!(1: 5 2, 6 3), two!(3: 7 6, 8 7));
                let sums = sum_4(ac, sum_2(b, d));
                [sums, sums]
            } else {
                let (a, c) = (one!(1 0), one!(2 2));
                let ac = sum_2(a, c);
                let (b, d) = (one!(3 1), one!(4 3));
                let first = sum_4(ac, sum_2(b, d));
                let (a, c) = (one!(5 4), one!(6 6));
                let ac = sum_2(a, c);
                let (b, d) = (one!(7 5), one!(8 7));
                [first, sum_4(ac, sum_2(b, d))]
            };
            let shared = shared.again();
            let mut hashes = [close::<OWN>(shared, quad(hashed, 0), sums[0]); 2];
            if N > QUAD {
                hashes[1] = close::<OWN>(shared, quad(hashed, 1), sums[1]);
            }
            self.round::<9>(shared);
            if shared.class.rounds > 10 {
                self.round::<10>(shared);
                self.round::<11>(shared);
                if shared.class.rounds > 12 {
                    self.round::<12>(shared);
                    self.round::<13>(shared);
                }
            }
            hashes
        }
    }

    wide_fn! {
        /// The last round of the first counters: what hides the hashes.
        #[inline]
        pub(super) fn masks(&self, key: Z) -> [Z; 2] {
            let first = _mm512_aesenclast_epi128(self.first[0], key);
            [first, if N > QUAD { _mm512_aesenclast_epi128(self.first[1], key) } else { first }]
        }
    }

    wide_fn! {
        /// The last round: rows of text become the other text.
        #[inline]
        fn last(&self, mut rows: Rows, key: Z) -> Rows {
            macro_rules! last {
                ($($row:literal)+) => {
                    $(rows[$row] = _mm512_aesenclast_epi128(self.own[$row], xor(key, rows[$row]));)+
                };
            }
            last!(0 1 2 3 4 5 6 7);
            rows
        }
    }
}

/// A copy for a function that is not inlined: given the rows themselves, they would be kept in memory.
#[inline(always)]
fn copied(rows: &Rows) -> Rows {
    let [a, b, c, d, e, f, g, h] = *rows;
    [a, b, c, d, e, f, g, h]
}

wide_fn! {
    #[inline]
    fn close<const OWN: u8>(shared: &Shared, four: &[Item; QUAD], sums: Halves) -> Z {
        let mut sums = add(shared.same(), sums);
        if OWN == 1 {
            sums = add(sums, product(lengths(four), shared.last_power()));
        }
        reduce(sums)
    }
}

wide_fn! {
    /// The tags: hashes, hidden.
    #[inline]
    pub(super) fn mask(hashes: [Z; 2], masks: [Z; 2]) -> [Z; 2] {
        [xor(reverse(hashes[0]), masks[0]), xor(reverse(hashes[1]), masks[1])]
    }
}
