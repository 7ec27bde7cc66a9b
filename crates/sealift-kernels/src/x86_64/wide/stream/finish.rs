//! The tags of four messages at a time, one in each lane.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell};

use sealift_core::{Op, Status};

use super::super::{
    item::{Class, Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{
    keys::{KeyPlace, encrypted, encrypted_one},
    step::{FOLDED, Slot},
    weave::product,
};
use crate::{verdict::public, x86_64::part};

/// What is kept of four messages until their tags are worked out.
#[repr(C, align(64))]
pub(super) struct Group {
    /// Of text and aad, in bits: the last block that is hashed, reversed as all are.
    lengths: [Cell<[u64; 2]>; 4],
    /// The first counter blocks.
    counters: [Cell<[u64; 2]>; 4],
    places: [Cell<KeyPlace>; 4],
}

impl Group {
    /// Of no messages; `some_key` is any key.
    #[inline(always)]
    pub(super) fn new(some_key: KeyPlace) -> Group {
        let blocks = || [const { Cell::new([0; 2]) }; 4];
        let places =
            [Cell::new(some_key), Cell::new(some_key), Cell::new(some_key), Cell::new(some_key)];
        Group { lengths: blocks(), counters: blocks(), places }
    }

    wide_fn! {
        /// Takes note of a message, which is number `index` of the four.
        #[inline]
        pub(super) fn set(&self, index: usize, nonce: __m128i, item: &Item) {
            let counter = _mm_insert_epi32::<3>(nonce, 1 << 24);
            // SAFETY: a cell of 16 bytes.
            unsafe { _mm_storeu_si128(self.counters[index & 3].as_ptr().cast(), counter) };
            self.lengths[index & 3]
                .set([8 * u64::from(item.text_bytes), 8 * u64::from(item.aad_bytes)]);
        }
    }

    /// Takes note of the key of a message.
    #[inline(always)]
    pub(super) fn set_key(&self, index: usize, place: KeyPlace) {
        self.places[index & 3].set(place);
    }

    wide_fn! {
        /// Works out the tags of up to four messages and writes or compares them. A message that
        /// fails leaves zeros.
        ///
        /// # Safety
        /// They are hashed, and what was noted is theirs. The items' addresses are what they say.
        /// `keys` are their round keys in lanes, or their places have these one behind the other.
        #[inline(never)]
        pub(super) unsafe fn finish<const ROUNDS: usize>(
            &self,
            class: &Class,
            items: &[Item],
            slots: &[Slot; 4],
            keys: Option<*const Z>,
        ) {
            // SAFETY: four cells of 16 bytes.
            let lengths = unsafe { zmm::load(self.lengths.as_ptr().cast()) };
            // SAFETY: as above.
            let counters = unsafe { zmm::load(self.counters.as_ptr().cast()) };
            let [a, b, c, d] = slots;
            let [a, b, c, d] =
                zmm::transpose([a.hash.get(), b.hash.get(), c.hash.get(), d.hash.get()]);
            let y = zmm::xor(zmm::xor3(a, b, c), zmm::xor(d, lengths));
            let hash = if class.keys == KeyForm::One {
                // SAFETY: the place is that of the key.
                unsafe { times_one(y, self.places[0].get()) }
            } else {
                // SAFETY: the keys of these messages, or of some message.
                unsafe { self.times_each(y) }
            };
            let masks = match keys {
                // SAFETY: the caller promises round keys in lanes.
                Some(keys) => unsafe { encrypted::<ROUNDS>(keys, counters) },
                // SAFETY: the caller promises round keys at the places.
                None => unsafe { self.masks::<ROUNDS>() },
            };
            let tags = zmm::xor(hash, masks);
            // SAFETY: the caller keeps the same promise.
            unsafe { conclude(class, items, tags) };
        }
    }

    wide_fn! {
        /// Each lane times the hash key of its message, with its bytes in the order of tags.
        ///
        /// # Safety
        /// The places are those of keys.
        #[inline]
        unsafe fn times_each(&self, y: Z) -> Z {
            let [a, b, c, d] = &self.places;
            let (a, b) = (a.get().hash_key(), b.get().hash_key());
            let (c, d) = (c.get().hash_key(), d.get().hash_key());
            // SAFETY: the caller promises keys.
            let h = unsafe { load_four([a, b, c, d]) };
            let (a, b) = (a.wrapping_add(FOLDED), b.wrapping_add(FOLDED));
            let (c, d) = (c.wrapping_add(FOLDED), d.wrapping_add(FOLDED));
            // SAFETY: as above.
            let folded = unsafe { load_four([a, b, c, d]) };
            let (low, high) = product(y, h, folded);
            zmm::reverse(zmm::xor(high, zmm::fold(low)))
        }
    }

    wide_fn! {
        /// The encrypted first counters.
        ///
        /// # Safety
        /// The places have round keys one behind the other.
        #[inline]
        unsafe fn masks<const ROUNDS: usize>(&self) -> Z {
            let [a, b, c, d] = &self.places;
            let (a, b) = (a.get().round_keys, b.get().round_keys);
            let (c, d) = (c.get().round_keys, d.get().round_keys);
            let [w, x, y, z] = &self.counters;
            // SAFETY: a cell of 16 bytes, and round keys.
            let w = unsafe { encrypted_one::<ROUNDS>(a, w.as_ptr().cast()) };
            // SAFETY: as above.
            let x = unsafe { encrypted_one::<ROUNDS>(b, x.as_ptr().cast()) };
            // SAFETY: as above.
            let y = unsafe { encrypted_one::<ROUNDS>(c, y.as_ptr().cast()) };
            // SAFETY: as above.
            let z = unsafe { encrypted_one::<ROUNDS>(d, z.as_ptr().cast()) };
            join([w, x, y, z])
        }
    }
}

wide_fn! {
    /// Each lane times the hash key, with its bytes in the order of tags.
    ///
    /// # Safety
    /// The place is that of a key.
    #[inline]
    unsafe fn times_one(y: Z, place: KeyPlace) -> Z {
        // SAFETY: the caller promises a key.
        let h = unsafe { zmm::broadcast(place.hash_key()) };
        // SAFETY: as above.
        let folded = unsafe { zmm::broadcast(place.hash_key().wrapping_add(FOLDED)) };
        let (low, high) = product(y, h, folded);
        zmm::reverse(zmm::xor(high, zmm::fold(low)))
    }
}

wide_fn! {
    /// Writes or compares the tags of up to four messages; one that fails leaves zeros.
    ///
    /// # Safety
    /// The items' addresses are what they say.
    #[inline]
    unsafe fn conclude(class: &Class, items: &[Item], tags: Z) {
        let ([a, b, c, d], 16) = (items, class.tag_bytes) else {
            // SAFETY: the caller keeps the same promise.
            return unsafe { conclude_each(class, items, tags) };
        };
        if class.op == Op::Seal {
            // SAFETY: the tags are writable for 16 bytes.
            return unsafe { store_four([a.tag, b.tag, c.tag, d.tag], tags) };
        }
        let (a, b) = (a.tag.cast_const(), b.tag.cast_const());
        let (c, d) = (c.tag.cast_const(), d.tag.cast_const());
        // SAFETY: the tags are readable for 16 bytes.
        let expected = unsafe { load_four([a, b, c, d]) };
        if !public(_mm512_cmpneq_epi64_mask(tags, expected) == 0) {
            // SAFETY: the caller keeps the same promise.
            unsafe { conclude_each(class, items, tags) };
        }
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    #[inline(never)]
    unsafe fn conclude_each(class: &Class, items: &[Item], tags: Z) {
        let mut each = [0_u128; 4];
        // SAFETY: 64 writable bytes.
        unsafe { zmm::store(each.as_mut_ptr().cast(), tags) };
        for (item, tag) in items.iter().zip(each) {
            // SAFETY: the caller keeps the same promise.
            unsafe { conclude_one(class, item, tag) };
        }
        zeroize::Zeroize::zeroize(&mut each);
    }
}

/// # Safety
/// The item's addresses are what they say.
#[inline(always)]
unsafe fn conclude_one(class: &Class, item: &Item, tag: u128) {
    if class.op == Op::Seal {
        // SAFETY: the tag is writable.
        return unsafe { part::store(item.tag, tag, class.tag_bytes) };
    }
    // SAFETY: the tag is readable.
    let expected = unsafe { part::load(item.tag, class.tag_bytes) };
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
    unsafe fn load_four([a, b, c, d]: [*const u8; 4]) -> Z {
        // SAFETY: the caller promises 16 bytes there.
        let a = unsafe { _mm_loadu_si128(a.cast()) };
        // SAFETY: as above.
        let b = unsafe { _mm_loadu_si128(b.cast()) };
        // SAFETY: as above.
        let c = unsafe { _mm_loadu_si128(c.cast()) };
        // SAFETY: as above.
        let d = unsafe { _mm_loadu_si128(d.cast()) };
        join([a, b, c, d])
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
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(b.cast(), second) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(c.cast(), third) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(d.cast(), fourth) };
    }
}
