//! Rounds of AES with a product of GHASH between their instructions.
//!
//! Written as assembly, because the speed hangs on the order of these instructions and on how few there
//! are, and so that no round key, power or state is copied to where nobody wipes it.

use core::arch::asm;

use super::{
    super::zmm::{Z, wide_fn},
    hash::Halves,
    place::{QUAD, Rows},
    shared::Shared,
};

/// AES states of a group: of the counters of the texts, and of four first counters a register.
#[derive(Clone, Copy)]
pub(super) struct States<const N: usize> {
    pub(super) own: Rows,
    pub(super) first: [Z; 2],
}

/// A round of all states of a group but the last of eight messages, with instructions between and behind.
macro_rules! on_states {
    (
        $states:ident, $shared:ident,
        [$($zero:literal)?] [$($one:literal)?] [$($two:literal)?] [$($three:literal)?] [$($four:literal)?] [$($after:literal),*],
        $($operand:tt)*
    ) => {
        let _k: Z;
        // SAFETY: only memory of what is shared is read, where aligned registers are.
        unsafe {
            asm!(
                "vmovdqa64 {k:z}, zmmword ptr [{shared} + {key}]",
                $($zero,)?
                "vaesenc {a:z}, {a:z}, {k:z}",
                "vaesenc {b:z}, {b:z}, {k:z}",
                $($one,)?
                "vaesenc {c:z}, {c:z}, {k:z}",
                "vaesenc {d:z}, {d:z}, {k:z}",
                $($two,)?
                "vaesenc {e:z}, {e:z}, {k:z}",
                "vaesenc {f:z}, {f:z}, {k:z}",
                $($three,)?
                "vaesenc {g:z}, {g:z}, {k:z}",
                "vaesenc {h:z}, {h:z}, {k:z}",
                $($four,)?
                "vaesenc {first:z}, {first:z}, {k:z}",
                $($after,)*
                shared = in(reg) $shared as *const Shared,
                k = out(zmm_reg) _k,
                a = inout(zmm_reg) $states.own[0],
                b = inout(zmm_reg) $states.own[1],
                c = inout(zmm_reg) $states.own[2],
                d = inout(zmm_reg) $states.own[3],
                e = inout(zmm_reg) $states.own[4],
                f = inout(zmm_reg) $states.own[5],
                g = inout(zmm_reg) $states.own[6],
                h = inout(zmm_reg) $states.own[7],
                first = inout(zmm_reg) $states.first[0],
                key = const Shared::KEYS_AT + 64 * ROUND,
                $($operand)*
                options(readonly, nostack, preserves_flags),
            )
        }
    };
}

