//! Steps in one piece of assembly each, for registers of two blocks of which there are sixteen.
//!
//! The compiler has too few of them for eight states, a product and what it likes to hold besides: it puts a fifth of
//! a step's instructions into moves to the stack and back. Here little but ciphertext is put there and read again.

use core::{
    arch::{asm, x86_64::*},
    ptr,
};

use super::{
    STEP,
    span::Span,
    steps::{Steps, fetch},
};
use crate::x86_64::{cpu::HaveVaes256, ghash::Power, isa::Isa};

/// One round of all states.
macro_rules! round {
    ($number:literal) => {
        round!($number, "", "", "", "", "", "", "", "")
    };
    ($number:literal, $($between:expr),+) => {
        concat!(
            "vbroadcasti128 {k}, [{keys} + 16 * ", $number, "]\n",
            round!(@ ("a" 0, "b" 1, "c" 2, "d" 3, "e" 4, "f" 5, "g" 6, "h" 7) ($($between),+))
        )
    };
    (@ ($($state:literal $place:literal),+) ($($between:expr),+)) => {
        concat!($(
            ".if {registers} > ", $place, "\n",
            "vaesenc {", $state, "}, {", $state, "}, {k}\n",
            ".endif\n",
            $between,
        )+)
    };
}

/// One round, and between it the product of one register of ciphertext, by three multiplications.
macro_rules! product {
    ($kind:ident, 1) => {
        round!(
            1,
            product!(@ $kind, 0),
            "vpshufb {y}, {y}, [{constants} + 32]\n",
            "vpxor {y}, {y}, {high}\n",
            "vpclmulqdq {low}, {y}, {power}, 0x00\n",
            "vpclmulqdq {high}, {y}, {power}, 0x11\n",
            "vpshufd {t}, {y}, 0x4e\n",
            "vpxor {t}, {t}, {y}\n",
            "vpclmulqdq {middle}, {t}, [{powers} + 32], 0x00\n"
        )
    };
    ($kind:ident, $number:literal, $at:literal) => {
        round!(
            $number,
            product!(@ $kind, $at),
            "vpshufb {y}, {y}, [{constants} + 32]\n",
            "vpclmulqdq {t}, {y}, {power}, 0x00\nvpxor {low}, {low}, {t}\n",
            "vpclmulqdq {t}, {y}, {power}, 0x11\nvpxor {high}, {high}, {t}\n",
            "vpshufd {t}, {y}, 0x4e\n",
            "vpxor {t}, {t}, {y}\n",
            concat!("vpclmulqdq {t}, {t}, [{powers} + 2 * ", $at, " + 32], 0x00\n"),
            "vpxor {middle}, {middle}, {t}\n"
        )
    };
    (@ $kind:ident, $at:literal) => {
        concat!(
            product!(@@ $kind, $at),
            "vmovdqa {power}, [{powers} + 2 * ", $at, "]\n",
        )
    };
    // What is hashed of an open is its text, which is read once; of others it waits.
    (@@ open, $at:literal) => {
        concat!("vmovdqu {y}, [{from} + ", $at, "]\nvmovdqa [{hashed} + ", $at, "], {y}\n")
    };
    (@@ $kind:ident, $at:literal) => { concat!("vmovdqa {y}, [{hashed} + ", $at, "]\n") };
}

/// One round, and between it the sum of products brought back to 128 bits.
macro_rules! reduced {
    ($number:literal) => {
        round!(
            $number,
            "vpxor {middle}, {middle}, {low}\n",
            "vpclmulqdq {t}, {low}, [{constants}], 0x00\n",
            "vpshufd {low}, {low}, 0x4e\n",
            "vpxor {middle}, {middle}, {high}\nvpxor {middle}, {middle}, {low}\n",
            "vpxor {middle}, {middle}, {t}\n",
            "vpclmulqdq {t}, {middle}, [{constants}], 0x00\n",
            "vpshufd {middle}, {middle}, 0x4e\n",
            "vpxor {high}, {high}, {middle}\nvpxor {high}, {high}, {t}\n"
        )
    };
}

