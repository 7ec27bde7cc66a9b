//! Steps of eight registers in one piece of assembly each.
//!
//! Ciphertext stays in registers from the step that makes it to the one that hashes it. A processor has only so many instructions in
//! flight, so there are few between the last step of a message and the first one of the next.
#![allow(unsafe_code)]

use core::arch::asm;

use super::{
    super::zmm::{self, Z, wide_fn},
    STEP_BYTES,
};
use crate::schedule::{Expanded, POWERS};

/// The round keys of a message.
#[derive(Clone, Copy)]
pub(super) struct RoundKeys {
    /// The first one; the others are 16 bytes apart, or 64 where each is in all lanes.
    pub(super) first: *const u8,
    pub(super) rounds: usize,
}

impl RoundKeys {
    wide_fn! {
        /// One of them, in all lanes.
        ///
        /// # Safety
        /// It is there.
        #[inline]
        pub(super) unsafe fn round<const IN_LANES: bool>(self, round: usize) -> Z {
            if IN_LANES {
                // SAFETY: the caller promises it, in all lanes.
                return unsafe { zmm::load(self.first.wrapping_add(64 * round)) };
            }
            // SAFETY: the caller promises a round key there.
            unsafe { zmm::broadcast(self.first.wrapping_add(16 * round)) }
        }
    }
}

/// Where the powers of rows are, as they lie in an expanded key: the same folded is `Expanded::FOLDED_BEFORE` bytes before.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    /// Where those of the first four begin, if there are more than four.
    pub(super) first: *const u8,
    /// Where those of the last ones begin, up to four.
    pub(super) last: *const u8,
}

/// How many rows are to be hashed, an even number, and the places of their powers.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) weights: Weights,
}

/// Bytes that are read from the first power on, and from the first folded one: most where nine blocks are in four rows, the last of
/// which are zeros.
pub(super) const REACH: usize = 16 * (POWERS - 9) + 4 * 64;

/// The same for all messages.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    /// In which order bytes are the opposite one.
    pub(super) order: Z,
    pub(super) modulus: Z,
}

/// Where in a message a step is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The nonce and a counter of zero, after the first round key, in all lanes.
    pub(super) base: Z,
    /// The counters of its blocks.
    pub(super) counters: *const u8,
    /// Its text.
    pub(super) from: *const u8,
    /// Where its result goes.
    pub(super) to: *mut u8,
}

impl Place {
    /// A step later.
    #[inline(always)]
    pub(super) fn next(self) -> Place {
        let counters = self.counters.wrapping_add(STEP_BYTES);
        let (from, to) = (self.from.wrapping_add(STEP_BYTES), self.to.wrapping_add(STEP_BYTES));
        Place { counters, from, to, ..self }
    }
}

/// A round key in all lanes.
macro_rules! key {
    ($round:literal) => {
        concat!(
            ".if {in_lanes}\n",
            concat!("vmovdqa64 zmm23, [{keys} + 64 * ", $round, "]\n"),
            ".else\n",
            concat!("vbroadcasti32x4 zmm23, [{keys} + 16 * ", $round, "]\n"),
            ".endif\n",
        )
    };
}

/// One round of all states, with others between.
macro_rules! round {
    ($round:literal) => {
        round!($round, ("", "", "", "", "", "", ""))
    };
    ($round:literal, ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr)) => {
        concat!(
            key!($round),
            round!(@ "zmm0" 0), $a,
            round!(@ "zmm1" 1), $b,
            round!(@ "zmm2" 2), $c,
            round!(@ "zmm3" 3), $d,
            round!(@ "zmm4" 4), $e,
            round!(@ "zmm5" 5), $f,
            round!(@ "zmm6" 6), $g,
            round!(@ "zmm7" 7),
            ".if {has_masks}\nvaesenc ymm24, ymm24, ymm23\n.endif\n",
        )
    };
    (@ $state:literal $place:literal) => {
        concat!(".if {registers} > ", $place, "\nvaesenc ", $state, ", ", $state, ", zmm23\n.endif\n")
    };
}

