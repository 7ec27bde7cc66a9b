//! The tags of four messages at a time, one in each lane.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, array};

use sealift_core::{Op, Status};

use super::super::{
    item::{Class, Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{
    flow::Call,
    keys::{Form, KeyPlace},
    scratch::Slot,
};
use crate::{
    schedule::Expanded,
    verdict::public,
    x86_64::{
        aesni::{load_block, to_u128},
        part,
    },
};

/// Four messages that are hashed but for their lengths.
struct Four<'s> {
    items: [&'s Item; 4],
    slots: &'s [Slot; 4],
    /// Their keys.
    places: [KeyPlace; 4],
    /// Their round keys in lanes, unless each has an expanded one of its own.
    lanes: *const Z,
    rounds: usize,
}

impl<'s> Four<'s> {
    /// Those of a call from message number `start` on, a multiple of four; what is missing at the end
    /// is made up for with the last one.
    #[inline(always)]
    fn new<F: Form>(call: &Call<'s>, start: usize, items: [&'s Item; 4]) -> Four<'s> {
        let slots = call.scratch.four(start);
        Four {
            items,
            slots,
            places: array::from_fn(|i| call.keys.place::<F>(items[i], &slots[i])),
            lanes: call.keys.lanes::<F>(start),
            rounds: call.class.rounds,
        }
    }
}

wide_fn! {
    /// Works out the tags of four messages, from number `start` on, and writes or compares them. A
    /// message that fails leaves zeros.
    ///
    /// # Safety
    /// They are hashed. The items' addresses are what they say, and so are the keys.
    #[inline]
    pub(super) unsafe fn finish<F: Form, const OP: u8>(call: &Call<'_>, start: usize) {
        let class = call.class;
        let Some(items) = call.items.get(start..start + 4) else { return };
        let four = &Four::new::<F>(call, start, array::from_fn(|i| &items[i]));
        // SAFETY: the caller keeps the same promise.
        let tags = unsafe { tags::<F>(four) };
        if class.tag_bytes != 16 {
            // SAFETY: the caller promises that the items' addresses are what they say.
            return unsafe { conclude_each(class, four.items, 4, tags) };
        }
        let [a, b, c, d] = four.items.map(|item| item.tag);
        if OP == Op::Seal as u8 {
            // SAFETY: the tags are writable for 16 bytes.
            return unsafe { store_four([a, b, c, d], tags) };
        }
        // SAFETY: the tags are readable for 16 bytes.
        let expected = unsafe { load_four([a, b, c, d].map(<*mut u8>::cast_const)) };
        if !public(_mm512_cmpneq_epi64_mask(tags, expected) == 0) {
            // SAFETY: the caller keeps the same promise.
            unsafe { conclude_each(class, four.items, 4, tags) };
        }
    }
}

wide_fn! {
    /// The same for the messages that are left.
    ///
    /// # Safety
    /// As for [`finish`].
    #[inline(never)]
    pub(super) unsafe fn finish_rest<F: Form>(call: &Call<'_>, start: usize) {
        for start in (start..call.items.len()).step_by(4) {
            let items = &call.items[start..];
            let last = &items[items.len() - 1];
            let four = Four::new::<F>(call, start, array::from_fn(|i| items.get(i).unwrap_or(last)));
            // SAFETY: the caller keeps the same promise.
            let tags = unsafe { tags::<F>(&four) };
            // SAFETY: the caller promises that the items' addresses are what they say.
            unsafe { conclude_each(call.class, four.items, items.len().min(4), tags) };
        }
    }
}

wide_fn! {
    /// The tags of four messages.
    ///
    /// # Safety
    /// As for [`finish`].
    #[inline]
    unsafe fn tags<F: Form>(four: &Four<'_>) -> Z {
        let [a, b, c, d] = four.slots;
        let masks = match F::KEYS {
            KeyForm::Each => join(four.slots.each_ref().map(|slot| slot.mask.get())),
            // SAFETY: the caller promises round keys in lanes.
            _ => unsafe { masks(four) },
        };
        let [a, b, c, d] = zmm::transpose([a.hash.get(), b.hash.get(), c.hash.get(), d.hash.get()]);
        let y = zmm::xor(zmm::xor3(a, b, c), zmm::xor(d, lengths(four.items)));
        // SAFETY: the caller promises keys.
        let (h, folded) = unsafe { hash_keys::<F>(four.places) };
        let (low, high) = zmm::multiply(y, h, folded);
        zmm::xor(zmm::reverse(zmm::xor(high, zmm::fold(low))), masks)
    }
}

