//! Long texts: AES of eight registers, woven with the way of the eight before into the hash.
//!
//! The hash runs in lanes: lane i sums blocks i, i + n, ..., and each register is multiplied with the same
//! power in all lanes. The last registers are multiplied with the last powers in order, so that the sum of
//! the lanes is the hash.
#![allow(unsafe_code)]

mod counters;

use core::{arch::x86_64::__m128i, hint::black_box};

use sealift_core::Op;

use counters::Counters;

use super::{
    ctr::{First, Span},
    ghash,
    isa::Isa,
};
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, POWERS},
};

/// Texts of at least so many bytes are worked here.
pub(super) const fn least_bytes<I: Isa>() -> usize {
    2 * STEP * I::BYTES
}

/// Seals or opens as many steps of the text as are in it, and takes their ciphertext into the hash.
///
/// `counters` are those of the first register, and then of the first that is left. Each register of an
/// open is loaded once, and what is hashed is what is decrypted.
///
/// # Safety
/// `text` is readable and writable for its length, at least [`least_bytes`].
#[inline(always)]
pub(super) unsafe fn crypt<I: Isa>(
    isa: I,
    schedule: &Expanded,
    op: Op,
    first: First,
    counters: &mut I::Register,
    hash: __m128i,
    text: &mut Span,
) -> __m128i {
    let keys = round_keys(isa, schedule);
    let powers = powers(isa, schedule);
    let rounds = schedule.round_keys().len() - 1;
    // The compiler would load all of it before the loop, into registers that it does not have.
    let table = black_box(Table::<I> { keys: &keys, rounds, powers: &powers });
    let hash = isa.first_lane(hash);
    let mut now = Counters::new(*counters, first);
    let (hash, last) = match op {
        // SAFETY: the caller keeps the same promise.
        Op::Seal => unsafe { seal(isa, table, &mut now, hash, text) },
        // SAFETY: the caller promises a text of two steps or more to read and write, and one would do.
        _ => unsafe { open(isa, table, &mut now, hash, text) },
    };
    *counters = now.next();
    finish(isa, schedule, table, hash, &last)
}

/// How far before they are needed texts are asked for. The processor finds a text's lines by itself, but
/// begins anew with each page.
const AHEAD: usize = 4 << 10;

/// The same for results. What follows a result is most often the next one.
const AHEAD_TO_WRITE: usize = 2 << 10;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Registers of a step.
const STEP: usize = 8;

/// A key, each round key and each power in all lanes.
#[derive(Clone, Copy)]
struct Table<'t, I: Isa> {
    keys: &'t [I::Register; ROUND_KEYS_MAX],
    rounds: usize,
    /// What the registers of a step are multiplied with, and the same folded: see `ghash`.
    powers: &'t [(I::Register, I::Register); STEP],
}

#[inline(always)]
fn round_keys<I: Isa>(isa: I, schedule: &Expanded) -> [I::Register; ROUND_KEYS_MAX] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = schedule.first_blocks();
    macro_rules! all {
        ($($key:ident)+) => { [$(isa.broadcast($key)),+] };
    }
    all!(a b c d e f g h i j k l m n o)
}

#[inline(always)]
fn powers<I: Isa>(isa: I, schedule: &Expanded) -> [(I::Register, I::Register); STEP] {
    let of = |register: usize| {
        let at = POWERS - I::LANES * (STEP - register).min(known::<I>());
        (isa.broadcast(&schedule.powers[at]), isa.broadcast(&schedule.folded[at]))
    };
    let mut powers = [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)];
    let missing = STEP - known::<I>();
    for i in (0..missing).rev() {
        let (h, folded) = powers[missing];
        let (low, high) = isa.multiply(powers[i + known::<I>()].0, h, folded);
        let power = isa.reduce(low, high);
        powers[i] = (power, isa.reduce(power, isa.broadcast(&0)));
    }
    powers
}