/// The same, with the products of a register of text between.
macro_rules! with_products {
    ($states:ident, $shared:ident, $row:ident, [$($sum:literal),*], $($sums:tt)*) => {
        let (_y, _s, _t, _u, _v): (Z, Z, Z, Z, Z);
        on_states!(
            $states, $shared,
            ["vpshufb {y:z}, {row:z}, zmmword ptr [{shared} + {order}]
              vmovdqa64 {u:z}, zmmword ptr [{shared} + {folded}]"]
            ["vpclmulqdq {s:z}, {y:z}, {u:z}, 0x00"]
            ["vpclmulqdq {t:z}, {y:z}, {u:z}, 0x10
              vmovdqa64 {v:z}, zmmword ptr [{shared} + {power}]"]
            ["vpclmulqdq {u:z}, {y:z}, {v:z}, 0x01"]
            ["vpclmulqdq {y:z}, {y:z}, {v:z}, 0x11"]
            [$($sum),*],
            row = in(zmm_reg) $row,
            y = out(zmm_reg) _y,
            s = out(zmm_reg) _s,
            t = out(zmm_reg) _t,
            u = out(zmm_reg) _u,
            v = out(zmm_reg) _v,
            order = const Shared::ORDER_AT,
            power = const Shared::POWERS_AT + 128 * REGISTER,
            folded = const Shared::POWERS_AT + 128 * REGISTER + 64,
            $($sums)*
        )
    };
}

impl<const N: usize> States<N> {
    wide_fn! {
        /// A round.
        #[inline]
        pub(super) fn round<const ROUND: usize>(&mut self, shared: &Shared) {
            on_states!(self, shared, [] [] [] [] [] [],);
            self.second_first::<ROUND>(shared);
        }
    }

    wide_fn! {
        /// A round, and the products of a message's register with the powers for its first register of
        /// text (0), its second (1) or its aad (2).
        #[inline]
        pub(super) fn multiply<const ROUND: usize, const REGISTER: usize>(
            &mut self,
            shared: &Shared,
            row: Z,
        ) -> Halves {
            let (low, high);
            with_products!(
                self, shared, row,
                ["vpxorq {low:z}, {s:z}, {u:z}", "vpxorq {high:z}, {t:z}, {y:z}"],
                low = lateout(zmm_reg) low,
                high = lateout(zmm_reg) high,
            );
            self.second_first::<ROUND>(shared);
            (low, high)
        }
    }

    wide_fn! {
        /// The same, with the products added to others.
        #[inline]
        pub(super) fn multiply_add<const ROUND: usize, const REGISTER: usize>(
            &mut self,
            shared: &Shared,
            row: Z,
            (mut low, mut high): Halves,
        ) -> Halves {
            with_products!(
                self, shared, row,
                ["vpternlogq {low:z}, {s:z}, {u:z}, 0x96", "vpternlogq {high:z}, {t:z}, {y:z}, 0x96"],
                low = inout(zmm_reg) low,
                high = inout(zmm_reg) high,
            );
            self.second_first::<ROUND>(shared);
            (low, high)
        }
    }

    wide_fn! {
        /// The round for the first counters of the second four of eight messages.
        #[inline]
        fn second_first<const ROUND: usize>(&mut self, shared: &Shared) {
            if N == QUAD {
                return;
            }
            // SAFETY: only memory of what is shared is read, where aligned registers are.
            unsafe {
                asm!(
                    "vaesenc {first:z}, {first:z}, zmmword ptr [{shared} + {key}]",
                    shared = in(reg) shared as *const Shared,
                    first = inout(zmm_reg) self.first[1],
                    key = const Shared::KEYS_AT + 64 * ROUND,
                    options(readonly, nostack, preserves_flags),
                );
            }
        }
    }
}

wide_fn! {
    /// Products with the powers for the aad, added to others.
    #[inline]
    pub(super) fn multiply_aad(shared: &Shared, aad: Z, (mut low, mut high): Halves) -> Halves {
        let (_y, _s, _t, _u): (Z, Z, Z, Z);
        // SAFETY: only memory of what is shared is read, where aligned registers are.
        unsafe {
            asm!(
                "vpshufb {y:z}, {aad:z}, zmmword ptr [{shared} + {order}]",
                "vpclmulqdq {s:z}, {y:z}, zmmword ptr [{shared} + {folded}], 0x00",
                "vpclmulqdq {t:z}, {y:z}, zmmword ptr [{shared} + {folded}], 0x10",
                "vpclmulqdq {u:z}, {y:z}, zmmword ptr [{shared} + {power}], 0x01",
                "vpclmulqdq {y:z}, {y:z}, zmmword ptr [{shared} + {power}], 0x11",
                "vpternlogq {low:z}, {s:z}, {u:z}, 0x96",
                "vpternlogq {high:z}, {t:z}, {y:z}, 0x96",
                shared = in(reg) shared as *const Shared,
                aad = in(zmm_reg) aad,
                y = out(zmm_reg) _y,
                s = out(zmm_reg) _s,
                t = out(zmm_reg) _t,
                u = out(zmm_reg) _u,
                low = inout(zmm_reg) low,
                high = inout(zmm_reg) high,
                order = const Shared::ORDER_AT,
                power = const Shared::POWERS_AT + 128 * 2,
                folded = const Shared::POWERS_AT + 128 * 2 + 64,
                options(readonly, nostack, preserves_flags),
            );
        }
        (low, high)
    }
}