/// The last round of one state.
macro_rules! last {
    ($kind:ident, $state:literal, $at:literal) => {
        concat!(
            ".if 32 * {registers} > ", $at, "\n",
            last!(@ $kind, $state, $at),
            ".endif\n",
        )
    };
    (@ seal, $state:literal, $at:literal) => {
        concat!(
            "vpxor {t}, {k}, [{from} + ", $at, "]\n",
            last!(@@ $state, "t"),
            "vmovdqu [{to} + ", $at, "], {", $state, "}\n",
            "vmovdqa [{hashed} + ", $at, "], {", $state, "}\n",
        )
    };
    (@ open_later, $state:literal, $at:literal) => {
        concat!(
            "vmovdqu {t}, [{from} + ", $at, "]\nvmovdqa [{hashed} + ", $at, "], {t}\n",
            "vpxor {t}, {t}, {k}\n",
            last!(@@ $state, "t"),
            "vmovdqu [{to} + ", $at, "], {", $state, "}\n",
        )
    };
    (@ open, $state:literal, $at:literal) => {
        concat!(
            "vpxor {t}, {k}, [{hashed} + ", $at, "]\n",
            last!(@@ $state, "t"),
            "vmovdqu [{to} + ", $at, "], {", $state, "}\n",
        )
    };
    (@ weave, $state:literal, $at:literal) => { "" };
    (@@ $state:literal, $key:literal) => {
        concat!("vaesenclast {", $state, "}, {", $state, "}, {", $key, "}\n")
    };
}

/// Writes a function that works registers in one piece, and takes a step of ciphertext into the hash, in lanes.
///
/// `states` are `N` registers of counter blocks with the first round key added, and others that nothing is done with. A seal and
/// an open add the text in the last round, which is not done in weaving. What is hashed of an open is its text, which
/// waits in `hashed`; of others it is `hashed`, the ciphertext of the step before, at whose place that of a seal comes, and of an
/// open to be hashed later, too.
///
/// # Safety
/// The text is readable and writable for `N` registers, but for weaving, and `hashed` readable, and but for weaving
/// writable; there are 11, 13 or 15 round keys.
macro_rules! piece {
    ($kind:ident) => {
        #[inline]
        #[target_feature(enable = "avx,avx2,vaes,vpclmulqdq")]
        unsafe fn $kind<const N: usize>(
            keys: &[u128],
            powers: &[Power<HaveVaes256>; STEP],
            states: &mut [__m256i; STEP],
            hash: &mut __m256i,
            hashed: *mut [__m256i; STEP],
            (from, to): (*const u8, *mut u8),
        ) {
            let [a, b, c, d, e, f, g, h] = states;
            // SAFETY: the caller promises the text, and there are as many round keys, powers and places as are read and written,
            // at addresses that are a multiple of 32 where that is asked for: of registers.
            unsafe {
                asm!(
                    "/* weaving takes no text: {from} {to} */",
                    product!($kind, 1),
                    product!($kind, 2, 32),
                    product!($kind, 3, 64),
                    product!($kind, 4, 96),
                    product!($kind, 5, 128),
                    product!($kind, 6, 160),
                    product!($kind, 7, 192),
                    product!($kind, 8, 224),
                    reduced!(9),
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
                    last!($kind, "a", 0),
                    last!($kind, "b", 32),
                    last!($kind, "c", 64),
                    last!($kind, "d", 96),
                    last!($kind, "e", 128),
                    last!($kind, "f", 160),
                    last!($kind, "g", 192),
                    last!($kind, "h", 224),
                    registers = const N,
                    keys = in(reg) keys.as_ptr(),
                    rounds = inout(reg) keys.len() - 1 => _,
                    powers = in(reg) powers.as_ptr(),
                    hashed = in(reg) hashed,
                    from = in(reg) from,
                    to = in(reg) to,
                    constants = in(reg) &CONSTANTS,
                    a = inout(ymm_reg) *a,
                    b = inout(ymm_reg) *b,
                    c = inout(ymm_reg) *c,
                    d = inout(ymm_reg) *d,
                    e = inout(ymm_reg) *e,
                    f = inout(ymm_reg) *f,
                    g = inout(ymm_reg) *g,
                    h = inout(ymm_reg) *h,
                    high = inout(ymm_reg) *hash,
                    low = out(ymm_reg) _,
                    middle = out(ymm_reg) _,
                    y = out(ymm_reg) _,
                    power = out(ymm_reg) _,
                    t = out(ymm_reg) _,
                    k = out(ymm_reg) _,
                    options(nostack),
                );
            }
        }
    };
}

piece!(seal);
piece!(open);
piece!(open_later);
piece!(weave);