/// How many of the powers of a step are in a schedule.
const fn known<I: Isa>() -> usize {
    if POWERS / I::LANES < STEP { POWERS / I::LANES } else { STEP }
}

/// Seals: a step is hashed while the next one is encrypted. Returns the hash of all but the last step, in
/// lanes, and the ciphertext of that.
///
/// # Safety
/// `text` is readable and writable for its length, which is at least that of a step.
#[inline(always)]
unsafe fn seal<I: Isa>(
    isa: I,
    table: Table<'_, I>,
    counters: &mut Counters<I>,
    mut hash: I::Register,
    text: &mut Span,
) -> (I::Register, [I::Register; STEP]) {
    let mut states = counters.blocks(isa, table.keys[0]);
    rounds(isa, table, 1, &mut states);
    // SAFETY: the caller promises a step of text.
    let input = unsafe { load(isa, text) };
    // SAFETY: the caller promises a step to write, too, and nothing was taken from the text yet.
    let mut last = unsafe { apply(isa, table, &states, &input, text) };
    while text.len() >= STEP * I::BYTES {
        let mut states = counters.blocks(isa, table.keys[0]);
        hash = woven_rounds(isa, table, &mut states, hash, &last);
        rounds(isa, table, STEP + 1, &mut states);
        // SAFETY: a step of text is left.
        let input = unsafe { load(isa, text) };
        // SAFETY: the step that was just read is still left, and the text is writable for its length.
        last = unsafe { apply(isa, table, &states, &input, text) };
    }
    (hash, last)
}

/// Opens: a step is hashed while it is decrypted, but for the last one. Returns the same.
///
/// # Safety
/// `text` is readable and writable for its length, which is at least that of a step.
#[inline(always)]
unsafe fn open<I: Isa>(
    isa: I,
    table: Table<'_, I>,
    counters: &mut Counters<I>,
    mut hash: I::Register,
    text: &mut Span,
) -> (I::Register, [I::Register; STEP]) {
    while text.len() >= 2 * STEP * I::BYTES {
        // SAFETY: a step of text is left.
        let input = unsafe { load(isa, text) };
        let mut states = counters.blocks(isa, table.keys[0]);
        hash = woven_rounds(isa, table, &mut states, hash, &input);
        rounds(isa, table, STEP + 1, &mut states);
        // SAFETY: the step that was just read is still left, and the text is writable for its length.
        unsafe { apply(isa, table, &states, &input, text) };
    }
    // SAFETY: a step of text is left.
    let input = unsafe { load(isa, text) };
    let mut states = counters.blocks(isa, table.keys[0]);
    rounds(isa, table, 1, &mut states);
    // SAFETY: the step that was just read is the last one, and the text is writable for its length.
    unsafe { apply(isa, table, &states, &input, text) };
    (hash, input)
}

/// Rounds from one on, but for the last.
#[inline(always)]
fn rounds<I: Isa>(isa: I, table: Table<'_, I>, from: usize, states: &mut [I::Register; STEP]) {
    for key in &table.keys[from..table.rounds] {
        for state in &mut *states {
            *state = isa.pin(isa.aes(*state, *key));
        }
    }
}

/// The first [`STEP`] rounds, and what a step's ciphertext makes of the hash.
#[inline(always)]
fn woven_rounds<I: Isa>(
    isa: I,
    table: Table<'_, I>,
    states: &mut [I::Register; STEP],
    hash: I::Register,
    texts: &[I::Register; STEP],
) -> I::Register {
    let zero = isa.broadcast(&0);
    let mut sums = (zero, zero);
    macro_rules! round {
        ($round:literal, $y:expr, $i:literal) => {
            woven(isa, &table.keys[$round], states, $y, &table.powers[$i], &mut sums)
        };
    }
    round!(1, isa.xor(isa.reverse(texts[0]), hash), 0);
    round!(2, isa.reverse(texts[1]), 1);
    round!(3, isa.reverse(texts[2]), 2);
    round!(4, isa.reverse(texts[3]), 3);
    round!(5, isa.reverse(texts[4]), 4);
    round!(6, isa.reverse(texts[5]), 5);
    round!(7, isa.reverse(texts[6]), 6);
    round!(8, isa.reverse(texts[7]), 7);
    isa.reduce(sums.0, sums.1)
}

