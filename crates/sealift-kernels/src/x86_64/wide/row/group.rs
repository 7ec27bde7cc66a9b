//! Eight registers of text at a time through AES and GHASH: those of `N` messages, four or eight.

use core::arch::x86_64::*;

use super::{
    super::{
        item::{Ahead, Item},
        zmm::{Z, pin, reverse, wide_fn, xor},
    },
    hash::{Halves, aad, add, hash, lengths, product, reduce, sum_2, sum_4},
    place::{QUAD, Rows, load_rows, nonces, quad, store_rows},
    shared::Shared,
    spare::Groups,
    tag::{all_right, clear_failed, compare_tags, note_failures, write_tags},
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
            // SAFETY: the caller promises it.
            let mut states = unsafe { States::<N>::new(shared, group) };
            if !SEAL {
                // SAFETY: the caller promises it.
                rows = unsafe { load_rows::<N, OWN>(shared, group) };
            }
            let hashed = if SEAL { before.unwrap_or(group) } else { group };
            // SAFETY: the caller promises it.
            let hashes = unsafe { states.rounds::<SEAL, OWN>(shared, hashed, &rows) };
            let key = shared.last_key();
            if SEAL {
                if let Some(before) = before {
                    let tags = mask(hashes, masks);
                    // SAFETY: the caller promises it.
                    unsafe { write_tags(before, tags, shared.class.tag_bytes) };
                }
                before = Some(group);
                // SAFETY: the caller promises it.
                rows = unsafe { load_rows::<N, OWN>(shared, group) };
                masks = states.masks(key);
                states.last(&mut rows, key);
                // SAFETY: the caller promises it.
                unsafe { store_rows::<N, OWN, true>(shared, group, &mut rows) };
            } else {
                let tags = mask(hashes, states.masks(key));
                // SAFETY: the caller promises it.
                let differ = unsafe { compare_tags(group, tags, shared.class.tag_bytes) } & live;
                states.last(&mut rows, key);
                if !all_right(differ) {
                    // SAFETY: the caller promises it.
                    unsafe { note_failures(group, differ) };
                    clear_failed::<N>(&mut rows, differ);
                }
                // SAFETY: the caller promises it.
                unsafe { store_rows::<N, OWN, false>(shared, group, &mut rows) };
            }
        }
        if let (true, Some(before)) = (SEAL, before) {
            // SAFETY: the caller promises it.
            let tags = mask(unsafe { hash(shared, before, &rows) }, masks);
            // SAFETY: the caller promises it.
            unsafe { write_tags(before, tags, shared.class.tag_bytes) };
        }
    }
}

/// AES states of a group: of the counters of the texts, and of four first counters a register.
pub(super) struct States<const N: usize> {
    own: Rows,
    pub(super) first: [Z; 2],
}