/// One round, and between it the product of a row of ciphertext.
macro_rules! product {
    // The first one of the first sum, to which the hash before is added.
    ($round:literal, begin $row:literal, $weights:literal $at:literal) => {
        product!(@ $round, $row, "vpxorq zmm22, zmm22, zmm25\n", $weights, $at,
            "vpxorq zmm20, zmm16, zmm17\n", "vpxorq zmm18, zmm16, zmm17\n")
    };
    ($round:literal, first $row:literal, $weights:literal $at:literal) => {
        product!(@ $round, $row, "", $weights, $at,
            "vpternlogq zmm20, zmm16, zmm17, 0x96\n", "vpternlogq zmm18, zmm16, zmm17, 0x96\n")
    };
    // The same for the second sum.
    ($round:literal, second_begin $row:literal, $weights:literal $at:literal) => {
        product!(@ $round, $row, "", $weights, $at,
            "vpxorq zmm21, zmm16, zmm17\n", "vpxorq zmm19, zmm16, zmm17\n")
    };
    ($round:literal, second $row:literal, $weights:literal $at:literal) => {
        product!(@ $round, $row, "", $weights, $at,
            "vpternlogq zmm21, zmm16, zmm17, 0x96\n", "vpternlogq zmm19, zmm16, zmm17, 0x96\n")
    };
    ($round:literal, second_end $row:literal, $weights:literal $at:literal) => {
        product!(@ $round, $row, "vpxorq zmm22, zmm22, zmm18\n", $weights, $at,
            "vpternlogq zmm21, zmm16, zmm17, 0x96\n", "vpternlogq zmm19, zmm16, zmm17, 0x96\n")
    };
    (@ $round:literal, $row:literal, $before:literal, $weights:literal, $at:literal, $low:literal, $high:literal) => {
        round!($round, (
            concat!("vpshufb zmm22, ", $row, ", zmm27\n", $before),
            concat!("vmovdqu64 zmm29, [{", $weights, "} + 64 * ", $at, " - {folded_before}]\nvpclmulqdq zmm16, zmm22, zmm29, 0x00\n"),
            concat!("vmovdqu64 zmm30, [{", $weights, "} + 64 * ", $at, "]\nvpclmulqdq zmm17, zmm22, zmm30, 0x01\n"),
            $low,
            "vpclmulqdq zmm16, zmm22, zmm29, 0x10\n",
            "vpclmulqdq zmm17, zmm22, zmm30, 0x11\n",
            $high
        ))
    };
}

/// The sum of all lanes in the first, zeros in the others.
macro_rules! sum_lanes {
    ($of:literal) => {
        concat!(
            concat!("vextracti64x4 ymm16, zmm", $of, ", 1\n"),
            concat!("vpxorq ymm16, ymm16, ymm", $of, "\n"),
            "vextracti64x2 xmm17, ymm16, 1\n",
            concat!("vpxorq xmm", $of, ", xmm16, xmm17\n"),
        )
    };
}

/// One round, and between it a sum brought back to 128 bits.
macro_rules! reduce {
    ($round:literal, $low:literal, $high:literal) => {
        round!(
            $round,
            (
                "",
                concat!("vpclmulqdq zmm16, zmm", $low, ", zmm28, 0x00\n"),
                concat!("vpshufd zmm", $low, ", zmm", $low, ", 0x4e\n"),
                "",
                concat!("vpternlogq zmm", $high, ", zmm16, zmm", $low, ", 0x96\n"),
                "",
                sum_lanes!($high)
            )
        )
    };
}

