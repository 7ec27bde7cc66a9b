//! Short messages of any shape under any keys: a lane for each, four at a time.
//!
//! The blocks that are hashed of a message lie in a column of its own and end where those of the others
//! do: zeros before them leave the hash at zero. So messages of different lengths share every
//! instruction but the copies. A group of four is hashed after the texts of the next group were worked,
//! which has nothing to wait for.
#![allow(unsafe_code)]

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use sealift_core::{Op, Status};

use super::block::{from_bytes, keep, load_block, once, store_block, to_bytes};
use super::item::{Ahead, Item, KeyForm, LONG_TEXT, MEDIUM_AAD_BLOCKS};
use super::lane::expand::{self, KEYS, Schedules, Words};
use super::zmm::{Z, fold, load, load_nonce, reverse, store, transpose, wide_fn, wipe, xor, xor3};
use crate::schedule::RECORD_BLOCKS;
use crate::stack;
use crate::x86_64::cpu::HaveVaes512;

/// Works messages of fewer than [`LONG_TEXT`] blocks of text and up to [`MEDIUM_AAD_BLOCKS`] of aad.
///
/// # Safety
/// The items are such, their addresses are what they say, and their keys are of that form and of so many
/// rounds.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    keys: KeyForm,
    rounds: usize,
    tag_bytes: usize,
    items: &[Item],
    ahead: &mut Ahead<'_>,
) {
    // SAFETY: `_token` is proof of the instructions; the caller promises the rest.
    unsafe {
        match rounds {
            10 => all::<10>(keys, tag_bytes, items, ahead),
            12 => all::<12>(keys, tag_bytes, items, ahead),
            _ => all::<14>(keys, tag_bytes, items, ahead),
        }
    }
}

/// Messages of a group.
const LANES: usize = 4;
/// The most blocks that are hashed of a message: aad, text, and their lengths.
const HASHED_MAX: usize = MEDIUM_AAD_BLOCKS + LONG_TEXT;

/// The most blocks that are hashed of a nonce of up to 128 bytes: it and its length.
const NONCE_MAX: usize = 9;

/// Blocks of four messages, one in each lane.
type Row = [[u8; 16]; LANES];

/// A group of messages between its texts and its tags.
#[repr(C, align(64))]
struct Group {
    /// The key stream: the block that masks the tag, then those of the text.
    stream: [Row; LONG_TEXT],
    /// What is hashed, of which `hashed` rows are in use.
    rows: [Row; HASHED_MAX],
    hashed: usize,
    hash_keys: Z,
}

/// Nonces of a group that are hashed.
#[repr(C, align(64))]
struct Nonces {
    /// Of which `hashed` rows are in use.
    rows: [Row; NONCE_MAX],
    hashed: usize,
}

/// What a call works with. All of it but `rows` is secret.
#[repr(C, align(64))]
struct Scratch {
    schedules: Schedules,
    words: Words,
    groups: [Group; 2],
    nonces: [Nonces; KEYS / LANES],
}

wide_fn! {
    unsafe fn all<const ROUNDS: usize>(
        form: KeyForm,
        tag_bytes: usize,
        items: &[Item],
        ahead: &mut Ahead<'_>,
    ) {
        let mut scratch = MaybeUninit::<Scratch>::uninit();
        let scratch = scratch.as_mut_ptr();
        let mut waiting: Option<(usize, &[Item])> = None;
        for sixteen in items.chunks(KEYS) {
            // SAFETY: the keys are of that form; the scratch is writable.
            unsafe { schedules::<ROUNDS>(form, sixteen, scratch) };
            for (place, four) in sixteen.chunks(LANES).enumerate() {
                // SAFETY: within the scratch; the items' addresses are what they say.
                unsafe { put_nonces(four, &raw mut (*scratch).nonces[place]) };
            }
            for (place, four) in sixteen.chunks(LANES).enumerate() {
                ahead.fetch(four.len());
                let turn = waiting.map_or(0, |(turn, _)| 1 - turn);
                // SAFETY: within the scratch, whose schedules of this place were just made.
                let schedule = unsafe { &(&(*scratch).schedules.0)[place] };
                // SAFETY: within the scratch.
                let group = unsafe { &raw mut (*scratch).groups[turn] };
                // SAFETY: the items' addresses are what they say.
                unsafe { texts::<ROUNDS>(schedule, four, &(*scratch).nonces[place], group) };
                if let Some((turn, before)) = waiting.replace((turn, four)) {
                    // SAFETY: the texts of that group were worked.
                    unsafe { tags(&(*scratch).groups[turn], before, tag_bytes) };
                }
            }
        }
        if let Some((turn, last)) = waiting {
            // SAFETY: as above.
            unsafe { tags(&(*scratch).groups[turn], last, tag_bytes) };
        }
        // SAFETY: the scratch is writable, and registers are whatever their bytes are.
        unsafe { wipe(scratch.cast(), size_of::<Scratch>()) };
        // What registers were put down there.
        stack::wipe();
    }
}