impl<const N: usize> States<N> {
    wide_fn! {
        /// The states before the first round.
        ///
        /// # Safety
        /// The nonces are readable.
        #[inline]
        pub(super) unsafe fn new(shared: &Shared, group: &[Item; N]) -> States<N> {
            // SAFETY: the caller promises it.
            let a = unsafe { nonces(quad(group, 0)) };
            let first = shared.first(a);
            if N == QUAD {
                let start = |message: usize| [shared.start(a[message], 0), shared.start(a[message], 1)];
                let [[a, b], [c, d], [e, f], [g, h]] = [start(0), start(1), start(2), start(3)];
                return States { own: [a, b, c, d, e, f, g, h], first: [first, first] };
            }
            // SAFETY: as above.
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
            rows: &Rows,
        ) -> [Z; 2] {
            macro_rules! aes {
                ($key:ident: $($register:literal)+) => {
                    $(self.own[$register] = aes(self.own[$register], $key);)+
                };
                ($key:ident) => {
                    aes!($key: 4 5 6 7);
                    self.first[0] = aes(self.first[0], $key);
                    if N > QUAD {
                        self.first[1] = aes(self.first[1], $key);
                    }
                };
            }
            macro_rules! plain {
                ($round:literal) => {
                    let key = shared.key($round);
                    aes!(key: 0 1 2 3);
                    aes!(key);
                };
            }
            // A round, with the product of a register of text.
            macro_rules! woven {
                ($round:literal, $row:literal) => {{
                    let shared = shared.again();
                    let key = shared.key($round);
                    let mut y = reverse(rows[$row]);
                    pin!(y);
                    aes!(key: 0 1 2 3);
                    let sum = times(y, shared.text_powers($row % (8 / N)));
                    aes!(key);
                    if OWN == 2 && $row % (8 / N) == 0 {
                        // SAFETY: the caller promises it.
                        let y = reverse(unsafe { aad(&hashed[$row * N / 8]) });
                        add(sum, times(y, shared.aad_powers()))
                    } else {
                        sum
                    }
                }};
            }
            let sums = if N == QUAD {
                let mut a = add(woven!(1, 0), woven!(2, 1));
                pin!(a.0, a.1);
                let c = add(woven!(3, 4), woven!(4, 5));
                let mut ac = sum_2(a, c);
                pin!(ac.0, ac.1);
                let mut b = add(woven!(5, 2), woven!(6, 3));
                pin!(b.0, b.1);
                let d = add(woven!(7, 6), woven!(8, 7));
                let sums = sum_4(ac, sum_2(b, d));
                [sums, sums]
            } else {
                let (a, c) = (woven!(1, 0), woven!(2, 2));
                let mut ac = sum_2(a, c);
                pin!(ac.0, ac.1);
                let (b, d) = (woven!(3, 1), woven!(4, 3));
                let mut first = sum_4(ac, sum_2(b, d));
                pin!(first.0, first.1);
                let (a, c) = (woven!(5, 4), woven!(6, 6));
                let mut ac = sum_2(a, c);
                pin!(ac.0, ac.1);
                let (b, d) = (woven!(7, 5), woven!(8, 7));
                [first, sum_4(ac, sum_2(b, d))]
            };
            let shared = shared.again();
            let mut hashes = [close::<OWN>(shared, quad(hashed, 0), sums[0]); 2];
            if N > QUAD {
                hashes[1] = close::<OWN>(shared, quad(hashed, 1), sums[1]);
            }
            plain!(9);
            if shared.class.rounds > 10 {
                plain!(10);
                plain!(11);
                if shared.class.rounds > 12 {
                    plain!(12);
                    plain!(13);
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
        fn last(&self, rows: &mut Rows, key: Z) {
            macro_rules! last {
                ($($row:literal)+) => {
                    $(rows[$row] = _mm512_aesenclast_epi128(self.own[$row], xor(key, rows[$row]));)+
                };
            }
            last!(0 1 2 3 4 5 6 7);
        }
    }
}

wide_fn! {
    #[inline]
    fn close<const OWN: u8>(shared: &Shared, four: &[Item; QUAD], sums: Halves) -> Z {
        let mut sums = add(shared.same(), sums);
        if OWN > 0 {
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

wide_fn! {
    #[inline]
    fn aes(state: Z, key: Z) -> Z {
        let mut state = _mm512_aesenc_epi128(state, key);
        pin!(state);
        state
    }
}

wide_fn! {
    /// Times a power, in four instructions that stay together.
    #[inline]
    fn times(y: Z, (power, folded): Halves) -> Halves {
        let mut a = _mm512_clmulepi64_epi128::<0x00>(y, folded);
        pin!(a);
        let mut b = _mm512_clmulepi64_epi128::<0x10>(y, folded);
        pin!(b);
        let mut c = _mm512_clmulepi64_epi128::<0x01>(y, power);
        pin!(c);
        let mut d = _mm512_clmulepi64_epi128::<0x11>(y, power);
        pin!(d);
        (xor(a, c), xor(b, d))
    }
}
