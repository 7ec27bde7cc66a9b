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
mod scratch;
mod step;
#[cfg(test)]
mod tests;
mod weave;

use core::{
    arch::{asm, x86_64::_mm512_setzero_si512},
    ptr,
};

use flow::{Call, Flow};
use keys::{Each, Form, KeyPlace, Keys, One, Raw, RoundKeys};
use raw::RawKeys;
use scratch::Scratch;
use sealift_core::Op;

use super::{
    item::{Ahead, Class, Item, KeyForm, LONG_TEXT},
    zmm::wide_fn,
};
use crate::{stack, x86_64::cpu::HaveVaes512};

/// Whether this kernel works messages of a class.
pub(super) fn takes(class: &Class) -> bool {
    class.text_blocks >= LONG_TEXT
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, the items' addresses are what they say, and no text is longer
/// than `LONGEST_TEXT`.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    class: &Class,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: `_token` is proof of the instructions; the caller keeps the same promise.
    unsafe { by_keys(class, items, ahead) }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    unsafe fn by_keys(class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        let Some(first) = items.first() else { return };
        let zero = _mm512_setzero_si512();
        let place = KeyPlace::of(first.key);
        match class.keys {
            KeyForm::One => {
                let round_keys = RoundKeys::new(zero);
                // SAFETY: a key is at the place.
                unsafe { round_keys.set(place.round_keys, class.rounds) };
                let one = KeyPlace { round_keys: round_keys.address(), ..place };
                // SAFETY: the caller keeps the same promise.
                unsafe { all::<One>(class, items, ahead, Keys { one, raw: None }) };
                round_keys.wipe(zero);
                written(&round_keys);
            }
            KeyForm::Each => {
                // SAFETY: the caller keeps the same promise.
                unsafe { all::<Each>(class, items, ahead, Keys { one: place, raw: None }) };
            }
            KeyForm::Raw => {
                let raw = RawKeys::new(zero);
                let keys = Keys { one: raw.place(0), raw: Some(&raw) };
                // SAFETY: the caller keeps the same promise.
                unsafe { all::<Raw>(class, items, ahead, keys) };
                raw.wipe(items.len(), zero);
                written(&raw);
            }
        }
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say, and so are the keys.
    #[inline]
    unsafe fn all<F: Form>(class: &Class, items: &[Item], ahead: &mut Ahead<'_>, keys: Keys<'_>) {
        let zero = _mm512_setzero_si512();
        let scratch = Scratch::new(zero, keys.one);
        if matches!(F::KEYS, KeyForm::One) {
            // SAFETY: a key is at the place.
            unsafe { scratch.idle.weights.set(keys.one) };
        }
        let call = Call { class, items, keys, scratch: &scratch };
        match class.op {
            // SAFETY: the caller keeps the same promise.
            Op::Seal => unsafe { crypt::<F, SEAL>(&call, ahead) },
            // SAFETY: the caller promises that the addresses of items to be opened are what they say.
            Op::Open => unsafe { crypt::<F, OPEN>(&call, ahead) },
            // SAFETY: the caller promises that the addresses of items to be verified are what they say.
            Op::Verify => unsafe { crypt::<F, VERIFY>(&call, ahead) },
        }
        scratch.wipe(items.len(), zero);
        written(&scratch);
        // What registers were put down there.
        stack::wipe();
    }
}

wide_fn! {
    /// # Safety
    /// The items' addresses are what they say.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn crypt<F: Form, const OP: u8>(call: &Call<'_>, ahead: &mut Ahead<'_>) {
        let mut flow = Flow::new(*call);
        let nothing = (flow.idle().hashed, [_mm512_setzero_si512(); 4]);
        // What is not hashed yet: the first quad of the last step, and the second ones of the last two.
        let (mut first, mut seconds) = (nothing, [nothing; 2]);
        let (mut cut, mut ended, mut finished, mut turn) = (0, 0, 0, 0);
        while flow.has_more() {
            // SAFETY: the caller keeps the same promise.
            let a = unsafe { flow.quad::<F, OP, 0>() };
            let ends = flow.ended();
            // SAFETY: the caller promises the items' addresses, those of the second quad among them.
            let b = unsafe { flow.quad::<F, OP, 1>() };
            if flow.ended() > cut {
                ahead.fetch_around(flow.ended() - cut);
                cut = flow.ended();
            }
            if ahead.has_stream {
                a.fetch_later();
                b.fetch_later();
            }
            // SAFETY: the quads are of items, which the caller promises not to be longer.
            let made = unsafe { step::work::<F, OP>(call, [a, b], [&seconds[turn], &first]) };
            (first, seconds[turn]) = ((a.hashed, made[0]), (b.hashed, made[1]));
            if ended >= finished + 4 {
                // SAFETY: they were hashed, the last of them in this step.
                unsafe { finish::finish::<F, OP>(call, finished) };
                finished += 4;
            }
            (ended, turn) = (ends, 1 - turn);
        }
        for made in [&seconds[turn], &first, &seconds[1 - turn]] {
            // SAFETY: weights are those of the items' keys.
            unsafe { step::absorb(made) };
        }
        // SAFETY: all are hashed.
        unsafe { finish::finish_rest::<F>(call, finished) };
    }
}

/// Operations as parameters.
const SEAL: u8 = Op::Seal as u8;
const OPEN: u8 = Op::Open as u8;
const VERIFY: u8 = Op::Verify as u8;

/// Has what was written to a place written, even if nothing reads it again.
#[inline(always)]
fn written<T: ?Sized>(place: &T) {
    // SAFETY: no instruction is emitted; to the compiler, the memory may be read.
    unsafe {
        asm!("/* {0} */", in(reg) ptr::from_ref(place).cast::<u8>(), options(nostack, preserves_flags))
    };
}
