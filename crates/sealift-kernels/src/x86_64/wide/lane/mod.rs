//! Short messages under many keys: each in a lane of its own, in all registers.
//!
//! Keys are expanded ones, which are gathered into lanes round by round, or raw ones, which are expanded
//! sixteen at a time.
#![allow(unsafe_code)]

pub(super) mod expand;
mod group;
mod kernel;
mod spare;
#[cfg(test)]
mod tests;
mod weave;

use core::mem::MaybeUninit;

use expand::{GROUPS, KEYS, Lanes, Schedules, Words};
use group::{Call, Group};
use kernel::{Between, Expanding, Pass, hashed_blocks, pass};
use spare::{Spare, wipe};

use super::{
    item::{Ahead, Class, Item, KeyForm},
    zmm::wide_fn,
};
use crate::x86_64::cpu::HaveVaes512;

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.keys != KeyForm::One && class.text_blocks <= 8 && class.aad_blocks <= 3
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, and the items' addresses are what they say.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    class: &Class,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    macro_rules! by_rounds {
        ($($arguments:tt)*) => {
            match class.rounds {
                // SAFETY: `_token` is proof of the instructions; the caller promises the rest.
                10 => unsafe { work::<10, $($arguments)*>(class, items, ahead) },
                // SAFETY: as above.
                12 => unsafe { work::<12, $($arguments)*>(class, items, ahead) },
                // SAFETY: as above.
                _ => unsafe { work::<14, $($arguments)*>(class, items, ahead) },
            }
        };
    }
    macro_rules! by_shape {
        ($($raw:literal)*) => {
            match (class.text_blocks, class.aad_blocks) {
                (0 | 1, 0) => by_rounds!($($raw,)* 1, false),
                (0 | 1, _) => by_rounds!($($raw,)* 1, true),
                (2, 0) => by_rounds!($($raw,)* 2, false),
                (2, _) => by_rounds!($($raw,)* 2, true),
                (3 | 4, 0) => by_rounds!($($raw,)* 4, false),
                (3 | 4, _) => by_rounds!($($raw,)* 4, true),
                (_, 0) => by_rounds!($($raw,)* 8, false),
                (_, _) => by_rounds!($($raw,)* 8, true),
            }
        };
    }
    match class.keys {
        KeyForm::Raw => by_shape!(true),
        _ => by_shape!(false),
    }
}

wide_fn! {
    /// Works messages of at most `BLOCKS` blocks, and of no aad or at most three.
    ///
    /// # Safety
    /// The items are of the class, and their addresses are what they say.
    unsafe fn work<const ROUNDS: usize, const RAW: bool, const BLOCKS: usize, const AAD: bool>(
        class: &Class,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        let Some(first) = items.first() else { return };
        let call = Call::new(class, const { hashed_blocks(BLOCKS, AAD) });
        let mut spare = Spare::new();
        let idle: Group = [spare.item(first); 4];
        let (whole, rest) = items.as_chunks::<4>();
        let mut last = idle;
        last[..rest.len()].copy_from_slice(rest);
        let groups = items.len().div_ceil(4);
        let mut between = Between::new();
        let mut keys = Keys::<ROUNDS>::new();
        if RAW {
            // SAFETY: keys are raw, as the caller promises.
            unsafe { keys.start(items) };
        }
        let (mut crypting, mut hashing) = (&idle, &idle);
        for number in 0..groups + 2 {
            let ciphering =
                whole.get(number).unwrap_or(if number < groups { &last } else { &idle });
            let now = Pass {
                number,
                ciphering,
                crypting,
                hashing,
                concludes: number >= 2,
                keys: keys.of(number.min(groups - 1)),
                // SAFETY: as above.
                expanding: if RAW { unsafe { keys.expanding(items, number) } } else { None },
            };
            ahead.fetch(4);
            // SAFETY: groups of the items, or of nobody's in a place of their own.
            unsafe { pass::<ROUNDS, RAW, BLOCKS, AAD>(&call, &mut between, &now) };
            hashing = crypting;
            crypting = ciphering;
        }
        wipe(&mut between);
        if RAW {
            keys.wipe(groups);
        }
    }
}

/// Raw keys, expanded sixteen at a time, those of four groups ahead of their use.
struct Keys<const ROUNDS: usize> {
    schedules: [MaybeUninit<Schedules>; 2],
    words: MaybeUninit<Words>,
}

impl<const ROUNDS: usize> Keys<ROUNDS> {
    fn new() -> Self {
        Keys { schedules: [MaybeUninit::uninit(); 2], words: MaybeUninit::uninit() }
    }

    wide_fn! {
        /// Expands the first keys.
        ///
        /// # Safety
        /// Keys of the items are raw.
        unsafe fn start(&mut self, items: &[Item]) {
            let to = self.schedules[0].as_mut_ptr();
            // SAFETY: raw keys are as long as their rounds say, and the places are our own.
            unsafe { expand::expand::<ROUNDS>(&sixteen(items), to, self.words.as_mut_ptr()) };
        }
    }

    /// The round keys of a group.
    fn of(&self, group: usize) -> *const Lanes {
        let schedules = self.schedules[group / GROUPS % 2].as_ptr();
        schedules.cast::<Lanes>().wrapping_add(group % GROUPS)
    }

    wide_fn! {
        /// What is to be expanded beside a group: the keys of the four groups after its own four.
        ///
        /// # Safety
        /// Keys of the items are raw.
        #[inline]
        unsafe fn expanding(&mut self, items: &[Item], group: usize) -> Option<Expanding> {
            let later = items.get(KEYS * (group / GROUPS + 1)..)?;
            if later.is_empty() {
                return None;
            }
            let to = self.schedules[(group / GROUPS + 1) % 2].as_mut_ptr();
            let words = self.words.as_mut_ptr();
            let part = group % GROUPS;
            if part == 0 {
                // SAFETY: as for the first keys.
                unsafe { expand::begin::<ROUNDS>(&sixteen(later), to, words) };
            }
            Some(Expanding { part, to, words })
        }
    }

    /// Wipes what was used.
    fn wipe(&mut self, groups: usize) {
        wipe(&mut self.words);
        wipe(&mut self.schedules[0]);
        if groups > GROUPS {
            wipe(&mut self.schedules[1]);
        }
    }
}

/// The keys of the next items, that of the last one as often as one is missing.
#[inline(always)]
fn sixteen(items: &[Item]) -> [*const u8; KEYS] {
    core::array::from_fn(|i| items[i.min(items.len() - 1)].key)
}
