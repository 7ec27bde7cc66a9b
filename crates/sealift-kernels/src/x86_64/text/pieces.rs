//! Steps in one piece of assembly each, for registers of two blocks of which there are sixteen.
//!
//! The compiler has too few of them for eight states, a product and what it likes to hold besides: it puts a fifth of
//! a step's instructions into moves to the stack and back. Here only ciphertext is put there and read again.

use core::arch::{asm, x86_64::*};

use super::{
    STEP,
    span::Span,
    steps::{Steps, fetch},
};
use crate::{
    schedule::POWERS,
    x86_64::{cpu::HaveVaes256, isa::Isa},
};

/// One round of all states.
macro_rules! round {
    ($number:literal) => {
        round!($number, "", "", "", "", "", "", "", "")
    };
    ($number:literal, $($between:expr),+) => {
        concat!(
            "vbroadcasti128 {k}, [{keys} + 16 * ", $number, "]\n",
            round!(@ (a b c d e f g h) ($($between),+))
        )
    };
    (@ ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident)
       ($p:expr, $q:expr, $r:expr, $s:expr, $t:expr, $u:expr, $v:expr, $w:expr)) => {
        concat!(
            round!(@@ $a), $p, round!(@@ $b), $q, round!(@@ $c), $r, round!(@@ $d), $s,
            round!(@@ $e), $t, round!(@@ $f), $u, round!(@@ $g), $v, round!(@@ $h), $w,
        )
    };
    (@@ $state:ident) => {
        concat!("vaesenc {", stringify!($state), "}, {", stringify!($state), "}, {k}\n")
    };
}

/// One round, and between it the product of one register of ciphertext, by three multiplications.
macro_rules! product {
    ($seal:tt, 1) => {
        round!(
            1,
            product!(@ $seal, 0),
            "vpshufb {y}, {y}, {order}\n",
            "vpxor {y}, {y}, {high}\n",
            "vpclmulqdq {low}, {y}, [{powers}], 0x00\n",
            "vpclmulqdq {high}, {y}, [{powers}], 0x11\n",
            "vpshufd {t}, {y}, 0x4e\n",
            "vpxor {t}, {t}, {y}\n",
            "vpclmulqdq {middle}, {t}, [{powers} + 32], 0x00\n"
        )
    };
    ($seal:tt, $number:literal, $at:literal) => {
        round!(
            $number,
            product!(@ $seal, $at),
            "vpshufb {y}, {y}, {order}\n",
            concat!("vpclmulqdq {t}, {y}, [{powers} + 2 * ", $at, "], 0x00\nvpxor {low}, {low}, {t}\n"),
            concat!("vpclmulqdq {t}, {y}, [{powers} + 2 * ", $at, "], 0x11\nvpxor {high}, {high}, {t}\n"),
            "vpshufd {t}, {y}, 0x4e\n",
            "vpxor {t}, {t}, {y}\n",
            concat!("vpclmulqdq {t}, {t}, [{powers} + 2 * ", $at, " + 32], 0x00\n"),
            "vpxor {middle}, {middle}, {t}\n"
        )
    };
    // What is hashed of a seal waits; of an open it is its text, which is read once.
    (@ true, $at:literal) => { concat!("vmovdqa {y}, [{hashed} + ", $at, "]\n") };
    (@ false, $at:literal) => {
        concat!("vmovdqu {y}, [{from} + ", $at, "]\nvmovdqa [{hashed} + ", $at, "], {y}\n")
    };
}

/// The last round of one state.
macro_rules! last {
    ($seal:tt, $state:literal, $at:literal) => {
        concat!(
            last!(@ $seal, $at),
            "vaesenclast {", $state, "}, {", $state, "}, {t}\n",
            "vmovdqu [{to} + ", $at, "], {", $state, "}\n",
            last!(@@ $seal, $state, $at),
        )
    };
    (@ true, $at:literal) => { concat!("vpxor {t}, {k}, [{from} + ", $at, "]\n") };
    (@ false, $at:literal) => { concat!("vpxor {t}, {k}, [{hashed} + ", $at, "]\n") };
    (@@ true, $state:literal, $at:literal) => {
        concat!("vmovdqa [{hashed} + ", $at, "], {", $state, "}\n")
    };
    (@@ false, $state:literal, $at:literal) => { "" };
}