/// Writes a function that works the first step of a text in one piece, and puts its ciphertext into `hashed`. With it `masks` are
/// encrypted, two blocks with the first round key added.
///
/// The last `AFTER` registers of `hashed` are taken into a hash before, each with a power of its own: they are the end of another
/// text, and its hash is given back, in lanes.
///
/// # Safety
/// The text is readable and writable for a step; there are 11, 13 or 15 round keys.
macro_rules! first {
    ($name:ident, $kind:ident) => {
        #[inline]
        #[target_feature(enable = "avx,avx2,vaes,vpclmulqdq")]
        unsafe fn $name<const AFTER: usize>(
            keys: &[u128],
            powers: &[Power<HaveVaes256>; STEP],
            states: [__m256i; STEP],
            masks: &mut __m256i,
            hashed: &mut [__m256i; STEP],
            text: &Span,
        ) -> __m256i {
            /// A round of all states and of the masks; of two the first one if more than so many registers are hashed.
            macro_rules! both {
                ($round:expr) => {
                    concat!($round, "vaesenc {masks}, {masks}, {k}\n")
                };
                ($least:literal, $more:expr, $round:expr) => {
                    concat!(
                        concat!(".if {after} > ", $least, "\n", both!($more)),
                        concat!(".else\n", both!($round), ".endif\n")
                    )
                };
            }
            let [a, b, c, d, e, f, g, h] = states;
            let hash;
            // SAFETY: the caller promises the text; there are as many round keys, powers and places as are read and written, at
            // addresses that are a multiple of 32 where that is asked for: of registers.
            unsafe {
                asm!(
                    "/* without a text before {powers} {constants} are not read */",
                    "vpxor {high}, {high}, {high}",
                    "vpxor {low}, {low}, {low}",
                    "vpxor {middle}, {middle}, {middle}",
                    both!(7, product!(seal, 1, 0), round!(1)),
                    both!(6, product!(seal, 2, 32), round!(2)),
                    both!(5, product!(seal, 3, 64), round!(3)),
                    both!(4, product!(seal, 4, 96), round!(4)),
                    both!(3, product!(seal, 5, 128), round!(5)),
                    both!(2, product!(seal, 6, 160), round!(6)),
                    both!(1, product!(seal, 7, 192), round!(7)),
                    both!(0, product!(seal, 8, 224), round!(8)),
                    both!(0, reduced!(9), round!(9)),
                    "cmp {rounds}, 12",
                    "jb 2f",
                    both!(round!(10)),
                    both!(round!(11)),
                    "je 2f",
                    both!(round!(12)),
                    both!(round!(13)),
                    "2:",
                    "shl {rounds}, 4",
                    "vbroadcasti128 {k}, [{keys} + {rounds}]",
                    "vaesenclast {masks}, {masks}, {k}",
                    last!($kind, "a", 0),
                    last!($kind, "b", 32),
                    last!($kind, "c", 64),
                    last!($kind, "d", 96),
                    last!($kind, "e", 128),
                    last!($kind, "f", 160),
                    last!($kind, "g", 192),
                    last!($kind, "h", 224),
                    after = const AFTER,
                    registers = const STEP,
                    keys = in(reg) keys.as_ptr(),
                    rounds = inout(reg) keys.len() - 1 => _,
                    powers = in(reg) powers.as_ptr(),
                    hashed = in(reg) hashed.as_mut_ptr(),
                    from = in(reg) text.from(),
                    to = in(reg) text.to(),
                    constants = in(reg) &CONSTANTS,
                    masks = inout(ymm_reg) *masks,
                    a = inout(ymm_reg) a => _,
                    b = inout(ymm_reg) b => _,
                    c = inout(ymm_reg) c => _,
                    d = inout(ymm_reg) d => _,
                    e = inout(ymm_reg) e => _,
                    f = inout(ymm_reg) f => _,
                    g = inout(ymm_reg) g => _,
                    h = inout(ymm_reg) h => _,
                    high = out(ymm_reg) hash,
                    low = out(ymm_reg) _,
                    middle = out(ymm_reg) _,
                    y = out(ymm_reg) _,
                    power = out(ymm_reg) _,
                    t = out(ymm_reg) _,
                    k = out(ymm_reg) _,
                    options(nostack),
                );
            }
            hash
        }
    };
}

first!(seal_first, seal);
first!(open_first, open_later);

/// Works the first step of a text in one piece: see [`first`].
///
/// # Safety
/// The text is readable and writable for its length, a step at least.
#[inline(always)]
pub(super) unsafe fn first_piece<const SEAL: bool, const AFTER: usize>(
    steps: &mut Steps<'_, HaveVaes256>,
    masks: &mut __m256i,
    text: &mut Span,
    hashed: &mut [__m256i; STEP],
    powers: &[Power<HaveVaes256>; STEP],
) -> __m256i {
    let (isa, keys) = (steps.isa, steps.schedule.round_keys());
    fetch(isa, text, BYTES);
    // IMPLEMENTATION NOTE: without the pins the compiler puts all of them down and loads them again.
    let states = steps.begin::<STEP>().map(|state| isa.pin(state));
    let hash = if SEAL {
        // SAFETY: the steps have proof of the instructions, the caller promises a step of text, and every schedule has
        // 11, 13 or 15 round keys.
        unsafe { seal_first::<AFTER>(keys, powers, states, masks, hashed, text) }
    } else {
        // SAFETY: the steps have proof of the instructions, the caller promises a step of text, and every schedule has
        // 11, 13 or 15 round keys.
        unsafe { open_first::<AFTER>(keys, powers, states, masks, hashed, text) }
    };
    text.advance(BYTES);
    hash
}

