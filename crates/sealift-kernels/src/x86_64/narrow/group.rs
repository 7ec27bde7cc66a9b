//! Groups of short messages through AES, each while the one before goes through GHASH.
//!
//! A message has `R` registers of counters: those of its `T` blocks of text, and behind them the one that
//! masks its tag. What is hashed lies in as many: its ciphertext, and behind it its lengths. Where the text fills
//! registers, the last counter and the lengths have one block each to themselves: see [`has_end`].
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use sealift_core::{Op, Status};

use super::{
    hash::{self, Sums},
    tag,
    text::{self, Text},
    width::Width,
};
use crate::{
    schedule::{Expanded, POWERS},
    verdict::public,
    x86_64::{
        cpu::HaveAesNi,
        isa::Isa,
        window::{
            item::{self, Ahead, Class, Item, KeyForm},
            spare::Groups,
        },
    },
};

/// What the messages of a call have in common.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(super) op: Op,
    pub(super) rounds: usize,
    pub(super) tag_bytes: usize,
    pub(super) has_plain_nonces: bool,
    pub(super) text_blocks: usize,
    /// About: only whether there are any must be right.
    pub(super) aad_blocks: usize,
}

impl Call {
    pub(super) fn of(class: &Class) -> Call {
        debug_assert!(class.keys != KeyForm::Raw, "raw keys are worked by `run_fresh`");
        let Class { op, rounds, tag_bytes, has_plain_nonces, text_blocks, aad_blocks, .. } = *class;
        Call { op, rounds, tag_bytes, has_plain_nonces, text_blocks, aad_blocks }
    }

    /// A call for messages that are alike, of which this is one.
    pub(super) fn like(item: &Item, rounds: usize, tag_bytes: usize) -> Call {
        Call {
            op: item.op,
            rounds,
            tag_bytes,
            has_plain_nonces: item.nonce_bytes == 12,
            text_blocks: (item.text_bytes as usize).div_ceil(16),
            aad_blocks: usize::from(item.aad_bytes).div_ceil(16),
        }
    }
}

/// Whether messages can be worked together under keys of as many rounds. Without a text is as with one block of it.
pub(super) fn are_alike(a: &Item, b: &Item) -> bool {
    let of = |item: &Item| {
        let blocks = item.text_bytes.div_ceil(16).max(1);
        (item.op, blocks, item.aad_bytes > 0, item.nonce_bytes == 12)
    };
    of(a) == of(b)
}

/// Whether a text of so many blocks fills registers of two blocks or of four, so that another one would have but one block.
const fn has_end<W: Width>(text_blocks: usize) -> bool {
    W::LANES > 1 && text_blocks.is_multiple_of(W::LANES)
}

/// Counters on their way through AES.
#[derive(Clone, Copy)]
struct State<W: Width, const R: usize> {
    registers: [W::Register; R],
    /// What will mask the tag, if that is not in the registers.
    end: __m128i,
}

/// What is hashed of a group.
struct Hashed<W: Width, const N: usize, const R: usize> {
    /// Products of the aad.
    sums: [Sums<W>; N],
    /// Ciphertext and, if these are in the registers, lengths, reversed.
    blocks: [[W::Register; R]; N],
    /// What hides the hash.
    masks: [__m128i; N],
}