/// The rounds but for the last, and between them the hash of so many rows, which comes into `more`.
macro_rules! rounds {
    (0) => {
        concat!(
            round!(1), round!(2), round!(3), round!(4), round!(5), round!(6), round!(7), round!(8), round!(9),
        )
    };
    (2) => {
        concat!(
            product!(1, begin "zmm8", "last" 0),
            product!(2, first "zmm9", "last" 1),
            round!(3),
            reduce!(4, 20, 18),
            round!(5), round!(6), round!(7), round!(8), round!(9),
            "vmovdqa64 zmm19, zmm18\n",
        )
    };
    (4) => {
        concat!(
            product!(1, begin "zmm8", "last" 0),
            product!(2, first "zmm9", "last" 1),
            product!(3, first "zmm10", "last" 2),
            product!(4, first "zmm11", "last" 3),
            round!(5),
            reduce!(6, 20, 18),
            round!(7), round!(8), round!(9),
            "vmovdqa64 zmm19, zmm18\n",
        )
    };
    (6) => {
        concat!(
            product!(1, begin "zmm8", "first" 0),
            product!(2, first "zmm9", "first" 1),
            product!(3, first "zmm10", "first" 2),
            product!(4, first "zmm11", "first" 3),
            product!(5, second_begin "zmm13", "last" 1),
            reduce!(6, 20, 18),
            product!(7, second_end "zmm12", "last" 0),
            round!(8),
            reduce!(9, 21, 19),
        )
    };
    (8) => {
        concat!(
            product!(1, begin "zmm8", "first" 0),
            product!(2, first "zmm9", "first" 1),
            product!(3, first "zmm10", "first" 2),
            product!(4, first "zmm11", "first" 3),
            product!(5, second_begin "zmm13", "last" 1),
            "vpclmulqdq zmm16, zmm20, zmm28, 0x00\n",
            "vpshufd zmm20, zmm20, 0x4e\n",
            "vpternlogq zmm18, zmm16, zmm20, 0x96\n",
            sum_lanes!(18),
            product!(6, second "zmm14", "last" 2),
            product!(7, second "zmm15", "last" 3),
            product!(8, second_end "zmm12", "last" 0),
            reduce!(9, 21, 19),
        )
    };
}

/// The last round of one state with its text, of which the ciphertext comes into a row.
macro_rules! last {
    ($state:literal, $row:literal, $at:literal) => {
        concat!(
            ".if {seals}\n",
            concat!("vpxorq zmm16, zmm23, [{from} + ", $at, "]\n"),
            concat!("vaesenclast ", $row, ", ", $state, ", zmm16\n"),
            concat!("vmovdqu64 [{to} + ", $at, "], ", $row, "\n"),
            ".else\n",
            concat!("vmovdqu64 ", $row, ", [{from} + ", $at, "]\n"),
            concat!("vpxorq zmm16, zmm23, ", $row, "\n"),
            concat!("vaesenclast ", $state, ", ", $state, ", zmm16\n"),
            concat!("vmovdqu64 [{to} + ", $at, "], ", $state, "\n"),
            ".endif\n",
        )
    };
}

/// A state: a counter block with the first round key added.
macro_rules! counter {
    ($state:literal, $place:literal) => {
        concat!(
            ".if {registers} > ",
            $place,
            "\n",
            "vpxorq ",
            $state,
            ", zmm26, [{counters} + 64 * ",
            $place,
            "]\n",
            ".endif\n",
        )
    };
}

/// The inputs of a piece besides texts.
#[derive(Clone, Copy)]
pub(super) struct Woven {
    pub(super) keys: RoundKeys,
    pub(super) weights: Weights,
    pub(super) constants: Constants,
    /// The hash before the rows, in the first lane.
    pub(super) hash: Z,
}

