//! GHASH of four messages.

use core::{arch::asm, arch::x86_64::*, mem::offset_of, ptr};

use super::super::{
    item::{Class, Item},
    zmm::{Z, load_part, reverse, wide_fn, xor, xor3},
};
use super::{
    place::{QUAD, Rows, quad},
    shared::{AAD as AAD_POWERS, Shared},
};

/// Products or their sums, `low + x^64 * high`; or a power and the same folded.
pub(super) type Halves = (Z, Z);

/// What each message of a call has of its own, next to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    Nothing,
    Lengths,
    Aads,
}

impl Own {
    /// What the items of a class don't have in common.
    #[inline]
    pub(super) fn of(class: &Class, items: &[Item]) -> Own {
        let Some(one) = items.first() else { return Own::Nothing };
        let same_aad = |item: &Item| (item.aad, item.aad_bytes) == (one.aad, one.aad_bytes);
        if class.aad_blocks > 0 && !items.iter().all(same_aad) {
            return Own::Aads;
        }
        let alike = items.iter().all(|item| item.text_bytes == one.text_bytes);
        if alike { Own::Nothing } else { Own::Lengths }
    }
}

wide_fn! {
    /// The hashes of a group's aads, ciphertexts and lengths.
    ///
    /// # Safety
    /// The items' aads are readable.
    #[inline(never)]
    pub(super) unsafe fn hash<const N: usize>(
        shared: &Shared,
        group: &[Item; N],
        rows: Rows,
    ) -> [Z; 2] {
        let [a, b, c, d, e, f, g, h] = rows;
        if N == QUAD {
            // SAFETY: the caller promises readable aads, and these four are all of the group.
            let hash = unsafe { hash_quad(shared, quad(group, 0), [a, c, e, g], Some([b, d, f, h])) };
            return [hash, hash];
        }
        // SAFETY: the caller promises readable aads, of which these are the first four.
        let first = unsafe { hash_quad(shared, quad(group, 0), [a, b, c, d], None) };
        // SAFETY: the caller promises readable aads, of which these are the second four.
        [first, unsafe { hash_quad(shared, quad(group, 1), [e, f, g, h], None) }]
    }
}

wide_fn! {
    /// # Safety
    /// The items' aads are readable.
    #[inline]
    unsafe fn hash_quad(
        shared: &Shared,
        four: &[Item; QUAD],
        firsts: [Z; QUAD],
        seconds: Option<[Z; QUAD]>,
    ) -> Z {
        let mut sums = add(shared.same(), products(firsts, shared.powers(0)));
        if let Some(seconds) = seconds {
            sums = add(sums, products(seconds, shared.powers(1)));
        }
        if shared.own == Own::Lengths {
            sums = add(sums, product(lengths(four), shared.last_power()));
        }
        if shared.own == Own::Aads {
            // SAFETY: the caller promises a readable aad of each of the four.
            let aads = four.each_ref().map(|item| unsafe { aad_and_lengths(item) });
            sums = add(sums, products(aads, shared.powers(AAD_POWERS)));
        }
        reduce(sums)
    }
}

wide_fn! {
    /// The length blocks of four messages.
    #[inline]
    pub(super) fn lengths(group: &[Item; QUAD]) -> Z {
        let [a, b, c, d] = group.each_ref().map(end_of);
        let ends = _mm512_castsi128_si512(a);
        let ends = _mm512_inserti64x2::<1>(ends, b);
        let ends = _mm512_inserti64x2::<2>(ends, c);
        let ends = _mm512_inserti64x2::<3>(ends, d);
        let order = _mm_setr_epi8(
            TEXT, TEXT + 1, TEXT + 2, TEXT + 3, -1, -1, -1, -1, AAD, AAD + 1, -1, -1, -1, -1, -1, -1,
        );
        let bytes = _mm512_shuffle_epi8(ends, _mm512_broadcast_i32x4(order));
        _mm512_slli_epi64::<3>(bytes)
    }
}

wide_fn! {
    /// The aad of a message, of at most three blocks.
    ///
    /// # Safety
    /// It is readable.
    #[inline]
    pub(super) unsafe fn aad(item: &Item) -> Z {
        // SAFETY: the caller promises a readable aad; of at most three blocks, it fits in a register.
        unsafe { load_part(item.aad, usize::from(item.aad_bytes)) }
    }
}