wide_fn! {
    /// The hash keys of four messages in lanes, and the same folded.
    ///
    /// # Safety
    /// They are at the places.
    #[inline]
    unsafe fn hash_keys<F: Form>(places: [KeyPlace; 4]) -> (Z, Z) {
        let plain = places.map(|place| place.hash_key());
        let folded = plain.map(|key| key.wrapping_sub(Expanded::FOLDED_BEFORE));
        if matches!(F::KEYS, KeyForm::One) {
            // SAFETY: the caller promises a key.
            let h = unsafe { zmm::broadcast(plain[0]) };
            // SAFETY: the caller promises a key, before whose place is the same folded.
            return (h, unsafe { zmm::broadcast(folded[0]) });
        }
        // SAFETY: the caller promises keys.
        let h = unsafe { load_four(plain) };
        // SAFETY: the caller promises keys, before whose places are the same folded.
        (h, unsafe { load_four(folded) })
    }
}

wide_fn! {
    /// The length blocks of four messages, reversed as all blocks are.
    #[inline]
    fn lengths(items: [&Item; 4]) -> Z {
        let [a, b, c, d] = items.map(|item| {
            let (text, aad) = (u64::from(item.text_bytes), u64::from(item.aad_bytes));
            _mm_set_epi64x(aad.cast_signed(), text.cast_signed())
        });
        _mm512_slli_epi64::<3>(join([a, b, c, d]))
    }
}

wide_fn! {
    /// The encrypted first counters of four messages, of which the round keys are in lanes.
    ///
    /// # Safety
    /// They are.
    #[inline]
    unsafe fn masks(four: &Four<'_>) -> Z {
        let mut state = join(four.slots.each_ref().map(|slot| slot.first_counter()));
        // SAFETY: the caller promises as many keys as rounds and one.
        let key = |round: usize| unsafe { zmm::load(four.lanes.wrapping_add(round).cast()) };
        for round in 1..10 {
            state = _mm512_aesenc_epi128(state, key(round));
        }
        for round in 10..four.rounds {
            state = _mm512_aesenc_epi128(state, key(round));
        }
        _mm512_aesenclast_epi128(state, key(four.rounds))
    }
}

wide_fn! {
    /// Writes or compares tags one by one.
    ///
    /// # Safety
    /// The items' addresses are what they say.
    #[cold]
    #[inline(never)]
    unsafe fn conclude_each(class: &Class, items: [&Item; 4], messages: usize, tags: Z) {
        let mut each = [0_u128; 4];
        // SAFETY: 64 writable bytes.
        unsafe { zmm::store(each.as_mut_ptr().cast(), tags) };
        for (item, tag) in items.iter().zip(each).take(messages) {
            // SAFETY: the caller keeps the same promise, and this is compiled for AVX-512.
            unsafe { conclude_one(class, item, tag) };
        }
        zeroize::Zeroize::zeroize(&mut each);
    }
}

/// # Safety
/// The item's addresses are what they say, and the processor has AVX-512.
#[inline(always)]
unsafe fn conclude_one(class: &Class, item: &Item, tag: u128) {
    if class.op == Op::Seal {
        // SAFETY: the caller promises the instructions.
        let tag = unsafe { load_block(&tag) };
        // SAFETY: the caller promises the instructions and a tag to write.
        return unsafe { part::store(item.tag, tag, class.tag_bytes) };
    }
    // SAFETY: the caller promises the instructions and a tag to read.
    let expected = to_u128(unsafe { part::load(item.tag, class.tag_bytes) });
    let compared = u128::MAX >> (128 - 8 * class.tag_bytes);
    if public((tag ^ expected) & compared == 0) {
        return;
    }
    // SAFETY: the status is writable.
    unsafe { item.status.write(Status::AuthFailed) };
    if !item.output.is_null() {
        // SAFETY: the text is writable.
        unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
    }
}

wide_fn! {
    /// Four blocks in the lanes of a register.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    unsafe fn load_four(places: [*const u8; 4]) -> Z {
        // SAFETY: the caller promises 16 bytes there.
        join(places.map(|place| unsafe { _mm_loadu_si128(place.cast()) }))
    }
}

wide_fn! {
    #[inline]
    fn join([a, b, c, d]: [__m128i; 4]) -> Z {
        let (low, high) = (_mm256_set_m128i(b, a), _mm256_set_m128i(d, c));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

wide_fn! {
    /// Stores the lanes of a register, each to a place of its own.
    ///
    /// # Safety
    /// 16 bytes at each are writable.
    #[inline]
    unsafe fn store_four([a, b, c, d]: [*mut u8; 4], from: Z) {
        let (first, second) = (_mm512_castsi512_si128(from), _mm512_extracti32x4_epi32::<1>(from));
        let (third, fourth) =
            (_mm512_extracti32x4_epi32::<2>(from), _mm512_extracti32x4_epi32::<3>(from));
        // SAFETY: the caller promises 16 writable bytes.
        unsafe { _mm_storeu_si128(a.cast(), first) };
        // SAFETY: the caller promises 16 writable bytes at the second place, too.
        unsafe { _mm_storeu_si128(b.cast(), second) };
        // SAFETY: the caller promises 16 writable bytes at the third place, too.
        unsafe { _mm_storeu_si128(c.cast(), third) };
        // SAFETY: the caller promises 16 writable bytes at the fourth place, too.
        unsafe { _mm_storeu_si128(d.cast(), fourth) };
    }
}
