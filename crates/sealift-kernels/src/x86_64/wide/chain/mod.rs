//! Longer messages, one after the other without a gap: the end of each is hashed beside the first step of the next.
//!
//! A message is cut into steps of eight registers, and in each step AES of these is woven with GHASH of the eight before; what is
//! left behind whole steps is its end. Sixteen blocks share a reduction, each multiplied with a power of its own: powers are read from
//! the expanded key, and none is copied or spread for a message.
#![allow(unsafe_code)]

mod end;
mod pieces;
mod raw;
#[cfg(test)]
mod tests;

use core::{
    arch::{asm, x86_64::*},
    mem::MaybeUninit,
    ptr,
};

use end::{End, Shape};
use pieces::{Constants, Place, RoundKeys, Weights, Woven};
use raw::Records;
use sealift_core::Op;

use super::{
    item::{Ahead, Class, Item, KeyForm, LONG_TEXT, LONGEST_TEXT},
    lane::expand::KEYS,
    zmm::{self, Z, wide_fn},
};
use crate::{
    Path,
    caches::finds_texts,
    model::aes::ROUND_KEYS_MAX,
    schedule::Expanded,
    stack,
    x86_64::{
        cpu::HaveVaes512,
        text::{COUNTER_BLOCKS, CounterBlocks},
    },
};

/// Whether this kernel works messages of a class.
// IMPLEMENTATION NOTE: messages that are only verified are worked one by one (in lanes under raw keys, up to 512 bytes). From 1 KiB on that
// takes no longer than a kernel for many did; 256 and 512 bytes take a quarter to two thirds longer (Zen 4).
pub(super) fn takes(class: &Class) -> bool {
    class.op != Op::Verify && class.text_blocks >= LONG_TEXT
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, the items' addresses are what they say, and no text is longer than `LONGEST_TEXT`.
pub(super) unsafe fn run(token: HaveVaes512, class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
    debug_assert!(takes(class), "{class:?}");
    match class.op {
        // SAFETY: the token is proof of the instructions; the caller keeps the same promise.
        Op::Seal => unsafe { by_keys::<true>(token, class, items, ahead) },
        // SAFETY: the token is proof of the instructions; the caller promises the rest, and that these are opened.
        Op::Open => unsafe { by_keys::<false>(token, class, items, ahead) },
        Op::Verify => unreachable!("verified one by one"),
    }
}

wide_fn! {
    /// # Safety
    /// As for [`run`].
    unsafe fn by_keys<const SEALS: bool>(token: HaveVaes512, class: &Class, items: &[Item], ahead: &mut Ahead<'_>) {
        let prefetches = !finds_texts(Path::Vaes512(token));
        let call = Call {
            class,
            prefetches_messages: !ahead.items.is_empty() && (prefetches || !ahead.has_stream),
            prefetches_texts: ahead.has_stream && prefetches,
            prefetches_keys: class.keys == KeyForm::Each && ahead.asks_for_keys,
        };
        match class.keys {
            // SAFETY: the caller keeps the same promise.
            KeyForm::One => unsafe { under_one_key::<SEALS>(&call, items, ahead) },
            KeyForm::Each => {
                // SAFETY: the caller keeps the same promise; each message has an expanded key.
                unsafe { work::<SEALS, false>(&call, items, ahead, ptr::null()) };
                stack::wipe_kernel();
            }
            // SAFETY: the caller keeps the same promise.
            KeyForm::Raw => unsafe { under_raw_keys::<SEALS>(&call, items, ahead) },
        }
    }
}

wide_fn! {
    /// # Safety
    /// As for [`run`], and all messages have the first one's key.
    #[inline(never)]
    unsafe fn under_one_key<const SEALS: bool>(call: &Call<'_>, items: &[Item], ahead: &mut Ahead<'_>) {
        let Some(first) = items.first() else { return };
        let mut keys = [_mm512_setzero_si512(); ROUND_KEYS_MAX];
        // SAFETY: a key is there, of so many rounds.
        unsafe { put_in_lanes(first.key, call.class.rounds, &mut keys) };
        // SAFETY: the caller keeps the same promise, and the key is in lanes.
        unsafe { work::<SEALS, true>(call, items, ahead, keys.as_ptr().cast()) };
        keys.fill(_mm512_setzero_si512());
        force_write(&keys);
        stack::wipe_kernel();
    }
}

wide_fn! {
    /// # Safety
    /// As for [`run`], and keys are raw.
    // Not a part of its caller, which would have room for sixteen keys in every call.
    #[inline(never)]
    unsafe fn under_raw_keys<const SEALS: bool>(call: &Call<'_>, items: &[Item], ahead: &mut Ahead<'_>) {
        let mut room = MaybeUninit::zeroed();
        // SAFETY: zeros are records.
        let records: &mut Records = unsafe { room.assume_init_mut() };
        for items in items.chunks(KEYS) {
            // SAFETY: the caller promises keys of so many rounds.
            let items = &unsafe { records.expand(call.class.rounds, items) }[..items.len()];
            // SAFETY: the caller keeps the same promise, and these keys are expanded ones.
            unsafe { work::<SEALS, false>(call, items, ahead, ptr::null()) };
        }
        records.wipe(items.len());
        force_write(records);
        // From here, because this frame is larger than what a caller would wipe.
        stack::wipe_kernel();
    }
}

/// The class of a call, and for what the cache is prefetched while it is worked.
struct Call<'c> {
    class: &'c Class,
    /// The messages of the next window.
    prefetches_messages: bool,
    /// Texts, as if they lay behind each other.
    prefetches_texts: bool,
    /// Expanded keys.
    prefetches_keys: bool,
}

