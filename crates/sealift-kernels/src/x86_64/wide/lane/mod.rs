//! Short messages under many keys: each in a lane of its own, in all registers.
//!
//! Keys are expanded ones, which are gathered into lanes round by round, or raw ones, which are expanded
//! sixteen at a time.
#![allow(unsafe_code)]

mod between;
pub(super) mod expand;
mod group;
mod kernel;
mod lanes;
mod spare;
mod tags;
#[cfg(test)]
mod tests;
mod weave;
mod words;

use core::mem::MaybeUninit;

use between::Between;
use expand::{GROUPS, KEYS, Lanes, Schedules, Words};
use group::{Call, Group};
use kernel::{Expanding, Pass, pass};
use spare::{Spare, wipe};
use weave::hashed_blocks;

use super::{
    item::{Ahead, Class, Item, KeyForm},
    zmm::wide_fn,
};
use crate::{stack, x86_64::cpu::HaveVaes512};

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.keys != KeyForm::One && class.text_blocks <= 8 && class.aad_blocks <= 3
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, and the items' addresses are what they say.
pub(super) unsafe fn run(token: HaveVaes512, class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
    let call = Messages { class, items, ahead };
    if class.keys == KeyForm::Raw {
        let mut keys = Keys::new();
        // SAFETY: the caller keeps the same promise, and keys are raw.
        unsafe { by_rounds::<true>(token, call, &mut keys) };
        keys.wipe(items.len());
    } else {
        // SAFETY: the caller keeps the same promise, and keys are expanded.
        unsafe { by_rounds::<false>(token, call, &mut Keys::new()) };
    }
}

/// What a call is given.
struct Messages<'c, 'i, 'a> {
    class: &'c Class,
    items: &'i [Item],
    ahead: &'c mut Ahead<'a>,
}

/// # Safety
/// As for [`run`], and keys are raw or not as `RAW` says.
unsafe fn by_rounds<const RAW: bool>(
    token: HaveVaes512,
    messages: Messages<'_, '_, '_>,
    keys: &mut Keys,
) {
    match messages.class.rounds {
        // SAFETY: the caller keeps the same promise.
        10 => unsafe { by_shape::<10, RAW>(token, messages, keys) },
        // SAFETY: as above.
        12 => unsafe { by_shape::<12, RAW>(token, messages, keys) },
        // SAFETY: as above.
        _ => unsafe { by_shape::<14, RAW>(token, messages, keys) },
    }
}

type Work = unsafe fn(Messages<'_, '_, '_>, &Item, &mut Between, &mut Keys);

/// # Safety
/// As for [`by_rounds`].
unsafe fn by_shape<const ROUNDS: usize, const RAW: bool>(
    _token: HaveVaes512,
    messages: Messages<'_, '_, '_>,
    keys: &mut Keys,
) {
    let class = messages.class;
    macro_rules! with {
        ($blocks:literal, $aad:literal) => {
            (work::<ROUNDS, RAW, $blocks, $aad> as Work, const { hashed_blocks($blocks, $aad) })
        };
    }
    let (work, hashed) = match (class.text_blocks, class.aad_blocks) {
        (0 | 1, 0) => with!(1, false),
        (0 | 1, _) => with!(1, true),
        (2, 0) => with!(2, false),
        (2, _) => with!(2, true),
        (3 | 4, 0) => with!(4, false),
        (3 | 4, _) => with!(4, true),
        (_, 0) => with!(8, false),
        (_, _) => with!(8, true),
    };
    let Some(first) = messages.items.first() else { return };
    let mut spare = Spare::new();
    let spare = spare.item(first);
    // SAFETY: `_token` is proof of the instructions; the caller promises the rest.
    let mut between = unsafe { Between::new() };
    // SAFETY: as above.
    unsafe { work(messages, &spare, &mut between, keys) };
    between.wipe(hashed);
    // What registers were put down there.
    stack::wipe();
}

wide_fn! {
    /// Works messages of at most `BLOCKS` blocks, and of no aad or at most three.
    ///
    /// # Safety
    /// As for [`by_rounds`]; the spare item is like the others.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn work<const ROUNDS: usize, const RAW: bool, const BLOCKS: usize, const AAD: bool>(
        messages: Messages<'_, '_, '_>,
        spare: &Item,
        between: &mut Between,
        keys: &mut Keys,
    ) {
        let Messages { class, items, ahead } = messages;
        let call = Call::new(class, const { hashed_blocks(BLOCKS, AAD) });
        let (whole, rest) = items.as_chunks::<4>();
        let idle: Group = [*spare; 4];
        let mut last = idle;
        last[..rest.len()].copy_from_slice(rest);
        let groups = items.len().div_ceil(4);
        if RAW {
            // SAFETY: keys are raw, as the caller promises.
            unsafe { keys.start::<ROUNDS>(items) };
        }
        let (mut crypting, mut hashing) = (&idle, &idle);
        for number in 0..groups + 2 {
            let ciphering =
                whole.get(number).unwrap_or(if number < groups { &last } else { &idle });
            let expanding = if RAW {
                // SAFETY: as above.
                unsafe { keys.expanding::<ROUNDS>(items, number) }
            } else {
                None
            };
            let now = Pass {
                number,
                ciphering,
                crypting,
                hashing,
                concludes: number >= 2,
                keys: keys.of(number.min(groups - 1)),
                expanding,
            };
            ahead.fetch(4);
            // SAFETY: groups of the items, or of nobody's in a place of their own.
            unsafe { pass::<ROUNDS, RAW, BLOCKS, AAD>(&call, between, &now) };
            hashing = crypting;
            crypting = ciphering;
        }
    }
}

