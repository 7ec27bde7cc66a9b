//! Messages in, quads out, and tags at the end.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, cell::Cell};

use sealift_core::{Op, Status};

use super::super::{
    item::{Ahead, Class, Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{
    aad,
    keys::{KeyPlace, Table},
    raw::{RawKey, encrypted},
    step::{FOLDED, QUAD_BYTES, Quad, Slot, Text, product},
};
use crate::{
    verdict::public,
    x86_64::{cpu::HaveVaes512, part},
};

/// What is kept of the messages that are being worked.
#[repr(C, align(64))]
pub(super) struct Scratch {
    slots: [Slot; SLOTS],
    groups: [Group; SLOTS / 4],
    idle: Slot,
}

/// Four messages, whose tags are worked out together.
#[repr(C, align(64))]
struct Group {
    /// Of text and aad, in bits: the last block that is hashed, reversed as all are.
    lengths: [Cell<[u64; 2]>; 4],
    /// The first counter blocks.
    counters: [Cell<u128>; 4],
    places: [Cell<KeyPlace>; 4],
}

/// Where keys are expanded to.
pub(super) struct Room<'s> {
    /// One for the same key, else eight.
    pub(super) tables: &'s [Table],
    /// None, or one for each message that is being worked.
    pub(super) raw: &'s [RawKey],
}

/// Cuts messages into quads.
pub(super) struct Flow<'a, 's> {
    token: HaveVaes512,
    class: &'a Class,
    items: &'a [Item],
    scratch: &'s Scratch,
    room: Room<'s>,
    /// Messages that were begun.
    begun: usize,
    /// Messages whose hash is complete.
    hashed: usize,
    /// Messages that have their tag.
    finished: usize,
    /// What is left of the message begun last.
    left: usize,
    input: *const u8,
    output: *mut u8,
    first: u32,
    place: KeyPlace,
}

/// Two quads, their ciphertext, and how many messages end with each.
pub(super) struct Pair<'s> {
    pub(super) quads: [Quad<'s>; 2],
    pub(super) texts: [Text; 2],
    pub(super) ends: [usize; 2],
}

impl Pair<'_> {
    /// Whether both are full.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.quads[0].bytes == QUAD_BYTES && self.quads[1].bytes == QUAD_BYTES
    }
}

impl Scratch {
    /// Room for messages.
    #[inline(always)]
    pub(super) fn new(zero: Z, some_key: KeyPlace) -> Scratch {
        let slot = || Slot { hash: Cell::new(zero), base: Cell::new(zero) };
        let group = || Group {
            lengths: [const { Cell::new([0; 2]) }; 4],
            counters: [const { Cell::new(0) }; 4],
            places: [(); 4].map(|()| Cell::new(some_key)),
        };
        Scratch {
            slots: [(); SLOTS].map(|()| slot()),
            groups: [(); SLOTS / 4].map(|()| group()),
            idle: slot(),
        }
    }

    /// Forgets the messages.
    pub(super) fn wipe(&self, zero: Z) {
        for slot in self.slots.iter().chain([&self.idle]) {
            slot.hash.set(zero);
            slot.base.set(zero);
        }
    }
}

impl<'a, 's> Flow<'a, 's> {
    /// Messages of one class; `some_key` is any of their keys that is expanded.
    #[inline(always)]
    pub(super) fn new(
        token: HaveVaes512,
        class: &'a Class,
        items: &'a [Item],
        scratch: &'s Scratch,
        room: Room<'s>,
        some_key: KeyPlace,
    ) -> Flow<'a, 's> {
        Flow {
            token,
            class,
            items,
            scratch,
            room,
            begun: 0,
            hashed: 0,
            finished: 0,
            left: 0,
            input: core::ptr::null(),
            output: core::ptr::null_mut(),
            first: 0,
            place: some_key,
        }
    }