/// Writes a function that works `N` registers of a message, and takes rows into the hash, which is given back in the first lane.
///
/// With `FINISHES` they are a step of text: the last round is worked with it, and its ciphertext comes into `rows`. Else states
/// are left before their last round.
macro_rules! piece {
    ($(#[$attribute:meta])* $name:ident, $after:tt, $has_masks:literal) => {
        wide_fn! {
            $(#[$attribute])*
            ///
            /// # Safety
            /// Keys and powers are there, and so many counters; with `FINISHES` a step of text.
            #[inline]
            pub(super) unsafe fn $name<const N: usize, const FINISHES: bool, const SEALS: bool, const IN_LANES: bool>(
                Woven { keys, weights, constants, hash }: Woven,
                rows: &mut [Z; 8],
                masks: &mut Z,
                Place { base, counters, from, to }: Place,
                states: &mut [Z; 8],
            ) -> Z {
                // Unspecified without rows, as are states from `N` on.
                let after;
                // SAFETY: the caller promises all that is read and written.
                unsafe {
                    asm!(
                        "/* not all need {first} {last} {from} {to} {folded_before} */",
                        counter!("zmm0", 0), counter!("zmm1", 1), counter!("zmm2", 2), counter!("zmm3", 3),
                        counter!("zmm4", 4), counter!("zmm5", 5), counter!("zmm6", 6), counter!("zmm7", 7),
                        rounds!($after),
                        // The length of a key is no secret.
                        "cmp {rounds}, 12",
                        "jb 2f",
                        round!(10),
                        round!(11),
                        "je 2f",
                        round!(12),
                        round!(13),
                        "2:",
                        ".if {finishes} + {has_masks}",
                        "shl {rounds}, {shift}",
                        ".if {in_lanes}\nvmovdqa64 zmm23, [{keys} + {rounds}]",
                        ".else\nvbroadcasti32x4 zmm23, [{keys} + {rounds}]\n.endif",
                        ".endif",
                        ".if {has_masks}\nvaesenclast ymm24, ymm24, ymm23\n.endif",
                        ".if {finishes}",
                        last!("zmm0", "zmm8", 0), last!("zmm1", "zmm9", 64),
                        last!("zmm2", "zmm10", 128), last!("zmm3", "zmm11", 192),
                        last!("zmm4", "zmm12", 256), last!("zmm5", "zmm13", 320),
                        last!("zmm6", "zmm14", 384), last!("zmm7", "zmm15", 448),
                        ".endif",
                        registers = const N,
                        folded_before = const Expanded::FOLDED_BEFORE,
                        finishes = const FINISHES as u8,
                        seals = const SEALS as u8,
                        in_lanes = const IN_LANES as u8,
                        has_masks = const $has_masks as u8,
                        shift = const if IN_LANES { 6 } else { 4 },
                        keys = in(reg) keys.first,
                        rounds = inout(reg) keys.rounds => _,
                        first = in(reg) weights.first,
                        last = in(reg) weights.last,
                        counters = in(reg) counters,
                        from = in(reg) from,
                        to = in(reg) to,
                        out("zmm0") states[0],
                        out("zmm1") states[1],
                        out("zmm2") states[2],
                        out("zmm3") states[3],
                        out("zmm4") states[4],
                        out("zmm5") states[5],
                        out("zmm6") states[6],
                        out("zmm7") states[7],
                        inout("zmm8") rows[0],
                        inout("zmm9") rows[1],
                        inout("zmm10") rows[2],
                        inout("zmm11") rows[3],
                        inout("zmm12") rows[4],
                        inout("zmm13") rows[5],
                        inout("zmm14") rows[6],
                        inout("zmm15") rows[7],
                        out("zmm16") _,
                        out("zmm17") _,
                        out("zmm18") _,
                        out("zmm19") after,
                        out("zmm20") _,
                        out("zmm21") _,
                        out("zmm22") _,
                        out("zmm23") _,
                        inout("zmm24") *masks,
                        in("zmm25") hash,
                        in("zmm26") base,
                        in("zmm27") constants.order,
                        in("zmm28") constants.modulus,
                        out("zmm29") _,
                        out("zmm30") _,
                        options(nostack),
                    );
                }
                after
            }
        }
    };
}

piece!(
    /// The first registers of a message, beside which `masks` are encrypted, two blocks after the first round key; the first message
    /// has no rows before it.
    after_0, 0, true
);
piece!(
    /// The same after two rows of the message before.
    after_2, 2, true
);
piece!(
    /// The same after four.
    after_4, 4, true
);
piece!(
    /// The same after six.
    after_6, 6, true
);
piece!(
    /// The same after eight.
    after_8, 8, true
);
piece!(
    /// A later step or the end of the same message; the rows are the step before. Nothing is done with `masks`.
    within, 8, false
);