wide_fn! {
    /// The schedules of up to sixteen messages, and behind them their hash keys.
    unsafe fn schedules<const ROUNDS: usize>(form: KeyForm, items: &[Item], scratch: *mut Scratch) {
        let key = |i: usize| items[i.min(items.len() - 1)].key;
        // SAFETY: within the scratch.
        let (to, words) = unsafe { (&raw mut (*scratch).schedules, &raw mut (*scratch).words) };
        let groups = items.len().div_ceil(LANES);
        if form == KeyForm::Raw {
            // SAFETY: the keys are raw ones of that length; both places are writable.
            unsafe { expand::expand::<ROUNDS>(&core::array::from_fn(key), to, words) };
        }
        for place in 0..groups {
            // SAFETY: within the scratch.
            let group = unsafe { &raw mut (*to).0[place] };
            if form == KeyForm::Raw {
                // SAFETY: the expansion has written all round keys.
                let hash_keys = expand::hash_keys::<ROUNDS>(unsafe { &*group });
                // SAFETY: within the group.
                unsafe { (*group)[ROUNDS + 1] = hash_keys };
            } else {
                let four = core::array::from_fn(|lane| key(LANES * place + lane));
                // SAFETY: the keys are expanded ones, which begin with their record.
                unsafe { lanes_of::<ROUNDS>(four, group) };
            }
        }
    }
}

wide_fn! {
    /// Puts four records into lanes.
    unsafe fn lanes_of<const ROUNDS: usize>(records: [*const u8; LANES], to: *mut [Z; RECORD_BLOCKS]) {
        for quarter in 0..(ROUNDS + 2).div_ceil(4) {
            let [a, b, c, d] = records.map(|record| record.wrapping_add(64 * quarter));
            // SAFETY: a record has four quarters of 64 bytes.
            let rows = unsafe { [load(a), load(b), load(c), load(d)] };
            for (block, lanes) in transpose(rows).into_iter().enumerate() {
                // SAFETY: as many blocks as a record has.
                unsafe { (*to)[4 * quarter + block] = lanes };
            }
        }
    }
}

wide_fn! {
    /// Works the texts of a group, and leaves what its tags are made of.
    unsafe fn texts<const ROUNDS: usize>(
        schedule: &[Z; RECORD_BLOCKS],
        items: &[Item],
        nonces: &Nonces,
        to: *mut Group,
    ) {
        // SAFETY: the caller gives a group that is writable; each of its parts is written before it is read.
        let group = unsafe { &mut *to };
        group.hash_keys = schedule[ROUNDS + 1];
        // SAFETY: the caller promises the items' addresses.
        let first = unsafe { first_counters(items, nonces, group.hash_keys) };
        let blocks = items.iter().map(text_blocks).max().unwrap_or(0);
        match blocks {
            0..=2 => stream::<ROUNDS, 3>(schedule, first, group),
            3..=4 => stream::<ROUNDS, 5>(schedule, first, group),
            _ => stream::<ROUNDS, 9>(schedule, first, group),
        }
        group.hashed = 1 + items.iter().map(|item| aad_blocks(item) + text_blocks(item)).max().unwrap_or(0);
        for lane in 0..LANES {
            match items.get(lane) {
                // SAFETY: the caller promises the items' addresses; the rows reach as far as the longest.
                Some(item) => unsafe { copy(item, lane, group) },
                None => group.rows[..group.hashed].iter_mut().for_each(|row| row[lane] = [0; 16]),
            }
        }
    }
}

