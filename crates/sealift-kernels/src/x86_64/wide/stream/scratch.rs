//! What is kept of messages while they are worked.
#![allow(unsafe_code)]

use core::cell::Cell;

use super::super::{
    item::Item,
    zmm::{Z, wide_fn},
};
use super::{
    finish::Group,
    keys::{KeyPlace, Table},
    raw::RawKeys,
    step::{QUAD_BYTES, Quad, Slot, Text},
};

/// What is kept of the messages that are being worked.
#[repr(C, align(64))]
pub(super) struct Scratch {
    /// The messages, in turn.
    pub(super) slots: [[Slot; 4]; SLOTS / 4],
    /// What their tags need.
    pub(super) groups: [Group; SLOTS / 4],
    /// What quads of nothing belong to.
    pub(super) idle: Slot,
}

/// Where keys are expanded to.
pub(super) struct Room<'s> {
    /// One for the same key, else eight.
    pub(super) tables: &'s [Table],
    /// For raw keys.
    pub(super) raw: Option<&'s RawKeys>,
}

/// Two quads.
pub(super) struct Pair<'s> {
    /// Where they are.
    pub(super) quads: [Quad<'s>; 2],
    /// Their ciphertext.
    pub(super) texts: [Text; 2],
    /// How many messages end with each.
    pub(super) ends: [usize; 2],
}

impl<'s> Pair<'s> {
    /// The same quad twice, of nothing.
    #[inline(always)]
    pub(super) fn new(idle: Quad<'s>, zero: Z) -> Pair<'s> {
        let row = || Cell::new(zero);
        let text = || [row(), row(), row(), row()];
        Pair { quads: [idle; 2], texts: [text(), text()], ends: [0; 2] }
    }

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
        let four = || [slot(), slot(), slot(), slot()];
        Scratch {
            slots: [four(), four()],
            groups: [Group::new(some_key), Group::new(some_key)],
            idle: slot(),
        }
    }

    /// Forgets the messages.
    pub(super) fn wipe(&self, zero: Z) {
        for slot in self.slots.as_flattened().iter().chain([&self.idle]) {
            slot.hash.set(zero);
            slot.base.set(zero);
        }
    }
}

impl<'s> Room<'s> {
    wide_fn! {
        /// Has the key of message number `index` in a table, and says where it is; messages come in
        /// order.
        ///
        /// # Safety
        /// The items' keys are what they say. There is such a message.
        #[inline(never)]
        pub(super) unsafe fn set_key<const ROUNDS: usize>(
            &self,
            items: &[Item],
            index: usize,
        ) -> (KeyPlace, &'s Table) {
            let table = &self.tables[index & (self.tables.len() - 1)];
            let item = &items[index];
            let place = match self.raw {
                None => KeyPlace::of(item.key),
                Some(raw) => {
                    // SAFETY: the caller keeps the same promise.
                    unsafe { raw.expand::<ROUNDS>(items, index) };
                    raw.place(index)
                }
            };
            // SAFETY: a key is at the place.
            unsafe { table.set_keys::<ROUNDS>(place) };
            if item.aad_bytes > 0 || item.text_bytes as usize > QUAD_BYTES {
                // SAFETY: as above.
                unsafe { table.set_weights(place) };
            }
            (place, table)
        }
    }

    /// The round keys of four messages in lanes, if they are anywhere.
    #[inline(always)]
    pub(super) fn lanes(&self, first: usize) -> Option<*const Z> {
        match (self.raw, self.tables) {
            (Some(raw), _) => Some(raw.lanes(first).cast()),
            (None, [table]) => Some(table.keys.as_ptr().cast()),
            (None, _) => None,
        }
    }
}

/// Messages that are worked at a time: no more than five are begun and not hashed, and with them
/// up to three wait for a fourth.
pub(super) const SLOTS: usize = 8;
