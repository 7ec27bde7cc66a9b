//! Messages that lie at equal distances, put in place at once.
#![allow(unsafe_code)]

use core::{arch::x86_64::*, ptr};

use sealift_core::{Status, Strides, TextSpan};

use super::item::Item;
use crate::x86_64::{
    cpu::HaveVaes512,
    wide::zmm::{Z, load, store, wide_fn},
};

/// Where messages are that lie at equal distances: the first one, and how far from each other they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progression {
    first: Item,
    step: Step,
}

/// How far the parts of an item are from those of the one before, in bytes, in the order of its fields.
#[derive(Clone, Copy, Debug)]
struct Step([u64; 8]);

impl Progression {
    /// The one that begins with an item.
    pub(crate) fn of(first: Item, strides: &Strides, key_stride: usize) -> Progression {
        let Strides { nonce, aad, input, output, tag } = *strides;
        let step = [input, output, tag, nonce, aad, key_stride, size_of::<Status>(), 0];
        Progression { first, step: Step(step.map(|bytes| bytes as u64)) }
    }

    /// Writes its first items.
    pub(crate) fn put(&self, token: Option<HaveVaes512>, items: &mut [Item]) {
        match token {
            // SAFETY: the token is proof of the instructions.
            Some(_token) => unsafe { put(self, items) },
            None => self.put_plain(items),
        }
    }

    /// Writes items: each choice names one of three progressions, the place of the item, and its key; the
    /// second item is the second one of whichever is chosen.
    pub(crate) fn put_three(
        three: &[Progression; 3],
        token: Option<HaveVaes512>,
        choices: impl Iterator<Item = (usize, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        match token {
            // SAFETY: the token is proof of the instructions.
            Some(_token) => unsafe { put_three(three, choices, items) },
            None => put_three_plain(three, choices, items),
        }
    }

    /// Writes its items with texts and keys of their own, each to a place of its own.
    pub(crate) fn put_texts<'t>(
        &self,
        token: Option<HaveVaes512>,
        own: impl Iterator<Item = (&'t TextSpan, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        match token {
            // SAFETY: the token is proof of the instructions.
            Some(_token) => unsafe { put_texts(self, own, items) },
            None => {
                let mut next = self.words();
                for (text, (place, key)) in own {
                    let item = &mut items[place];
                    // SAFETY: an item has 64 bytes, and these are those of one.
                    unsafe { ptr::from_mut(item).cast::<[u64; 8]>().write(next) };
                    item.set_text(text, key);
                    next = self.step.after(next);
                }
            }
        }
    }

    fn put_plain(&self, items: &mut [Item]) {
        let mut next = self.words();
        for item in items {
            // SAFETY: an item has 64 bytes, and these are those of one.
            unsafe { ptr::from_mut(item).cast::<[u64; 8]>().write(next) };
            next = self.step.after(next);
        }
    }

    /// The first item as the numbers that a step is added to.
    fn words(&self) -> [u64; 8] {
        // SAFETY: an item has 64 bytes, none of them padding.
        unsafe { ptr::from_ref(&self.first).cast::<[u64; 8]>().read() }
    }
}

impl Step {
    #[inline]
    fn after(&self, words: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|i| words[i].wrapping_add(self.0[i]))
    }
}

fn put_three_plain(
    three: &[Progression; 3],
    choices: impl Iterator<Item = (usize, (usize, *const u8))>,
    items: &mut [Item],
) {
    let mut next = three.each_ref().map(Progression::words);
    for (choice, (place, key)) in choices {
        let item = &mut items[place];
        // SAFETY: an item has 64 bytes, and these are those of one.
        unsafe { ptr::from_mut(item).cast::<[u64; 8]>().write(next[choice % 3]) };
        item.key = key;
        for (next, progression) in next.iter_mut().zip(three) {
            *next = progression.step.after(*next);
        }
    }
}

wide_fn! {
    fn put(progression: &Progression, items: &mut [Item]) {
        let (mut next, step) = registers(progression);
        for item in items {
            // SAFETY: an item has 64 bytes.
            unsafe { store(ptr::from_mut(item).cast(), next) };
            next = _mm512_add_epi64(next, step);
        }
    }
}

wide_fn! {
    fn put_texts<'t>(
        progression: &Progression,
        own: impl Iterator<Item = (&'t TextSpan, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        let (mut next, step) = registers(progression);
        for (text, (place, key)) in own {
            let item = &mut items[place];
            // SAFETY: an item has 64 bytes.
            unsafe { store(ptr::from_mut(item).cast(), next) };
            item.set_text(text, key);
            next = _mm512_add_epi64(next, step);
        }
    }
}

wide_fn! {
    fn put_three(
        three: &[Progression; 3],
        choices: impl Iterator<Item = (usize, (usize, *const u8))>,
        items: &mut [Item],
    ) {
        let [(mut a, step_a), (mut b, step_b), (mut c, step_c)] =
            three.each_ref().map(|one| registers(one));
        for (choice, (place, key)) in choices {
            let mask = |chosen| if choice == chosen { 0xff } else { 0 };
            let item = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(a, mask(1), b), mask(2), c);
            let place = &mut items[place];
            // SAFETY: an item has 64 bytes.
            unsafe { store(ptr::from_mut(place).cast(), item) };
            place.key = key;
            a = _mm512_add_epi64(a, step_a);
            b = _mm512_add_epi64(b, step_b);
            c = _mm512_add_epi64(c, step_c);
        }
    }
}

wide_fn! {
    #[inline]
    fn registers(progression: &Progression) -> (Z, Z) {
        // SAFETY: an item has 64 bytes.
        let first = unsafe { load(ptr::from_ref(&progression.first).cast()) };
        // SAFETY: a step has 64 bytes.
        let step = unsafe { load(progression.step.0.as_ptr().cast()) };
        (first, step)
    }
}
