//! Longer messages, one after the other without a gap.
//!
//! Messages are cut into quads of four registers, and a step works two quads, of one message or of
//! two: AES of these is woven with GHASH of two earlier ones. So the end of a message is hashed
//! while the next one is encrypted, and there is no pause between messages. The tags of four are
//! worked out together.
//!
//! GHASH runs in lanes: lane i sums blocks i, i + 4, ..., each register is multiplied with the same
//! power in all lanes, and 16 blocks share a reduction. The last quad is multiplied with the last
//! powers in order, so that the sum of the lanes is the hash.
#![allow(unsafe_code)]

mod aad;
mod finish;
mod flow;
mod keys;
mod raw;
mod run;
mod scratch;
mod step;
#[cfg(test)]
mod tests;
mod weave;

use core::{
    arch::{asm, x86_64::_mm512_setzero_si512},
    ptr,
};

use flow::Flow;
use keys::{KeyPlace, Table};
use raw::RawKeys;
use scratch::{Room, Scratch};
use sealift_core::Op;

use super::{
    item::{Ahead, Class, Item, KeyForm, LONG_TEXT},
    zmm::wide_fn,
};
use crate::{stack, x86_64::cpu::HaveVaes512};

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.text_blocks == LONG_TEXT
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
    match class.rounds {
        // SAFETY: `_token` is proof of the instructions; the caller keeps the same promise.
        10 => unsafe { rounds::<10>(class, items, ahead) },
        // SAFETY: as above.
        12 => unsafe { rounds::<12>(class, items, ahead) },
        // SAFETY: as above.
        _ => unsafe { rounds::<14>(class, items, ahead) },
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    unsafe fn rounds<const ROUNDS: usize>(class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        let Some(first) = items.first() else { return };
        let zero = _mm512_setzero_si512();
        let place = KeyPlace::of(first.key);
        match class.keys {
            KeyForm::One => {
                let tables = [Table::new(zero)];
                // SAFETY: a key is at the place.
                unsafe { tables[0].set_keys::<ROUNDS>(place) };
                // SAFETY: as above.
                unsafe { tables[0].set_weights(place) };
                // SAFETY: the caller keeps the same promise.
                unsafe {
                    all::<ROUNDS>(class, items, ahead, Room { tables: &tables, raw: None }, place)
                };
            }
            KeyForm::Each => {
                let tables = [(); 8].map(|()| Table::new(zero));
                // SAFETY: the caller keeps the same promise.
                unsafe {
                    all::<ROUNDS>(class, items, ahead, Room { tables: &tables, raw: None }, place)
                };
            }
            KeyForm::Raw => {
                let tables = [(); 8].map(|()| Table::new(zero));
                let raw = RawKeys::new(zero);
                let place = raw.place(0);
                // SAFETY: the caller keeps the same promise.
                unsafe {
                    all::<ROUNDS>(
                        class,
                        items,
                        ahead,
                        Room { tables: &tables, raw: Some(&raw) },
                        place,
                    )
                };
                raw.wipe(items.len(), zero);
                written(&raw);
            }
        }
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say; an expanded key, or zeros, are at the place.
    #[inline]
    unsafe fn all<const ROUNDS: usize>(
        class: &Class,
        items: &[Item],
        ahead: &mut Ahead<'_>,
        room: Room<'_>,
        place: KeyPlace,
    ) {
        let zero = _mm512_setzero_si512();
        let scratch = Scratch::new(zero, place);
        let tables = room.tables;
        let mut flow = Flow::new(class, items, &scratch, room, place);
        match class.op {
            // SAFETY: the caller keeps the same promise.
            Op::Seal => unsafe { crypt::<ROUNDS, true>(&mut flow, ahead) },
            // SAFETY: as above.
            Op::Open => unsafe { crypt::<ROUNDS, false>(&mut flow, ahead) },
            // SAFETY: as above.
            Op::Verify => unsafe { verify::<ROUNDS>(&mut flow, ahead) },
        }
        scratch.wipe(zero);
        tables.iter().take(items.len()).for_each(|table| table.wipe(zero));
        written(&scratch);
        written(tables);
        // What registers were put down there.
        stack::wipe();
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    #[inline]
    unsafe fn crypt<const ROUNDS: usize, const SEAL: bool>(
        flow: &mut Flow<'_, '_>,
        ahead: &mut Ahead<'_>,
    ) {
        let zero = _mm512_setzero_si512();
        let mut pairs = [flow.idle(zero), flow.idle(zero), flow.idle(zero)];
        let [mut now, mut last, mut before] = pairs.each_mut();
        // SAFETY: the caller keeps the same promise.
        while unsafe { flow.next::<ROUNDS>(now, ahead) } {
            let [first, second] = &now.quads;
            let (quads, texts) =
                ([&before.quads[1], &last.quads[0]], [&before.texts[1], &last.texts[0]]);
            if now.is_full() {
                // SAFETY: the quads' addresses are those of items.
                unsafe {
                    step::step::<ROUNDS, SEAL, true>([first, second], &now.texts, quads, texts)
                };
            } else {
                // SAFETY: as above.
                unsafe {
                    step::step::<ROUNDS, SEAL, false>([first, second], &now.texts, quads, texts)
                };
            }
            // SAFETY: the step hashed these two.
            unsafe { flow.hashed::<ROUNDS>(before.ends[1] + last.ends[0]) };
            (now, last, before) = (before, now, last);
            if let Some(run) = flow.run() {
                // SAFETY: the addresses are those of an item.
                unsafe { run::run::<ROUNDS, SEAL>(&run, [&now.texts, &last.texts, &before.texts]) };
                (now.quads, now.ends) = (last.quads, last.ends);
                for _ in 0..run.pairs % 3 {
                    (now, last, before) = (before, now, last);
                }
            }
        }
        for (pair, i) in [(&*before, 1), (&*last, 0), (&*last, 1)] {
            // SAFETY: weights are those of the items' keys.
            unsafe { step::absorb(&pair.quads[i], &pair.texts[i]) };
            // SAFETY: it was just hashed.
            unsafe { flow.hashed::<ROUNDS>(pair.ends[i]) };
        }
        // SAFETY: all are hashed.
        unsafe { flow.end::<ROUNDS>() };
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    #[inline]
    unsafe fn verify<const ROUNDS: usize>(flow: &mut Flow<'_, '_>, ahead: &mut Ahead<'_>) {
        let mut now = flow.idle(_mm512_setzero_si512());
        // SAFETY: the caller keeps the same promise.
        while unsafe { flow.next::<ROUNDS>(&mut now, ahead) } {
            for (quad, text) in now.quads.iter().zip(&now.texts) {
                // SAFETY: the quads' addresses are those of items.
                unsafe { step::read(quad, text) };
                // SAFETY: as above.
                unsafe { step::absorb(quad, text) };
            }
            // SAFETY: they were just hashed.
            unsafe { flow.hashed::<ROUNDS>(now.ends[0] + now.ends[1]) };
        }
        // SAFETY: all are hashed.
        unsafe { flow.end::<ROUNDS>() };
    }
}

/// Has what was written to a place written, even if nothing reads it again.
#[inline(always)]
fn written<T: ?Sized>(place: &T) {
    // SAFETY: no instruction is emitted; to the compiler, the memory may be read.
    unsafe {
        asm!("/* {0} */", in(reg) ptr::from_ref(place).cast::<u8>(), options(nostack, preserves_flags))
    };
}