/// A round, and the product of a register.
#[inline(always)]
fn woven<I: Isa>(
    isa: I,
    key: &I::Register,
    states: &mut [I::Register; STEP],
    y: I::Register,
    (h, folded): &(I::Register, I::Register),
    (low, high): &mut (I::Register, I::Register),
) {
    let mut round = |first: usize| {
        for state in &mut states[first..first + STEP / 4] {
            *state = isa.pin(isa.aes(*state, *key));
        }
    };
    round(0);
    let a = isa.pin(isa.product::<0x00>(y, *folded));
    round(2);
    let b = isa.pin(isa.product::<0x01>(y, *h));
    *low = isa.pin(isa.xor(isa.xor(*low, a), b));
    round(4);
    let c = isa.pin(isa.product::<0x10>(y, *folded));
    round(6);
    let d = isa.pin(isa.product::<0x11>(y, *h));
    *high = isa.pin(isa.xor(isa.xor(*high, c), d));
}

/// A step of text, loaded once, and the cache asked for a later one if it is far.
///
/// # Safety
/// A step of text is readable.
#[inline(always)]
unsafe fn load<I: Isa>(isa: I, text: &Span) -> [I::Register; STEP] {
    if text.is_far() {
        let (from, to) = (text.ahead(AHEAD, STEP * I::BYTES), text.to());
        for line in (0..STEP * I::BYTES).step_by(LINE) {
            isa.into().prefetch(from.wrapping_add(line));
            isa.into().prefetch_to_write(to.wrapping_add(AHEAD_TO_WRITE + line));
        }
    }
    let mut input = [isa.broadcast(&0); STEP];
    for (i, register) in input.iter_mut().enumerate() {
        // SAFETY: the caller promises a step.
        *register = unsafe { isa.load(text.from().wrapping_add(i * I::BYTES)) };
    }
    input
}

/// The last round and a step of text, of which the output is returned.
///
/// # Safety
/// A step of text is writable.
#[inline(always)]
unsafe fn apply<I: Isa>(
    isa: I,
    table: Table<'_, I>,
    states: &[I::Register; STEP],
    input: &[I::Register; STEP],
    text: &mut Span,
) -> [I::Register; STEP] {
    let key = table.keys[table.rounds];
    let mut output = *states;
    for (i, register) in output.iter_mut().enumerate() {
        *register = isa.aes_last(*register, isa.xor(key, input[i]));
        // SAFETY: the caller promises a step.
        unsafe { isa.store(text.to().wrapping_add(i * I::BYTES), *register) };
    }
    text.advance(STEP * I::BYTES);
    output
}

/// The hash with the last step.
#[inline(always)]
fn finish<I: Isa>(
    isa: I,
    schedule: &Expanded,
    table: Table<'_, I>,
    mut hash: I::Register,
    last: &[I::Register; STEP],
) -> __m128i {
    let (lanes, in_order) = last.split_at(STEP - known::<I>());
    if !lanes.is_empty() {
        let zero = isa.broadcast(&0);
        let (mut low, mut high) = (zero, zero);
        for (text, (h, folded)) in lanes.iter().zip(&table.powers[STEP - lanes.len()..]) {
            let y = isa.xor(isa.reverse(*text), hash);
            hash = zero;
            let (more_low, more_high) = isa.multiply(y, *h, *folded);
            low = isa.xor(low, more_low);
            high = isa.xor(high, more_high);
        }
        hash = isa.reduce(low, high);
    }
    ghash::absorb_group(isa, schedule, hash, in_order, in_order.len() * I::LANES)
}
