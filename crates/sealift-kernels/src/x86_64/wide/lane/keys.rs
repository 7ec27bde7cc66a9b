//! Raw keys, expanded sixteen at a time.
#![allow(unsafe_code)]

use core::mem::MaybeUninit;

use super::{
    expand::{self, GROUPS, KEYS, Lanes, PARTS, Schedules, Words},
    spare::wipe,
};
use crate::x86_64::{wide::zmm::wide_fn, window::item::Item};

/// Raw keys, expanded sixteen at a time, those of four groups ahead of their use.
pub(super) struct Keys {
    pub(super) schedules: [Schedules; 2],
    pub(super) words: Words,
    /// How many blocks of each schedule hold something.
    blocks: usize,
    /// How many of the two places hold something.
    places: usize,
}

/// Schedules that are made in steps, some beside each group.
#[derive(Clone, Copy)]
pub(super) struct Expanding {
    pub(super) part: usize,
    pub(super) to: *mut Schedules,
    pub(super) words: *mut Words,
}

impl Keys {
    pub(super) fn new() -> Keys {
        // SAFETY: registers and integers may be zeros.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }

    wide_fn! {
        /// Expands the first keys, and starts with the next.
        ///
        /// # Safety
        /// Keys of the items are raw, and there is one.
        pub(super) unsafe fn start<const ROUNDS: usize>(&mut self, items: &[Item]) {
            let to = &raw mut self.schedules[0];
            self.blocks = self.blocks.max(ROUNDS + 1);
            self.places = self.places.max(items.len().div_ceil(KEYS).min(2));
            let keys = core::array::from_fn(|i| items[i.min(items.len() - 1)].key);
            // SAFETY: raw keys are as long as their rounds say, and the places are our own.
            unsafe { expand::expand::<ROUNDS>(&keys, to, &raw mut self.words) };
            // SAFETY: keys are raw, as the caller promises, and nothing else refers to our own places.
            if let Some(Expanding { part, to, words }) = unsafe { Keys::expanding::<ROUNDS>(self, items, 0) } {
                // SAFETY: it has just begun there.
                unsafe { expand::part::<ROUNDS>(part, to, words) };
            }
        }
    }

    /// The round keys of a group.
    ///
    /// # Safety
    /// There are keys at the place.
    #[inline(always)]
    pub(super) unsafe fn of(place: *const Keys, group: usize) -> *const Lanes {
        // SAFETY: the caller promises it; no reference is made, which would cover what is being expanded.
        unsafe { &raw const (*place).schedules[group / GROUPS % 2].0[group % GROUPS] }
    }

    wide_fn! {
        /// What is to be expanded beside a group: the keys of the four groups after its own four.
        ///
        /// # Safety
        /// Keys of the items are raw, and there are keys at the place, which nothing else refers to.
        #[inline]
        pub(super) unsafe fn expanding<const ROUNDS: usize>(
            place: *mut Keys,
            items: &[Item],
            group: usize,
        ) -> Option<Expanding> {
            let part = group % GROUPS;
            let later = items.get(KEYS * (group / GROUPS + 1)..).filter(|items| !items.is_empty())?;
            // SAFETY: the caller promises a place.
            let to = unsafe { &raw mut (*place).schedules[(group / GROUPS + 1) % 2] };
            // SAFETY: the caller promises a place, of which the words are a part, and no reference is made.
            let words = unsafe { &raw mut (*place).words };
            if part == 0 {
                // SAFETY: as for the first keys.
                unsafe { begin::<ROUNDS>(later, to, words) };
            }
            Some(Expanding { part, to, words })
        }
    }

    /// Wipes what was used.
    pub(super) fn wipe(&mut self) {
        if self.places > 0 {
            wipe(&mut self.words.0);
        }
        for Schedules(groups) in &mut self.schedules[..self.places] {
            groups.iter_mut().for_each(|lanes| wipe(&mut lanes[..self.blocks]));
        }
        (self.blocks, self.places) = (0, 0);
    }
}

wide_fn! {
    /// Starts with the keys of the first sixteen items, that of the last one as often as one is missing.
    ///
    /// # Safety
    /// Keys of the items are raw, and there is one; the places are writable and aligned.
    #[inline(never)]
    unsafe fn begin<const ROUNDS: usize>(items: &[Item], to: *mut Schedules, words: *mut Words) {
        let last = match items.first_chunk::<KEYS>() {
            // SAFETY: the caller keeps the same promise, and keys are as long as their rounds say.
            Some(sixteen) => unsafe { expand::begin::<ROUNDS>(|i| sixteen[i].key, to) },
            // SAFETY: the caller promises raw keys and one item at least, whose key stands for those that are missing.
            None => unsafe { expand::begin::<ROUNDS>(|i| items[i.min(items.len() - 1)].key, to) },
        };
        // SAFETY: the caller promises a place.
        unsafe { words.write(last) };
    }
}

const _: () = assert!(PARTS == GROUPS);