    /// Two quads of nothing.
    #[inline(always)]
    pub(super) fn idle(&self, zero: Z) -> Pair<'s> {
        let text = || [(); 4].map(|()| Cell::new(zero));
        Pair { quads: [self.idle_quad(); 2], texts: [text(), text()], ends: [0; 2] }
    }

    wide_fn! {
        /// Puts the next two quads into a pair, in its place: a copy of what was just written, made by wider
        /// loads, would wait for it. False when there are no more.
        ///
        /// # Safety
        /// The items' addresses are what they say.
        #[inline]
        pub(super) unsafe fn next<const ROUNDS: usize>(&mut self, pair: &mut Pair<'s>, ahead: &mut Ahead<'_>) -> bool {
            if self.left > RUN_BYTES {
                let weights = self.table().weights(3);
                for (quad, end) in pair.quads.iter_mut().zip(&mut pair.ends) {
                    self.fill(quad, QUAD_BYTES, [weights, weights.wrapping_add(128)]);
                    *end = 0;
                }
                return true;
            }
            if self.left == 0 && self.begun == self.items.len() {
                return false;
            }
            // SAFETY: the caller keeps the same promise.
            pair.ends[0] = unsafe { self.quad::<ROUNDS>(&mut pair.quads[0], ahead) };
            // SAFETY: as above.
            pair.ends[1] = unsafe { self.quad::<ROUNDS>(&mut pair.quads[1], ahead) };
            true
        }
    }

    wide_fn! {
        /// Takes note that more messages are hashed, and finishes those that can be.
        ///
        /// # Safety
        /// They are. The items' addresses are what they say.
        #[inline]
        pub(super) unsafe fn hashed<const ROUNDS: usize>(&mut self, more: usize) {
            self.hashed += more;
            if self.hashed >= self.finished + 4 {
                // SAFETY: the next four messages are hashed.
                unsafe { self.finish::<ROUNDS>() };
            }
        }
    }

    wide_fn! {
        /// Finishes the messages that are left.
        ///
        /// # Safety
        /// All are hashed. The items' addresses are what they say.
        #[inline]
        pub(super) unsafe fn end<const ROUNDS: usize>(&mut self) {
            while self.finished < self.items.len() {
                // SAFETY: the messages that are left are hashed.
                unsafe { self.finish::<ROUNDS>() };
            }
        }
    }

    wide_fn! {
        /// The next quad, and how many messages end with it.
        ///
        /// # Safety
        /// The items' addresses are what they say.
        #[inline]
        unsafe fn quad<const ROUNDS: usize>(&mut self, quad: &mut Quad<'s>, ahead: &mut Ahead<'_>) -> usize {
            if self.left == 0 {
                let Some(item) = self.items.get(self.begun) else {
                    *quad = self.idle_quad();
                    return 0;
                };
                // SAFETY: the caller keeps the same promise.
                unsafe { self.begin::<ROUNDS>(item) };
                if self.begun % 4 == 0 {
                    ahead.fetch(4);
                }
            }
            let bytes = cut(self.left);
            let weights = self.weights(bytes);
            self.fill(quad, bytes, weights);
            usize::from(self.left == 0)
        }
    }

    /// The next quad of the message, of so many bytes.
    #[inline(always)]
    fn fill(&mut self, quad: &mut Quad<'s>, bytes: usize, weights: [*const u8; 2]) {
        quad.keys = &self.table().keys;
        quad.slot = self.slot();
        quad.input = self.input;
        quad.output = self.output;
        quad.bytes = bytes;
        quad.first = self.first;
        quad.weights = weights;
        self.input = self.input.wrapping_add(bytes);
        self.output = self.output.wrapping_add(bytes);
        // A quad that is shorter is followed by another only if it has 12 blocks.
        self.first += if bytes == QUAD_BYTES { 16 } else { 12 };
        self.left -= bytes;
    }

    /// What the first two registers of the next quad are multiplied with, and what the others are.
    #[inline(always)]
    fn weights(&self, bytes: usize) -> [*const u8; 2] {
        if bytes < self.left {
            let weights = self.table().weights(if bytes == QUAD_BYTES { 3 } else { 2 });
            return [weights, weights.wrapping_add(128)];
        }
        // The last blocks of a message: the last powers, and any for registers that are empty.
        let blocks = bytes.div_ceil(16);
        let powers = self.place.powers.wrapping_add(QUAD_BYTES - 16 * blocks);
        [powers, powers.wrapping_add(if blocks > 8 { 128 } else { 0 })]
    }

    #[inline(always)]
    fn idle_quad(&self) -> Quad<'s> {
        Quad {
            keys: &self.room.tables[0].keys,
            slot: &self.scratch.idle,
            input: core::ptr::null(),
            output: core::ptr::null_mut(),
            bytes: 0,
            first: 0,
            weights: [self.place.powers; 2],
        }
    }

    #[inline(always)]
    fn slot(&self) -> &'s Slot {
        &self.scratch.slots[(self.begun + SLOTS - 1) % SLOTS]
    }

    #[inline(always)]
    fn table(&self) -> &'s Table {
        let tables = self.room.tables;
        &tables[self.begun & (tables.len() - 1)]
    }

    wide_fn! {
        /// Begins a message.
        ///
        /// # Safety
        /// The item's addresses are what they say.
        #[inline(never)]
        unsafe fn begin<const ROUNDS: usize>(&mut self, item: &Item) {
            let index = self.begun;
            self.begun += 1;
            (self.input, self.output) = (item.input, item.output);
            (self.left, self.first) = (item.text_bytes as usize, 0);
            // SAFETY: the caller promises the key.
            unsafe { self.set_key::<ROUNDS>(item, index) };
            // SAFETY: the nonce is readable.
            let nonce = unsafe { zmm::load_nonce(item.nonce) };
            let first_key = self.table().keys[0].get();
            self.slot().base.set(zmm::xor(_mm512_broadcast_i32x4(nonce), first_key));
            let group = &self.scratch.groups[index / 4 % (SLOTS / 4)];
            let counter = _mm_insert_epi32::<3>(nonce, 1 << 24);
            // SAFETY: a cell of 16 bytes.
            unsafe { _mm_store_si128(group.counters[index % 4].as_ptr().cast(), counter) };
            let (text_bits, aad_bits) = (8 * u64::from(item.text_bytes), 8 * u64::from(item.aad_bytes));
            group.lengths[index % 4].set([text_bits, aad_bits]);
            let mut hash = _mm512_setzero_si512();
            if item.aad_bytes > 0 {
                // SAFETY: the aad is readable, and the table has weights.
                hash = unsafe { aad::hash(item.aad, item.aad_bytes.into(), self.table()) };
            }
            self.slot().hash.set(hash);
            if self.class.keys != KeyForm::One {
                group.places[index % 4].set(self.place);
            }
        }
    }

    wide_fn! {
        /// Has the key of a message at its place and in its table.
        ///
        /// # Safety
        /// The item's key is what it says.
        #[inline]
        unsafe fn set_key<const ROUNDS: usize>(&mut self, item: &Item, index: usize) {
            match self.class.keys {
                KeyForm::One => return,
                KeyForm::Each => self.place = KeyPlace::of(item.key),
                KeyForm::Raw => {
                    let room = &self.room.raw[index % SLOTS];
                    // SAFETY: the caller promises the key.
                    unsafe { room.expand::<ROUNDS>(self.token.into(), item.key) };
                    self.place = KeyPlace::of(room.address());
                }
            }
            // SAFETY: a key is at the place.
            unsafe { self.table().set_keys::<ROUNDS>(self.place) };
            if item.aad_bytes > 0 || self.left > QUAD_BYTES {
                // SAFETY: as above.
                unsafe { self.table().set_weights(self.place) };
            }
        }
    }

    wide_fn! {
        /// Works out the tags of up to four messages.
        ///
        /// # Safety
        /// They are hashed. The items' addresses are what they say.
        #[inline(never)]
        unsafe fn finish<const ROUNDS: usize>(&mut self) {
            let start = self.finished;
            let items = &self.items[start..self.items.len().min(start + 4)];
            self.finished += items.len();
            let group = &self.scratch.groups[start / 4 % (SLOTS / 4)];
            let places = [0, 1, 2, 3].map(|i| group.places[i].get());
            // SAFETY: four cells of 16 bytes.
            let lengths = unsafe { zmm::load(group.lengths.as_ptr().cast()) };
            let hash = |i: usize| self.scratch.slots[start % SLOTS + i].hash.get();
            let [a, b, c, d] = zmm::transpose([hash(0), hash(1), hash(2), hash(3)]);
            let y = zmm::xor(zmm::xor3(a, b, c), zmm::xor(d, lengths));
            // SAFETY: the keys of four messages that are being worked, or of some message.
            let h = unsafe { load_four(places.map(|place| place.hash_key())) };
            // SAFETY: the same folded.
            let folded = unsafe { load_four(places.map(|place| place.hash_key().wrapping_add(FOLDED))) };
            let (low, high) = product(y, h, folded);
            let hash = zmm::reverse(zmm::xor(high, zmm::fold(low)));
            let masks = if self.class.keys == KeyForm::One {
                // SAFETY: four cells of 16 bytes.
                let counters = unsafe { zmm::load(group.counters.as_ptr().cast()) };
                self.room.tables[0].encrypted::<ROUNDS>(counters)
            } else {
                // SAFETY: as above, and the keys are those of the messages.
                unsafe { masks::<ROUNDS>(group.counters.as_ptr().cast(), places.map(|place| place.record)) }
            };
            // SAFETY: the caller keeps the same promise.
            unsafe { conclude(self.class, items, zmm::xor(hash, masks)) };
        }
    }
}