/// Works messages that are alike, of `T` blocks of text, or of none if `T` is 1.
///
/// # Safety
/// The items' addresses are what they say, their keys are expanded ones, and nonces that are not plain are
/// [`Nonces`](super::nonces::Nonces).
#[inline(always)]
pub(super) unsafe fn groups<W: Width, const T: usize, const N: usize, const R: usize>(
    w: W,
    call: &Call,
    groups: &Groups<'_, N>,
    ahead: &mut Ahead<'_>,
) {
    const {
        assert!(R == (T + !has_end::<W>(T) as usize).div_ceil(W::LANES));
        assert!(W::LANES * R <= Text::<T>::COUNTERS.len());
    };
    let zero = w.broadcast(&0);
    let mut hashed = Hashed {
        sums: [Sums::nothing(w); N],
        blocks: [[zero; R]; N],
        masks: [w.lane::<0>(zero); N],
    };
    let (mut before, mut live) = groups.get(0);
    for index in 0..=groups.len() {
        let is_behind = index == groups.len();
        let (group, group_live) = if is_behind { (before, live) } else { groups.get(index) };
        if !ahead.items.is_empty() {
            fetch(ahead, N);
        }
        if ahead.has_far_keys && index + AHEAD < groups.len() {
            fetch_keys::<W>(call, groups.get(index + AHEAD).0);
        }
        // SAFETY: the caller promises the items: nonces and expanded keys are readable.
        let mut states = unsafe { start::<W, T, N, R>(w, call, group) };
        let rounds_end = 16 * if is_behind { 1 } else { call.rounds };
        let concluded = if index == 0 { &[][..] } else { &before[..] };
        // SAFETY: the caller promises the items, also those of the group before, and expanded keys.
        let wrong = unsafe {
            weave::<W, T, N, R>(w, call, &mut states, group, rounds_end, concluded, &hashed)
        };
        // SAFETY: the caller promises expanded keys, which have a round key for each of the call's rounds.
        let streams = unsafe { last_round::<W, T, N, R>(w, call, &states, group) };
        if !public(wrong & live == 0) {
            // SAFETY: the caller promises the items: outputs and statuses of the group before are writable.
            unsafe { fail(before, wrong & live) };
        }
        if is_behind {
            return;
        }
        match call.op {
            // SAFETY: the caller promises the items: texts of a seal are readable and writable.
            Op::Seal => unsafe { texts::<W, T, N, R, true, true>(w, &streams, group, &mut hashed) },
            // SAFETY: the caller promises the items: texts of an open are readable and writable.
            Op::Open => unsafe {
                texts::<W, T, N, R, false, true>(w, &streams, group, &mut hashed)
            },
            // SAFETY: the caller promises the items: texts of a verify are readable, and none is written.
            Op::Verify => unsafe {
                texts::<W, T, N, R, false, false>(w, &streams, group, &mut hashed)
            },
        }
        if call.aad_blocks > 0 {
            for (sums, item) in hashed.sums.iter_mut().zip(group) {
                // One block or none stand together.
                let text = if T == 1 { usize::from(item.text_bytes > 0) } else { T };
                // SAFETY: the caller promises it; a key has powers for as many blocks as a message here may have.
                *sums = unsafe { hash::aad(w, item, text + 1) };
            }
        }
        (before, live) = (group, group_live);
    }
}

/// Asks for the next messages. Not a part of what calls it, which needs its registers.
#[inline(never)]
fn fetch(ahead: &mut Ahead<'_>, messages: usize) {
    ahead.fetch(messages);
}

/// Keys from afar are asked for so many groups ahead.
const AHEAD: usize = 2;

/// Asks for the keys of the first groups, which nobody has asked for ahead.
pub(super) fn fetch_first_keys<W: Width, const N: usize>(call: &Call, groups: &Groups<'_, N>) {
    for index in 0..AHEAD.min(groups.len()) {
        fetch_keys::<W>(call, groups.get(index).0);
    }
}

/// Asks for the round keys of messages and the powers that they are hashed with. As `fetch`, by itself.
#[inline(never)]
fn fetch_keys<W: Width>(call: &Call, items: &[Item]) {
    let hashed = call.text_blocks.max(1) + call.aad_blocks + 1;
    for item in items {
        let powers = hash::powers(item.key, hashed.min(POWERS));
        // To the end of the last round key's line.
        let round_keys = (call.rounds + 2).next_multiple_of(4) - 1;
        item::lines(powers, 16 * (hashed.min(POWERS) + round_keys));
        if W::HAS_FOLDED {
            // To the end of the last one's line.
            let read = 16 * (hashed.min(POWERS) + 3);
            item::lines(powers.wrapping_sub(Expanded::FOLDED_BEFORE), read);
        }
    }
}