wide_fn! {
    /// # Safety
    /// As for [`run`], and keys are expanded ones; with `IN_LANES` all messages have the one whose round keys are at `lanes`, each in
    /// all lanes.
    // Not a part of its caller, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn work<const SEALS: bool, const IN_LANES: bool>(
        call: &Call<'_>,
        items: &[Item],
        ahead: &mut Ahead<'_>,
        lanes: *const u8,
    ) {
        let Some(first) = items.first() else { return };
        let &Call { class, prefetches_messages, prefetches_texts, prefetches_keys } = call;
        let zero = _mm512_setzero_si512();
        let order = _mm512_broadcast_i32x4(_mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
        let constants = Constants { order, modulus: _mm512_set1_epi64(0xc2_i64 << 56) };
        let (mut rows, mut hash, mut end, mut shape) = ([zero; 8], zero, End::none(first, zero), Shape::of(first));
        for (i, item) in items.iter().enumerate() {
            if prefetches_messages || prefetches_texts {
                prefetch(call, item, ahead);
            }
            if prefetches_keys && let Some(later) = items.get(i + KEYS_AHEAD) {
                fetch(later.key);
            }
            let keys = RoundKeys { first: if IN_LANES { lanes } else { item.key }, rounds: class.rounds };
            let powers = item.key.wrapping_sub(Expanded::POWERS_BEFORE);
            // SAFETY: the nonce is readable.
            let nonce = _mm512_broadcast_i32x4(unsafe { zmm::load_nonce(item.nonce) });
            // SAFETY: a key is there.
            let base = zmm::xor(nonce, unsafe { keys.round::<IN_LANES>(0) });
            if !shape.is_of(item) {
                shape = Shape::of(item);
            }
            let Shape { steps_bytes, end_bytes, lengths, .. } = shape;
            let mut place = Place { base, counters: COUNTER_BLOCKS.of(2), from: item.input, to: item.output };
            let mut masks = first_and_next(base, 2 + steps_bytes / 16);
            let (mut states, mut nothing) = ([zero; 8], zero);
            let woven = Woven { keys, weights: end.rows.weights, constants, hash };
            // Macros, because the compiler does not inline functions as large as these.
            macro_rules! begin {
                (@ $n:literal $finishes:literal $name:ident) => {
                    // SAFETY: keys and powers are there, and where the piece finishes what it begins, a step of text.
                    unsafe { pieces::$name::<$n, $finishes, SEALS, IN_LANES>(woven, &mut rows, &mut masks, place, &mut states) }
                };
                ($n:literal $finishes:literal) => {
                    match end.rows.count {
                        7.. => begin!(@ $n $finishes after_8),
                        5.. => begin!(@ $n $finishes after_6),
                        3.. => begin!(@ $n $finishes after_4),
                        1.. => begin!(@ $n $finishes after_2),
                        0 => begin!(@ $n $finishes after_0),
                    }
                };
            }
            let before = match steps_bytes {
                0 if end_bytes <= STEP_BYTES / 2 => begin!(4 false),
                0 => begin!(8 false),
                _ => begin!(8 true),
            };
            hash = zero;
            if item.aad_bytes > 0 {
                // SAFETY: a key is there.
                hash = unsafe { end::aad_hash(item, powers) };
            }
            let weights = Weights { first: powers, last: powers };
            let woven = |hash| Woven { keys, weights, constants, hash };
            for _ in 1..steps_bytes / STEP_BYTES {
                place = place.next();
                // SAFETY: another step of the text is left, and keys and powers are there.
                hash = unsafe { pieces::within::<8, true, SEALS, IN_LANES>(woven(hash), &mut rows, &mut nothing, place, &mut states) };
            }
            // SAFETY: the items are what they say, and this is the hash of the message before.
            unsafe { end.conclude::<SEALS>(class, before) };
            (end.item, end.mask) = (item, masks);
            if steps_bytes > 0 {
                place = place.next();
            }
            if end_bytes <= 16 {
                // SAFETY: the text's last bytes are left.
                end.rest = unsafe { end::rest::<SEALS>(masks, place, end_bytes, lengths) };
                end.set_weights(&shape, powers);
                continue;
            }
            macro_rules! put {
                ($n:literal) => {{
                    // SAFETY: a key is there.
                    let last_key = unsafe { keys.round::<IN_LANES>(class.rounds) };
                    // SAFETY: the text's last bytes are left, of so many registers.
                    unsafe { end::put::<SEALS, $n>(&mut rows, &states, last_key, place, &shape) };
                }};
                (@ $n:literal) => {{
                    // SAFETY: keys and powers are there.
                    hash = unsafe {
                        pieces::within::<$n, false, SEALS, IN_LANES>(woven(hash), &mut rows, &mut nothing, place, &mut states)
                    };
                    put!($n);
                }};
            }
            // IMPLEMENTATION NOTE: ranges, because a jump to one of many places is foreseen less often than two or three branches: with
            // a table of places messages of some lengths took 50 cycles longer (Zen 4).
            match (steps_bytes, end_bytes) {
                (0, 449..) => put!(8),
                (0, 385..) => put!(7),
                (0, 321..) => put!(6),
                (0, 257..) => put!(5),
                (0, 193..) => put!(4),
                (0, _) => put!(3),
                (_, 449..) => put!(@ 8),
                (_, 385..) => put!(@ 7),
                (_, 321..) => put!(@ 6),
                (_, 257..) => put!(@ 5),
                (_, 193..) => put!(@ 4),
                (_, 129..) => put!(@ 3),
                (_, 65..) => put!(@ 2),
                (_, _) => put!(@ 1),
            }
            end.set_weights(&shape, powers);
            if shape.rest > 0 {
                end.rest = _mm512_maskz_mov_epi64(0b11, lengths);
            }
        }
        // SAFETY: powers are there.
        hash = unsafe { end::hash_rows(rows, end.rows, hash) };
        // SAFETY: the items are what they say.
        unsafe { end.conclude::<SEALS>(class, hash) };
    }
}