wide_fn! {
    /// Puts nonces of other lengths than 12 bytes into columns, to be hashed later.
    unsafe fn put_nonces(items: &[Item], to: *mut Nonces) {
        // SAFETY: the caller gives a place that is writable; what is read of it is written before.
        let nonces = unsafe { &mut *to };
        let blocks = |item: &Item| if item.nonce_bytes == 12 { 0 } else { 1 + nonce_blocks(item) };
        nonces.hashed = items.iter().map(blocks).max().unwrap_or(0);
        for lane in 0..LANES {
            let own = items.get(lane).map_or(0, blocks);
            let (zeros, column) = nonces.rows[..nonces.hashed].split_at_mut(nonces.hashed - own);
            zeros.iter_mut().for_each(|row| row[lane] = [0; 16]);
            if let (Some(item), Some((lengths, column))) = (items.get(lane), column.split_last_mut()) {
                // SAFETY: the nonce is readable for its length.
                unsafe { put(item.nonce, item.nonce_bytes.into(), lane, column) };
                lengths[lane] = (u128::from(item.nonce_bytes) * 8).to_be_bytes();
            }
        }
    }
}

wide_fn! {
    /// The counter blocks of the masks of the tags, reversed.
    unsafe fn first_counters(items: &[Item], nonces: &Nonces, hash_keys: Z) -> Z {
        let one = _mm_set_epi32(1 << 24, 0, 0, 0);
        let plain = |lane: usize| match items.get(lane) {
            // SAFETY: the nonce has 12 bytes.
            Some(item) if item.nonce_bytes == 12 => _mm_or_si128(unsafe { load_nonce(item.nonce) }, one),
            _ => _mm_setzero_si128(),
        };
        let first = _mm512_inserti64x2::<1>(_mm512_castsi128_si512(plain(0)), plain(1));
        let second = _mm512_inserti64x2::<2>(first, plain(2));
        let counters = reverse(_mm512_inserti64x2::<3>(second, plain(3)));
        match &nonces.rows[..nonces.hashed] {
            [] => counters,
            rows => xor(counters, hash(hash_keys, rows)),
        }
    }
}

wide_fn! {
    /// The first `N` blocks of key stream of four messages.
    fn stream<const ROUNDS: usize, const N: usize>(
        schedule: &[Z; RECORD_BLOCKS],
        first: Z,
        group: &mut Group,
    ) {
        let one = _mm512_maskz_set1_epi32(0x1111, 1);
        let mut counters = first;
        let mut states = [first; N];
        for state in &mut states {
            *state = xor(reverse(counters), schedule[0]);
            counters = _mm512_add_epi32(counters, one);
        }
        for key in &schedule[1..ROUNDS] {
            for state in &mut states {
                *state = _mm512_aesenc_epi128(*state, *key);
            }
        }
        for (state, row) in states.iter().zip(&mut group.stream) {
            let block = _mm512_aesenclast_epi128(*state, schedule[ROUNDS]);
            // SAFETY: a row is writable.
            unsafe { store(row.as_mut_ptr().cast(), block) };
        }
    }
}

wide_fn! {
    /// Copies a message's aad, text and lengths to the end of its column; the text is encrypted or
    /// decrypted on the way.
    unsafe fn copy(item: &Item, lane: usize, group: &mut Group) {
        let (aad, text) = (aad_blocks(item), text_blocks(item));
        let Group { stream, rows, hashed, .. } = group;
        let (zeros, column) = rows[..*hashed].split_at_mut(*hashed - 1 - aad - text);
        zeros.iter_mut().for_each(|row| row[lane] = [0; 16]);
        // SAFETY: the aad is readable for its length.
        unsafe { put(item.aad, item.aad_bytes.into(), lane, column) };
        let mut left = item.text_bytes as usize;
        for (i, (mask, row)) in stream[1..].iter().zip(&mut column[aad..aad + text]).enumerate() {
            let bytes = left.min(16);
            left -= bytes;
            // SAFETY: so many bytes of the text are left from there.
            let input = once(unsafe { load_block(item.input.wrapping_add(16 * i), bytes) });
            let output = keep(_mm_xor_si128(input, from_bytes(&mask[lane])), bytes);
            if item.op != Op::Verify {
                // SAFETY: a seal and an open have as much room.
                unsafe { store_block(item.output.wrapping_add(16 * i), output, bytes) };
            }
            row[lane] = to_bytes(if item.op == Op::Seal { output } else { input });
        }
        let lengths = (u128::from(item.aad_bytes) << 64) | u128::from(item.text_bytes);
        column[aad + text][lane] = (lengths * 8).to_be_bytes();
    }
}

