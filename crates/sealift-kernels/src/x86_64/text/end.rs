//! The end of a text: what is left behind its last whole step.

use core::{arch::x86_64::__m128i, ops::Range};

use super::{
    end_registers,
    span::Span,
    steps::{self, Powers, Steps, fetch},
};
use crate::{
    schedule::{Expanded, POWERS},
    x86_64::{
        ghash::{self, Between, Power, Sums},
        isa::Isa,
    },
};

/// Does the same with each of at most eight registers. The compiler does not unroll every loop, and what a loop that is left
/// indexes stays in memory.
macro_rules! each {
    ($i:ident, $register:ident of $array:expr => $body:block) => {
        each!(@ $i, $register, $array, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $register:ident, $array:expr, $body:block, $($at:literal)+) => {$(
        if let Some($register) = $array.get_mut($at) {
            let $i = $at;
            $body
        }
    )+};
}

/// Works the end of a text, while the hash takes in the `M` registers of ciphertext before it, which a seal has left. Returns
/// the hash of all, and of the block of lengths if there is one; `mask` is encrypted meanwhile.
///
/// # Safety
/// `text` is readable and writable for its length, which is at least 1 and at most that of [`end_registers`].
#[inline(always)]
pub(super) unsafe fn end<I: Isa, const SEAL: bool, const M: usize, const X: usize>(
    steps: Steps<'_, I>,
    before: &[I::Register; M],
    text: &Span,
    lengths: Option<__m128i>,
    mask: &mut [__m128i; X],
) -> __m128i {
    macro_rules! registers {
        ($($n:literal)+) => {
            match text.len().div_ceil(I::BYTES) {
                // SAFETY: the caller promises a text of one byte or more, and it has so many registers, the last maybe in part.
                $($n if $n <= end_registers::<I>() => unsafe {
                    registers::<I, SEAL, $n, M, X>(steps, before, text, lengths, mask)
                },)+
                more => unreachable!("an end of {more} registers"),
            }
        };
    }
    registers!(1 2 3 4 5 6 7 8)
}

/// # Safety
/// As for [`end`], and the text has `N` registers, of which the last may be a part.
#[inline(always)]
unsafe fn registers<I: Isa, const SEAL: bool, const N: usize, const M: usize, const X: usize>(
    mut steps: Steps<'_, I>,
    before: &[I::Register; M],
    text: &Span,
    lengths: Option<__m128i>,
    mask: &mut [__m128i; X],
) -> __m128i {
    let isa = steps.isa;
    let blocks = text.len().div_ceil(16);
    // There is a power for one block more than the text has, unless it has as many as there are.
    let has_room = blocks < POWERS;
    let following = usize::from(lengths.is_some() && has_room);
    let first = POWERS - blocks - following;
    let schedule = steps.schedule;
    let powers = InOrder { schedule, first };
    fetch(isa, text, N * I::BYTES);
    let mut input = [isa.broadcast(&0); N];
    // A part of a register takes long to put together. What a seal loads before its rounds is put down for them.
    let early = if SEAL { N - 1 } else { 0 };
    // SAFETY: the caller promises the text.
    unsafe { load(isa, text, early..N, &mut input) };
    let mut sums = Sums::nothing(isa);
    let states = if let (true, Some(step)) = (SEAL && I::HAS_PIECES, before.first_chunk()) {
        I::weave_piece::<N>(&mut steps, step)
    } else {
        let mut states = steps.begin::<N>();
        if SEAL {
            steps.take_in(&mut states, before, mask);
            steps.rounds(M + 1, &mut states, mask);
        } else {
            sums = steps.weave(&mut states, &input, powers, mask);
            steps.rounds(N + 1, &mut states, mask);
        }
        states
    };
    // SAFETY: the caller promises the text.
    unsafe { load(isa, text, 0..early, &mut input) };
    // SAFETY: the caller promises the text.
    let mut output = unsafe { store(&steps, &states, &input, text) };
    if SEAL {
        each!(i, register of output => {
            let block = isa.reverse(*register);
            let y = if i == 0 { isa.xor(block, steps.hash) } else { block };
            sums = powers.add(isa, sums, y, i, ());
        });
    }
    match lengths {
        Some(block) if has_room => {
            let h = Power::in_order(isa, schedule, POWERS - 1);
            isa.sum(sums.and(isa, isa.first_lane(block), h).reduced(isa))
        }
        Some(block) => ghash::absorb_block(isa.into(), schedule, isa.sum(sums.reduced(isa)), block),
        None => isa.sum(sums.reduced(isa)),
    }
}

/// Powers in order, from an entry of the tables on.
#[derive(Clone, Copy)]
pub(super) struct InOrder<'s> {
    pub(super) schedule: &'s Expanded,
    pub(super) first: usize,
}

impl<I: Isa> Powers<I> for InOrder<'_> {
    #[inline(always)]
    fn add(
        &self,
        isa: I,
        sums: Sums<I>,
        y: I::Register,
        register: usize,
        between: impl Between,
    ) -> Sums<I> {
        let power = Power::in_order(isa, self.schedule, self.first + register * I::LANES);
        sums.and_between(isa, y, &power, between)
    }
}

/// Some registers of the text, each of which is loaded once, with zeros behind it.
///
/// # Safety
/// It is readable, and has `N` registers, of which the last may be a part.
#[inline(always)]
pub(super) unsafe fn load<I: Isa, const N: usize>(
    isa: I,
    text: &Span,
    which: Range<usize>,
    input: &mut [I::Register; N],
) {
    each!(i, register of input => {
        let (from, left) = (text.from().wrapping_add(i * I::BYTES), text.len() - i * I::BYTES);
        if !which.contains(&i) {
            // At another time.
        } else if i + 1 < N || left == I::BYTES {
            // SAFETY: the caller promises N registers, and only the last may be a part; here it isn't.
            *register = unsafe { isa.load(from) };
        } else {
            // SAFETY: so many bytes are left, fewer than a register has.
            *register = unsafe { isa.load_part(from, left) };
        }
    });
}

/// The last round and the text, of which the output is returned, with zeros behind it.
///
/// # Safety
/// It is writable, and has `N` registers, of which the last may be a part.
#[inline(always)]
pub(super) unsafe fn store<I: Isa, const N: usize>(
    steps: &Steps<'_, I>,
    states: &[I::Register; N],
    input: &[I::Register; N],
    text: &Span,
) -> [I::Register; N] {
    let isa = steps.isa;
    let key = steps.round_key(steps.last_round());
    let mut output = *states;
    each!(i, register of output => {
        let left = text.len() - i * I::BYTES;
        *register = isa.aes_last(*register, isa.xor(key, input[i]));
        if i + 1 < N || left == I::BYTES {
            // SAFETY: the caller promises N registers, and only the last may be a part; here it isn't.
            unsafe { steps::store(isa, text, i, *register) };
        } else {
            let to = text.to().wrapping_add(i * I::BYTES);
            *register = isa.keep(*register, left);
            // SAFETY: so many bytes are left, fewer than a register has.
            unsafe { isa.store_part(to, *register, left) };
        }
    });
    output
}