wide_fn! {
    /// The first counter block of a message, and in the lane behind it another one, both after the first round key.
    #[inline]
    fn first_and_next(base: Z, next: usize) -> Z {
        // SAFETY: there are as many counters as the longest text has.
        let next = unsafe { zmm::load(COUNTER_BLOCKS.of(next - 1)) };
        // SAFETY: a register of counters begins with the first.
        let first = unsafe { zmm::load(COUNTER_BLOCKS.of(1)) };
        zmm::xor(base, _mm512_mask_mov_epi64(next, 0b11, first))
    }
}

wide_fn! {
    /// Puts round keys down, each in all lanes.
    ///
    /// # Safety
    /// They are there.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn put_in_lanes(from: *const u8, rounds: usize, to: &mut [Z; ROUND_KEYS_MAX]) {
        for (i, key) in to.iter_mut().enumerate().take(rounds + 1) {
            // SAFETY: the caller promises as many.
            *key = unsafe { zmm::broadcast(from.wrapping_add(16 * i)) };
        }
    }
}

/// Prefetches a message of the next window, and the text a little behind one of this: the processor finds it by itself, but too late where
/// pages begin.
// Not a part of its caller, which would be longer where nothing is prefetched.
#[inline(never)]
fn prefetch(call: &Call<'_>, item: &Item, ahead: &mut Ahead<'_>) {
    if call.prefetches_messages {
        ahead.fetch_around(1);
    }
    if call.prefetches_texts {
        for line in (0..item.text_bytes as usize).step_by(64) {
            zmm::prefetch_near(item.input.wrapping_add(AHEAD + line));
        }
    }
}

/// How far behind a text others are prefetched, as if texts lay behind each other.
const AHEAD: usize = 2 << 10;

/// Prefetches the part of an expanded key that messages read, the longest there is: a loop whose end varies takes longer.
#[inline(always)]
fn fetch(key: *const u8) {
    let before = Expanded::POWERS_BEFORE + Expanded::FOLDED_BEFORE;
    for line in (0..before + 16 * ROUND_KEYS_MAX).step_by(64) {
        zmm::prefetch_near(key.wrapping_sub(before).wrapping_add(line));
    }
}

/// Keeps the compiler from leaving out what was written to a place and is not read again.
#[inline(always)]
fn force_write<T: ?Sized>(place: &T) {
    // SAFETY: no instruction is emitted; to the compiler, the memory may be read.
    unsafe {
        asm!("/* {0} */", in(reg) ptr::from_ref(place).cast::<u8>(), options(nostack, preserves_flags));
    }
}

/// Bytes of a step.
const STEP_BYTES: usize = 512;

/// How many messages before its own a key is prefetched.
// IMPLEMENTATION NOTE: six took as long where texts are in the caches, and a tenth longer where they lie in the last one (Zen 4). Where they come from
// memory and the processor finds them, no key is asked for: texts would wait, 1,420 bytes a tenth longer, 1 KiB a fifth.
const KEYS_AHEAD: usize = 2;

// There are counters for the longest text, from 2 on, and for a register behind it.
const _: () = assert!(CounterBlocks::LEN >= 2 + LONGEST_TEXT / 16 + 4);