/// A step, of a seal or an open.
macro_rules! step {
    ($seal:tt, $keys:ident, $powers:ident, $states:ident, $hash:ident, $hashed:ident, $text:ident, $order:ident) => {{
        let [a, b, c, d, e, f, g, h] = $states;
        let hash_after;
        // SAFETY: the caller promises the text, and there are as many round keys, powers and places as are read and written,
        // at addresses that are a multiple of 32 where that is asked for: of registers.
        unsafe {
            asm!(
                product!($seal, 1),
                product!($seal, 2, 32),
                product!($seal, 3, 64),
                product!($seal, 4, 96),
                product!($seal, 5, 128),
                product!($seal, 6, 160),
                product!($seal, 7, 192),
                product!($seal, 8, 224),
                round!(
                    9,
                    "vpxor {middle}, {middle}, {low}\n",
                    "vpclmulqdq {t}, {low}, [{modulus}], 0x00\n",
                    "vpshufd {low}, {low}, 0x4e\n",
                    "vpxor {middle}, {middle}, {high}\nvpxor {middle}, {middle}, {low}\n",
                    "vpxor {middle}, {middle}, {t}\n",
                    "vpclmulqdq {t}, {middle}, [{modulus}], 0x00\n",
                    "vpshufd {middle}, {middle}, 0x4e\n",
                    "vpxor {high}, {high}, {middle}\nvpxor {high}, {high}, {t}\n"
                ),
                // The length of a key is no secret.
                "cmp {rounds}, 12",
                "jb 2f",
                round!(10),
                round!(11),
                "je 2f",
                round!(12),
                round!(13),
                "2:",
                "shl {rounds}, 4",
                "vbroadcasti128 {k}, [{keys} + {rounds}]",
                last!($seal, "a", 0),
                last!($seal, "b", 32),
                last!($seal, "c", 64),
                last!($seal, "d", 96),
                last!($seal, "e", 128),
                last!($seal, "f", 160),
                last!($seal, "g", 192),
                last!($seal, "h", 224),
                keys = in(reg) $keys.as_ptr(),
                rounds = inout(reg) $keys.len() - 1 => _,
                powers = in(reg) $powers.as_ptr(),
                hashed = in(reg) $hashed.as_mut_ptr(),
                from = in(reg) $text.from(),
                to = in(reg) $text.to(),
                modulus = in(reg) &MODULUS,
                order = in(ymm_reg) $order,
                a = inout(ymm_reg) a => _,
                b = inout(ymm_reg) b => _,
                c = inout(ymm_reg) c => _,
                d = inout(ymm_reg) d => _,
                e = inout(ymm_reg) e => _,
                f = inout(ymm_reg) f => _,
                g = inout(ymm_reg) g => _,
                h = inout(ymm_reg) h => _,
                high = inout(ymm_reg) $hash => hash_after,
                low = out(ymm_reg) _,
                middle = out(ymm_reg) _,
                y = out(ymm_reg) _,
                t = out(ymm_reg) _,
                k = out(ymm_reg) _,
                options(nostack),
            );
        }
        hash_after
    }};
}

/// Works all steps of a text but the last: see [`Isa::pieces`].
///
/// # Safety
/// The text is readable and writable for its length.
// Not a part of what calls it, where shorter texts would have fewer registers.
#[inline(never)]
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
pub(in crate::x86_64) unsafe fn pieces<const SEAL: bool>(
    steps: &mut Steps<'_, HaveVaes256>,
    hashed: &mut [__m256i; STEP],
    text: &mut Span,
) {
    const BYTES: usize = STEP * HaveVaes256::BYTES;
    const { assert!(POWERS == HaveVaes256::LANES * STEP) };
    let (isa, schedule) = (steps.isa, steps.schedule);
    let powers = core::array::from_fn(|i| {
        let h = isa.broadcast(&schedule.powers[POWERS - HaveVaes256::LANES * (STEP - i)]);
        [h, isa.xor(h, isa.swap(h))]
    });
    while text.len() > BYTES {
        fetch(isa, text, BYTES);
        let (keys, states) = (schedule.round_keys(), steps.begin());
        // SAFETY: more than a step of text is left, and every schedule has 11, 13 or 15 round keys.
        steps.hash = unsafe { piece::<SEAL>(keys, &powers, states, steps.hash, hashed, text) };
        text.advance(BYTES);
    }
}

/// Works a step in one piece, and returns what is hashed by then, in lanes.
///
/// Of `powers` there is for each register the one that it is multiplied with, and the sum of its halves, in all lanes.
/// `states` are counter blocks with the first round key added. What is hashed of a seal is `hashed`, the ciphertext of
/// the step before, at whose place this one's comes; of an open it is its text, which waits there.
///
/// # Safety
/// The text is readable and writable for a step; there are 11, 13 or 15 round keys.
#[inline]
#[target_feature(enable = "avx,avx2,vaes,vpclmulqdq")]
unsafe fn piece<const SEAL: bool>(
    keys: &[u128],
    powers: &[[__m256i; 2]; STEP],
    states: [__m256i; STEP],
    hash: __m256i,
    hashed: &mut [__m256i; STEP],
    text: &Span,
) -> __m256i {
    let order = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let order = _mm256_broadcastsi128_si256(order);
    if SEAL {
        step!(true, keys, powers, states, hash, hashed, text, order)
    } else {
        step!(false, keys, powers, states, hash, hashed, text, order)
    }
}

/// As the multiplication of a half of each block needs it.
static MODULUS: [u64; 4] = [0xc2 << 56, 0, 0xc2 << 56, 0];