/// Counters before the first round.
///
/// # Safety
/// The nonces and keys are readable; nonces that are not plain are [`Nonces`](super::nonces::Nonces).
#[inline(always)]
unsafe fn start<W: Width, const T: usize, const N: usize, const R: usize>(
    w: W,
    call: &Call,
    group: &[Item; N],
) -> [State<W, R>; N] {
    let narrow: HaveAesNi = w.into();
    let mut states = [State { registers: [w.broadcast(&0); R], end: narrow.broadcast(&0) }; N];
    if !call.has_plain_nonces {
        for (states, item) in states.iter_mut().zip(group) {
            // SAFETY: the caller promises an expanded key, whose first round key is there.
            let key = unsafe { round_key(w, item.key, 0) };
            // SAFETY: the caller promises that the nonce was hashed to a block, which is aligned.
            let first = w.broadcast(unsafe { &*item.nonce.cast::<u128>() });
            if const { has_end::<W>(T) } {
                states.end = w.lane::<0>(w.xor(w.reverse(first), key));
            }
            for (register, state) in states.registers.iter_mut().enumerate() {
                let blocks = Text::<T>::LATER.as_ptr().wrapping_add(W::LANES * register);
                // SAFETY: the table has a number for each lane of all registers, as `groups` makes sure.
                let blocks = unsafe { w.load_table(blocks.cast()) };
                *state = w.xor(w.reverse(w.add(first, blocks)), key);
            }
        }
        return states;
    }
    for (states, item) in states.iter_mut().zip(group) {
        // SAFETY: the caller promises an expanded key, whose first round key is there.
        let key = unsafe { round_key(narrow, item.key, 0) };
        // SAFETY: the caller promises a readable nonce, and those of this call have 12 bytes.
        let nonce = narrow.xor(unsafe { text::nonce(narrow, item.nonce) }, key);
        if const { has_end::<W>(T) } {
            states.end = narrow.xor(nonce, narrow.broadcast(&text::FIRST_COUNTER));
        }
        let nonce = w.spread(nonce);
        for (register, state) in states.registers.iter_mut().enumerate() {
            let counters = Text::<T>::COUNTERS.as_ptr().wrapping_add(W::LANES * register);
            // SAFETY: the table has one for each lane of all registers, as `groups` makes sure.
            *state = w.xor(nonce, unsafe { w.load_table(counters.cast()) });
        }
    }
    states
}

/// Rounds of AES up to the key that lies `rounds_end` bytes behind the first, and between them the hashes of
/// another group, whose tags are written or compared. Returns two bits for each of its messages, set if its
/// tag is wrong.
///
/// # Safety
/// Keys are expanded, and the items concluded are what they say.
#[inline(always)]
unsafe fn weave<W: Width, const T: usize, const N: usize, const R: usize>(
    w: W,
    call: &Call,
    states: &mut [State<W, R>; N],
    group: &[Item; N],
    rounds_end: usize,
    concluded: &[Item],
    hashed: &Hashed<W, N, R>,
) -> u16 {
    let keys = group.each_ref().map(|item| item.key);
    let (mut round_at, mut wrong) = (16, 0);
    for (message, item) in concluded.iter().enumerate().take(N) {
        let mut sums = hashed.sums[message];
        // Where there is no power for the block of lengths, too, the others are hashed first.
        let has_room = const { T < POWERS };
        let table = hash::powers(item.key, T + usize::from(has_room));
        // A closure would not be inlined.
        macro_rules! next_round {
            () => {
                if round_at < rounds_end {
                    // SAFETY: the caller promises expanded keys, which have a round key at every place before `rounds_end`.
                    unsafe { one_round::<W, T, N, R>(w, states, &keys, round_at) };
                    round_at += 16;
                }
            };
        }
        for (register, blocks) in hashed.blocks[message].iter().enumerate() {
            next_round!();
            let powers = table.wrapping_add(W::BYTES * register);
            // SAFETY: within the tables, or a few blocks behind them, which lanes of zeros meet.
            unsafe { w.add_products(&mut sums, blocks, powers) };
        }
        if const { has_end::<W>(T) } {
            next_round!();
            let narrow: HaveAesNi = w.into();
            let mut block = hash::lengths(narrow, item);
            if !has_room {
                block = narrow.xor(block, sums.reduced(w));
                sums = Sums::nothing(w);
            }
            let is_short = has_room && call.aad_blocks == 0;
            // SAFETY: the last power of an expanded key.
            sums = unsafe { sums.and_block(w, block, is_short, hash::powers(item.key, 1)) };
        }
        let tag = tag::masked(w, sums.reduced(w), hashed.masks[message]);
        // SAFETY: the caller promises that the item is what it says: its tag is writable for a seal, else readable.
        wrong |= unsafe { tag::conclude(w, call, item, tag) } << (2 * message);
    }
    while round_at < rounds_end {
        // SAFETY: the caller promises expanded keys, which have a round key at every place before `rounds_end`.
        unsafe { one_round::<W, T, N, R>(w, states, &keys, round_at) };
        round_at += 16;
    }
    wrong
}