/// Works what follows the first step of a text, but its last step, in pieces, each hashed beside the next one: that of the last one
/// is left in `hashed`.
///
/// # Safety
/// The text is readable and writable for its length.
#[inline(always)]
pub(super) unsafe fn more_pieces<const SEAL: bool>(
    steps: &mut Steps<'_, HaveVaes256>,
    text: &mut Span,
    hashed: &mut [__m256i; STEP],
) {
    let (isa, keys, powers) = (steps.isa, steps.schedule.round_keys(), steps.known_powers());
    // The first step needs all registers, and what is put down for it would be loaded and put down again by each step.
    steps.hash = isa.pin(steps.hash);
    while text.len() > BYTES {
        fetch(isa, text, BYTES);
        let (mut states, place) = (steps.begin(), (text.from(), text.to()));
        if SEAL {
            // SAFETY: the steps have proof of the instructions, more than a step of text is left, and every schedule has 11, 13
            // or 15 round keys.
            unsafe { seal::<STEP>(keys, powers, &mut states, &mut steps.hash, hashed, place) };
        } else {
            // SAFETY: the steps have proof of the instructions, more than a step of text is left, and every schedule has 11, 13
            // or 15 round keys.
            unsafe {
                open_later::<STEP>(keys, powers, &mut states, &mut steps.hash, hashed, place)
            };
        }
        text.advance(BYTES);
    }
}

/// Seals all of a text but its last step in pieces: see [`Isa::seal_pieces`].
///
/// # Safety
/// The text is readable and writable for its length, more than a step.
#[inline]
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
pub(in crate::x86_64) unsafe fn seal_pieces(
    steps: &mut Steps<'_, HaveVaes256>,
    mask: &mut __m128i,
    text: &mut Span,
) -> [__m256i; STEP] {
    let (powers, mut hashed) = (steps.known_powers(), [steps.isa.broadcast(&0); STEP]);
    let mut masks = steps.isa.first_lane(*mask);
    // SAFETY: the caller promises the text.
    unsafe { first_piece::<true, 0>(steps, &mut masks, text, &mut hashed, powers) };
    *mask = _mm256_castsi256_si128(masks);
    // SAFETY: the caller promises the text.
    unsafe { more_pieces::<true>(steps, text, &mut hashed) };
    hashed
}

/// Works the rounds of `N` registers in a piece: see [`Isa::weave_piece`].
#[inline]
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
pub(in crate::x86_64) fn weave_piece<const N: usize>(
    steps: &mut Steps<'_, HaveVaes256>,
    hashed: &[__m256i; STEP],
) -> [__m256i; N] {
    let (keys, powers) = (steps.schedule.round_keys(), steps.known_powers());
    let mut states = [steps.isa.broadcast(&0); STEP];
    let counters = steps.begin::<N>();
    for (state, counter) in states.iter_mut().zip(counters) {
        *state = counter;
    }
    let (hashed, nowhere) = ((&raw const *hashed).cast_mut(), (ptr::null(), ptr::null_mut()));
    // SAFETY: it takes no text and writes nothing, and every schedule has 11, 13 or 15 round keys.
    unsafe { weave::<N>(keys, powers, &mut states, &mut steps.hash, hashed, nowhere) };
    core::array::from_fn(|i| states[i])
}

/// Opens all of a text but its last step in pieces: see [`Isa::open_pieces`].
///
/// # Safety
/// The text is readable and writable for its length.
#[inline]
#[target_feature(enable = "ssse3,sse4.1,aes,pclmulqdq,avx,avx2,vaes,vpclmulqdq")]
pub(in crate::x86_64) unsafe fn open_pieces(steps: &mut Steps<'_, HaveVaes256>, text: &mut Span) {
    let (isa, keys, powers) = (steps.isa, steps.schedule.round_keys(), steps.known_powers());
    let mut ciphertext = [isa.broadcast(&0); STEP];
    while text.len() > BYTES {
        fetch(isa, text, BYTES);
        let (mut states, place) = (steps.begin(), (text.from(), text.to()));
        // SAFETY: more than a step of text is left, and every schedule has 11, 13 or 15 round keys.
        unsafe { open::<STEP>(keys, powers, &mut states, &mut steps.hash, &mut ciphertext, place) };
        text.advance(BYTES);
    }
}

/// Bytes of a step.
pub(super) const BYTES: usize = STEP * HaveVaes256::BYTES;

/// In all lanes.
#[repr(C, align(32))]
struct Constants {
    /// As the multiplication of a half of each block needs it.
    _modulus: [u64; 4],
    /// In which order bytes are the opposite one.
    _order: [[u8; 16]; 2],
}

static CONSTANTS: Constants = Constants {
    _modulus: [0xc2 << 56, 0, 0xc2 << 56, 0],
    _order: [[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]; 2],
};
