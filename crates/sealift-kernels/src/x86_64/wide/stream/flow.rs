//! Messages in, quads out, and tags at the end.
#![allow(unsafe_code)]

use core::arch::x86_64::{_mm512_broadcast_i32x4, _mm512_setzero_si512};

use super::super::{
    item::{Ahead, Class, Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{
    aad,
    keys::{KeyPlace, Table},
    run::Run,
    scratch::{Pair, Room, SLOTS, Scratch},
    step::{QUAD_BYTES, Quad, Slot},
};

/// Cuts messages into quads.
pub(super) struct Flow<'a, 's> {
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
    /// How many pairs of its middle were the last ones.
    runs: usize,
    slot: &'s Slot,
    table: &'s Table,
    place: KeyPlace,
}

impl<'a, 's> Flow<'a, 's> {
    /// Messages of one class; `some_key` is any of their keys that is expanded.
    #[inline(always)]
    pub(super) fn new(
        class: &'a Class,
        items: &'a [Item],
        scratch: &'s Scratch,
        room: Room<'s>,
        some_key: KeyPlace,
    ) -> Flow<'a, 's> {
        Flow {
            class,
            items,
            slot: &scratch.idle,
            table: &room.tables[0],
            scratch,
            room,
            begun: 0,
            hashed: 0,
            finished: 0,
            left: 0,
            input: core::ptr::null(),
            output: core::ptr::null_mut(),
            first: 0,
            runs: 0,
            place: some_key,
        }
    }

    /// Two quads of nothing.
    #[inline(always)]
    pub(super) fn idle(&self, zero: Z) -> Pair<'s> {
        Pair::new(self.idle_quad(), zero)
    }

    /// Full quads of the message of the last two pairs, if those were such too.
    #[inline(always)]
    pub(super) fn run(&mut self) -> Option<Run<'s>> {
        if self.runs < 2 || self.left <= RUN_BYTES {
            return None;
        }
        let pairs = (self.left - (RUN_BYTES - 2 * QUAD_BYTES) - 1) / (2 * QUAD_BYTES);
        let blocks = u32::try_from(pairs * 2 * QUAD_BYTES / 16).ok()?;
        let (keys, weights) = (&self.table.keys, self.table.weights(3));
        let (input, output, first) = (self.input, self.output, self.first);
        let bytes = pairs * 2 * QUAD_BYTES;
        self.input = input.wrapping_add(bytes);
        self.output = output.wrapping_add(bytes);
        self.left -= bytes;
        self.first += blocks;
        Some(Run { keys, slot: self.slot, input, output, first, pairs, weights })
    }

    wide_fn! {
        /// Puts the next two quads into a pair, in its place: a copy of what was just written,
        /// made by wider loads, would wait for it. False when there are no more.
        ///
        /// # Safety
        /// The items' addresses are what they say.
        #[inline]
        pub(super) unsafe fn next<const ROUNDS: usize>(
            &mut self,
            pair: &mut Pair<'s>,
            ahead: &mut Ahead<'_>,
        ) -> bool {
            if self.left > RUN_BYTES {
                let weights = self.table.weights(3);
                self.runs += 1;
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
        unsafe fn quad<const ROUNDS: usize>(
            &mut self,
            quad: &mut Quad<'s>,
            ahead: &mut Ahead<'_>,
        ) -> usize {
            if self.left == 0 {
                let Some(item) = self.items.get(self.begun) else {
                    *quad = self.idle_quad();
                    return 0;
                };
                // SAFETY: the caller keeps the same promise.
                unsafe { self.begin::<ROUNDS>(item) };
                if self.begun.is_multiple_of(4) {
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
        quad.keys = &self.table.keys;
        quad.slot = self.slot;
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
            let weights = self.table.weights(if bytes == QUAD_BYTES { 3 } else { 2 });
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

    wide_fn! {
        /// Begins a message.
        ///
        /// # Safety
        /// The item's addresses are what they say.
        #[inline]
        unsafe fn begin<const ROUNDS: usize>(&mut self, item: &Item) {
            let index = self.begun;
            self.begun += 1;
            (self.input, self.output) = (item.input, item.output);
            (self.left, self.first, self.runs) = (item.text_bytes as usize, 0, 0);
            let turn = index / 4 % (SLOTS / 4);
            let (group, slot) = (&self.scratch.groups[turn], &self.scratch.slots[turn][index % 4]);
            self.slot = slot;
            if self.class.keys != KeyForm::One {
                // SAFETY: the caller promises the keys, and messages begin in order.
                (self.place, self.table) =
                    unsafe { self.room.set_key::<ROUNDS>(self.items, index) };
                group.set_key(index, self.place);
            }
            // SAFETY: the nonce is readable.
            let nonce = unsafe { zmm::load_nonce(item.nonce) };
            slot.base.set(zmm::xor(_mm512_broadcast_i32x4(nonce), self.table.keys[0].get()));
            slot.hash.set(_mm512_setzero_si512());
            group.set(index, nonce, item);
            if item.aad_bytes > 0 {
                // SAFETY: the aad is readable, and the table has weights.
                slot.hash.set(unsafe { aad::hash(item.aad, item.aad_bytes.into(), self.table) });
            }
        }
    }

    wide_fn! {
        /// Finishes the next four messages, or as many as are left.
        ///
        /// # Safety
        /// They are hashed. The items' addresses are what they say.
        #[inline]
        unsafe fn finish<const ROUNDS: usize>(&mut self) {
            let start = self.finished;
            let items = &self.items[start..self.items.len().min(start + 4)];
            self.finished += items.len();
            let turn = start / 4 % (SLOTS / 4);
            let (group, slots) = (&self.scratch.groups[turn], &self.scratch.slots[turn]);
            let keys = self.room.lanes(start);
            // SAFETY: the caller keeps the same promise.
            unsafe { group.finish::<ROUNDS>(self.class, items, slots, keys) };
        }
    }
}

/// How many bytes of a text are the next quad.
///
/// A quad in which a message ends and which is not its first has four blocks or more: the hash
/// before has a block in each lane.
#[inline(always)]
fn cut(left: usize) -> usize {
    if left <= QUAD_BYTES {
        left
    } else if left <= LAST_TWO_BYTES {
        192
    } else {
        QUAD_BYTES
    }
}

/// Up to as many bytes the last quad would have fewer than four blocks behind a full one.
const LAST_TWO_BYTES: usize = QUAD_BYTES + 3 * 16;

/// With more left, the next two quads are full and not the last ones.
const RUN_BYTES: usize = 2 * QUAD_BYTES + LAST_TWO_BYTES;