wide_fn! {
    /// Writes or compares the tags of up to four messages; one that fails leaves zeros.
    ///
    /// # Safety
    /// The items' addresses are what they say.
    #[inline]
    unsafe fn conclude(class: &Class, items: &[Item], tags: Z) {
        let Ok(four) = <&[Item; 4]>::try_from(items) else {
            // SAFETY: the caller keeps the same promise.
            return unsafe { conclude_each(class, items, tags) };
        };
        if class.tag_bytes != 16 {
            // SAFETY: as above.
            return unsafe { conclude_each(class, items, tags) };
        }
        let at = [four[0].tag, four[1].tag, four[2].tag, four[3].tag];
        if class.op == Op::Seal {
            // SAFETY: the tags are writable for 16 bytes.
            return unsafe { store_four(at, tags) };
        }
        // SAFETY: the tags are readable for 16 bytes.
        let expected = unsafe { load_four(at.map(<*mut u8>::cast_const)) };
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

/// Writes or compares a tag; a message that fails leaves zeros.
///
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
    /// Four blocks, each encrypted under a key of its own.
    ///
    /// # Safety
    /// Blocks and round keys are there.
    #[inline]
    unsafe fn masks<const ROUNDS: usize>(blocks: *const __m128i, records: [*const u8; 4]) -> Z {
        let mut states = [_mm_setzero_si128(); 4];
        for (i, state) in states.iter_mut().enumerate() {
            // SAFETY: the caller promises four blocks, aligned as such.
            *state = unsafe { encrypted::<ROUNDS>(records[i], _mm_load_si128(blocks.wrapping_add(i))) };
        }
        join(states)
    }
}

wide_fn! {
    /// Four blocks in the lanes of a register.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    unsafe fn load_four(from: [*const u8; 4]) -> Z {
        // SAFETY: the caller promises 16 bytes at each.
        join(from.map(|from| unsafe { _mm_loadu_si128(from.cast()) }))
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
    unsafe fn store_four(to: [*mut u8; 4], from: Z) {
        let [a, b, c, d] = to.map(<*mut u8>::cast);
        // SAFETY: the caller promises 16 writable bytes.
        unsafe { _mm_storeu_si128(a, _mm512_castsi512_si128(from)) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(b, _mm512_extracti32x4_epi32::<1>(from)) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(c, _mm512_extracti32x4_epi32::<2>(from)) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(d, _mm512_extracti32x4_epi32::<3>(from)) };
    }
}

/// How many bytes of a text are the next quad.
///
/// A quad in which a message ends and which is not its first has four blocks or more: the hash before
/// has a block in each lane.
#[inline(always)]
fn cut(left: usize) -> usize {
    match left {
        ..=QUAD_BYTES => left,
        ..=304 => 192,
        _ => QUAD_BYTES,
    }
}

/// With more left, the next two quads are full and not the last ones.
const RUN_BYTES: usize = 2 * QUAD_BYTES + 304;

/// Messages that are worked at a time: no more than five are begun and not hashed, and with them
/// up to three wait for a fourth.
pub(super) const SLOTS: usize = 8;