wide_fn! {
    /// The same, with the block of lengths in the last lane, which an aad never fills.
    ///
    /// # Safety
    /// As for [`aad`].
    #[inline]
    pub(super) unsafe fn aad_and_lengths(item: &Item) -> Z {
        // As numbers of 16 bits, which the lengths of so short messages fit into.
        let bits = _mm_slli_epi16::<3>(end_of(item));
        let order = _mm_setr_epi8(
            -1, -1, -1, -1, -1, -1, AAD + 1, AAD, -1, -1, -1, -1, -1, -1, TEXT + 1, TEXT,
        );
        // SAFETY: the caller promises that the item's aad is readable.
        _mm512_inserti64x2::<3>(unsafe { aad(item) }, _mm_shuffle_epi8(bits, order))
    }
}

wide_fn! {
    /// Times a power.
    #[inline]
    pub(super) fn product(y: Z, (power, folded): Halves) -> Halves {
        let low = _mm512_clmulepi64_epi128::<0x00>(y, folded);
        let high = _mm512_clmulepi64_epi128::<0x10>(y, folded);
        (
            xor(low, _mm512_clmulepi64_epi128::<0x01>(y, power)),
            xor(high, _mm512_clmulepi64_epi128::<0x11>(y, power)),
        )
    }
}

wide_fn! {
    /// The sums of the products of four messages' registers with a row of powers.
    #[inline]
    fn products(registers: [Z; QUAD], powers: Halves) -> Halves {
        let [a, b, c, d] = registers.map(|register| product(reverse(register), powers));
        sum_4(sum_2(a, c), sum_2(b, d))
    }
}

wide_fn! {
    /// Of two messages' sums over four lanes, sums over two: of the first, then of the second.
    #[inline]
    pub(super) fn sum_2(a: Halves, b: Halves) -> Halves {
        let half = mask(0xf0);
        let sum = |a, b| {
            let crossed = _mm512_shuffle_i64x2::<0x4e>(a, b);
            xor(_mm512_mask_blend_epi64(half, a, b), crossed)
        };
        (sum(a.0, b.0), sum(a.1, b.1))
    }
}

wide_fn! {
    /// Of the first and third message's sums, and the second and fourth's, one in each lane, in order.
    #[inline]
    pub(super) fn sum_4(ac: Halves, bd: Halves) -> Halves {
        let odd = mask(0xcc);
        let sum = |ac, bd| {
            let crossed = _mm512_mask_blend_epi64(odd, bd, ac);
            let crossed = _mm512_shuffle_i64x2::<0xb1>(crossed, crossed);
            xor(_mm512_mask_blend_epi64(odd, ac, bd), crossed)
        };
        (sum(ac.0, bd.0), sum(ac.1, bd.1))
    }
}

wide_fn! {
    #[inline]
    pub(super) fn add(a: Halves, b: Halves) -> Halves {
        (xor(a.0, b.0), xor(a.1, b.1))
    }
}

wide_fn! {
    /// Brings `low + x^64 * high` to 128 bits in each lane.
    #[inline]
    pub(super) fn reduce((low, high): Halves) -> Z {
        let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
        let folded = _mm512_clmulepi64_epi128::<0x00>(low, modulus);
        xor3(high, _mm512_shuffle_epi32::<0x4e>(low), folded)
    }
}

wide_fn! {
    /// A mask that the compiler doesn't know: it would make shuffles of blends, and there are fewer units
    /// for those.
    #[inline]
    pub(super) fn mask(bits: u8) -> u8 {
        let mask;
        // SAFETY: a move between registers.
        unsafe {
            asm!("kmovd {0}, {1:e}", out(kreg) mask, in(reg) u32::from(bits),
                options(pure, nomem, nostack, preserves_flags));
        }
        mask
    }
}

/// The last 16 bytes of an item, where its lengths are.
#[inline(always)]
fn end_of(item: &Item) -> __m128i {
    // SAFETY: within the item.
    unsafe { ptr::from_ref(item).wrapping_byte_add(END).cast::<__m128i>().read() }
}

const END: usize = size_of::<Item>() - 16;

/// Where in the last 16 bytes of an item the lengths are.
const TEXT: i8 = place_in_end(offset_of!(Item, text_bytes));
const AAD: i8 = place_in_end(offset_of!(Item, aad_bytes));

#[expect(clippy::cast_possible_truncation, reason = "less than 16")]
const fn place_in_end(offset: usize) -> i8 {
    assert!(END <= offset && offset < END + 16);
    (offset - END) as i8
}