/// # Safety
/// The keys are expanded ones that have a round key there.
#[inline(always)]
unsafe fn one_round<W: Width, const T: usize, const N: usize, const R: usize>(
    w: W,
    states: &mut [State<W, R>; N],
    keys: &[*const u8; N],
    round_at: usize,
) {
    for (states, key) in states.iter_mut().zip(keys) {
        // SAFETY: the caller promises an expanded key with a round key there.
        let key = unsafe { round_key(w, *key, round_at) };
        for state in &mut states.registers {
            *state = w.aes(*state, key);
        }
        if const { has_end::<W>(T) } {
            let narrow: HaveAesNi = w.into();
            states.end = narrow.aes(states.end, w.lane::<0>(key));
        }
    }
}

/// The last round.
///
/// # Safety
/// The keys are expanded ones of the call's rounds.
// IMPLEMENTATION NOTE: in a place of its own, because what loops index that are not unrolled stays in
// memory all the time.
#[inline(always)]
unsafe fn last_round<W: Width, const T: usize, const N: usize, const R: usize>(
    w: W,
    call: &Call,
    states: &[State<W, R>; N],
    group: &[Item; N],
) -> [State<W, R>; N] {
    let narrow: HaveAesNi = w.into();
    let mut streams = *states;
    for ((streams, states), item) in streams.iter_mut().zip(states).zip(group) {
        // SAFETY: the caller promises an expanded key of the call's rounds, and this is its last round key.
        let key = unsafe { round_key(w, item.key, 16 * call.rounds) };
        for (stream, state) in streams.registers.iter_mut().zip(&states.registers) {
            *stream = w.aes_last(*state, key);
        }
        if const { has_end::<W>(T) } {
            streams.end = narrow.aes_last(states.end, w.lane::<0>(key));
        }
    }
    streams
}

/// The texts with their key streams.
///
/// # Safety
/// The items' addresses are what they say.
#[inline(always)]
unsafe fn texts<
    W: Width,
    const T: usize,
    const N: usize,
    const R: usize,
    const SEAL: bool,
    const WRITE: bool,
>(
    w: W,
    streams: &[State<W, R>; N],
    group: &[Item; N],
    hashed: &mut Hashed<W, N, R>,
) {
    let Hashed { blocks, masks, .. } = hashed;
    for (((item, stream), blocks), mask) in group.iter().zip(streams).zip(blocks).zip(masks) {
        // SAFETY: the caller promises the item: its text of these blocks is readable, and writable if it is written.
        *mask =
            unsafe { Text::<T>::crypt::<W, R, SEAL, WRITE>(w, item, &stream.registers, blocks) };
        if const { has_end::<W>(T) } {
            *mask = stream.end;
        }
    }
}

/// # Safety
/// The key is an expanded one that has a round key there.
#[inline(always)]
unsafe fn round_key<W: Width>(w: W, key: *const u8, at: usize) -> W::Register {
    // SAFETY: there are the round keys of an expanded key, which are aligned.
    w.broadcast(unsafe { &*key.wrapping_add(at).cast::<u128>() })
}

/// Clears the outputs of messages that failed, and says so.
///
/// # Safety
/// Outputs and statuses are writable.
#[cold]
#[inline(never)]
pub(super) unsafe fn fail(group: &[Item], wrong: u16) {
    for (message, item) in group.iter().enumerate() {
        if public((wrong >> (2 * message)) & 3 != 0) {
            if !item.output.is_null() {
                // SAFETY: the caller promises a writable output, which is as long as the text.
                unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
            }
            // SAFETY: the caller promises a writable status.
            unsafe { item.status.write(Status::AuthFailed) };
        }
    }
}