wide_fn! {
    /// Puts bytes into a column from its first row on, the last block filled up with zeros.
    #[inline]
    unsafe fn put(from: *const u8, bytes: usize, lane: usize, rows: &mut [Row]) {
        for (i, row) in rows[..bytes.div_ceil(16)].iter_mut().enumerate() {
            // SAFETY: the caller promises so many bytes.
            row[lane] = to_bytes(unsafe { load_block(from.wrapping_add(16 * i), (bytes - 16 * i).min(16)) });
        }
    }
}

wide_fn! {
    /// The hash of rows of blocks in each lane, reversed.
    fn hash(hash_keys: Z, rows: &[Row]) -> Z {
        let (h, folded) = (hash_keys, fold(hash_keys));
        let square = reduce(multiply(h, h, folded));
        let square_folded = fold(square);
        // SAFETY: a row is readable.
        let block = |row: &Row| reverse(unsafe { load(row.as_ptr().cast()) });
        let (single, pairs) = rows.split_at(rows.len() % 2);
        let mut hash = single.iter().fold(_mm512_setzero_si512(), |_, row| reduce(multiply(block(row), h, folded)));
        for pair in pairs.chunks_exact(2) {
            let (low, high) = multiply(block(&pair[1]), h, folded);
            let (more_low, more_high) = multiply(xor(hash, block(&pair[0])), square, square_folded);
            hash = reduce((xor(low, more_low), xor(high, more_high)));
        }
        hash
    }
}

wide_fn! {
    /// Unreduced products: see `ghash`.
    #[inline]
    fn multiply(y: Z, h: Z, folded: Z) -> (Z, Z) {
        let low = xor(_mm512_clmulepi64_epi128::<0x00>(y, folded), _mm512_clmulepi64_epi128::<0x01>(y, h));
        let high = xor(_mm512_clmulepi64_epi128::<0x10>(y, folded), _mm512_clmulepi64_epi128::<0x11>(y, h));
        (low, high)
    }
}

wide_fn! {
    #[inline]
    fn reduce((low, high): (Z, Z)) -> Z {
        let modulus = _mm512_set1_epi64(0xc2_i64 << 56);
        xor3(high, _mm512_shuffle_epi32::<0x4e>(low), _mm512_clmulepi64_epi128::<0x00>(low, modulus))
    }
}

wide_fn! {
    /// Writes or compares the tags of a group; what fails leaves zeros.
    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    unsafe fn tags(group: &Group, items: &[Item], tag_bytes: usize) {
        let hash = reverse(hash(group.hash_keys, &group.rows[..group.hashed]));
        // SAFETY: a row is readable.
        let tags = xor(hash, unsafe { load(group.stream[0].as_ptr().cast()) });
        let mut row: Row = [[0; 16]; LANES];
        // SAFETY: a row is writable.
        unsafe { store(row.as_mut_ptr().cast(), tags) };
        for (tag, item) in row.iter().zip(items) {
            let tag = from_bytes(tag);
            if item.op == Op::Seal {
                // SAFETY: a seal's tag is writable for so many bytes.
                unsafe { store_block(item.tag, tag, tag_bytes) };
                continue;
            }
            // SAFETY: the tag is readable for so many bytes.
            let expected = unsafe { load_block(item.tag, tag_bytes) };
            let difference = _mm_xor_si128(keep(tag, tag_bytes), expected);
            if _mm_testz_si128(difference, difference) == 0 {
                // SAFETY: the item's status and, of an open, its output are writable.
                unsafe { fail(item) };
            }
        }
    }
}

/// Zeroes the output of a message and says that it failed.
///
/// # Safety
/// The item's status and, of an open, its output are writable.
unsafe fn fail(item: &Item) {
    if item.op == Op::Open {
        // SAFETY: the caller promises it.
        unsafe { item.output.write_bytes(0, item.text_bytes as usize) };
    }
    // SAFETY: as above.
    unsafe { item.status.write(Status::AuthFailed) };
}

fn text_blocks(item: &Item) -> usize {
    (item.text_bytes as usize).div_ceil(16)
}

fn aad_blocks(item: &Item) -> usize {
    usize::from(item.aad_bytes).div_ceil(16)
}

fn nonce_blocks(item: &Item) -> usize {
    usize::from(item.nonce_bytes).div_ceil(16)
}