/// Raw keys, expanded sixteen at a time, those of four groups ahead of their use.
struct Keys {
    schedules: [MaybeUninit<Schedules>; 2],
    words: MaybeUninit<Words>,
}

impl Keys {
    fn new() -> Keys {
        Keys { schedules: [MaybeUninit::uninit(); 2], words: MaybeUninit::uninit() }
    }

    wide_fn! {
        /// Expands the first keys.
        ///
        /// # Safety
        /// Keys of the items are raw.
        unsafe fn start<const ROUNDS: usize>(&mut self, items: &[Item]) {
            let to = self.schedules[0].as_mut_ptr();
            // SAFETY: raw keys are as long as their rounds say, and the places are our own.
            unsafe { expand::expand::<ROUNDS>(&sixteen(items), to, self.words.as_mut_ptr()) };
        }
    }

    /// The round keys of a group.
    #[inline(always)]
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
        unsafe fn expanding<const ROUNDS: usize>(
            &mut self,
            items: &[Item],
            group: usize,
        ) -> Option<Expanding> {
            let part = group % GROUPS;
            let later = items.get(KEYS * (group / GROUPS + 1)..).filter(|items| !items.is_empty())?;
            let to = self.schedules[(group / GROUPS + 1) % 2].as_mut_ptr();
            let words = self.words.as_mut_ptr();
            if part == 0 {
                // SAFETY: as for the first keys.
                unsafe { begin::<ROUNDS>(later, to, words) };
            }
            Some(Expanding { part, to, words })
        }
    }

    /// Wipes what so many keys have used.
    fn wipe(&mut self, keys: usize) {
        wipe(&mut self.words);
        wipe(&mut self.schedules[0]);
        if keys > KEYS {
            wipe(&mut self.schedules[1]);
        }
    }
}

wide_fn! {
    /// # Safety
    /// Keys of the items are raw, and there is one; the places are writable and aligned.
    #[inline(never)]
    unsafe fn begin<const ROUNDS: usize>(items: &[Item], to: *mut Schedules, words: *mut Words) {
        // SAFETY: the caller keeps the same promise, and keys are as long as their rounds say.
        let last = unsafe { expand::begin::<ROUNDS>(&sixteen(items), to) };
        // SAFETY: as above.
        unsafe { words.write(last) };
    }
}

/// The keys of the next items, that of the last one as often as one is missing.
#[inline(always)]
fn sixteen(items: &[Item]) -> [*const u8; KEYS] {
    core::array::from_fn(|i| items[i.min(items.len() - 1)].key)
}
