//! Registers of each width against the model, those of four blocks on any processor.

use core::array;

use sealift_core::{Op, Slot, SlotTag, SlotText, Status};

use super::*;
use crate::{
    Path,
    caches::{Caching, settle},
    model,
    verdict::Fitting,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256, HaveVaes512},
        expand, gcm, parts,
    },
};

/// Four blocks, each worked by itself: the same lanes as a register of AVX-512 has.
#[derive(Clone, Copy)]
struct FourLanes(HaveAesNi);

impl From<FourLanes> for HaveAesNi {
    fn from(FourLanes(narrow): FourLanes) -> HaveAesNi {
        narrow
    }
}

impl FourLanes {
    fn each(self, lane: impl Fn(HaveAesNi, usize) -> __m128i) -> [__m128i; 4] {
        array::from_fn(|i| lane(self.0, i))
    }

    /// Bytes of a register from one on.
    fn left(len: usize, lane: usize) -> usize {
        len.saturating_sub(16 * lane).min(16)
    }
}

impl Isa for FourLanes {
    type Register = [__m128i; 4];
    const LANES: usize = 4;
    const KARATSUBA: bool = false;
    const LOADS_BLOCKS: bool = true;

    unsafe fn load(self, from: *const u8) -> [__m128i; 4] {
        // SAFETY: the caller promises 64 readable bytes.
        self.each(|w, i| unsafe { w.load(from.wrapping_add(16 * i)) })
    }

    unsafe fn load_part(self, from: *const u8, len: usize) -> [__m128i; 4] {
        self.each(|w, i| match Self::left(len, i) {
            // SAFETY: the caller promises so many bytes.
            16 => unsafe { w.load(from.wrapping_add(16 * i)) },
            // SAFETY: the caller promises so many bytes.
            left => unsafe { w.load_part(from.wrapping_add(16 * i), left) },
        })
    }

    unsafe fn load_table(self, from: *const u8) -> [__m128i; 4] {
        // SAFETY: the caller promises 64 readable bytes.
        unsafe { self.load(from) }
    }

    unsafe fn store(self, to: *mut u8, register: [__m128i; 4]) {
        for (i, block) in register.into_iter().enumerate() {
            // SAFETY: the caller promises 64 writable bytes.
            unsafe { self.0.store(to.wrapping_add(16 * i), block) };
        }
    }

    unsafe fn store_past_caches(self, to: *mut u8, register: [__m128i; 4]) {
        assert!(to.addr().is_multiple_of(64), "registers are cache lines");
        PASSED.set(PASSED.get() + 1);
        // SAFETY: the caller promises 64 writable bytes.
        unsafe { self.store(to, register) };
    }

    unsafe fn store_part(self, to: *mut u8, register: [__m128i; 4], len: usize) {
        for (i, block) in register.into_iter().enumerate() {
            match Self::left(len, i) {
                // SAFETY: the caller promises so many bytes.
                16 => unsafe { self.0.store(to.wrapping_add(16 * i), block) },
                // SAFETY: the caller promises so many bytes.
                left => unsafe { self.0.store_part(to.wrapping_add(16 * i), block, left) },
            }
        }
    }

    fn keep(self, register: [__m128i; 4], len: usize) -> [__m128i; 4] {
        self.each(|w, i| match Self::left(len, i) {
            16 => register[i],
            left => w.keep(register[i], left),
        })
    }

    fn broadcast(self, block: &u128) -> [__m128i; 4] {
        self.each(|w, _| w.broadcast(block))
    }

    fn first_lane(self, block: __m128i) -> [__m128i; 4] {
        self.each(|w, i| if i == 0 { block } else { w.broadcast(&0) })
    }

    fn sum(self, [a, b, c, d]: [__m128i; 4]) -> __m128i {
        self.0.xor(self.0.xor(a, b), self.0.xor(c, d))
    }

    fn xor(self, a: [__m128i; 4], b: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.xor(a[i], b[i]))
    }

    fn reverse(self, register: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.reverse(register[i]))
    }

    fn counters(self, first: __m128i) -> [__m128i; 4] {
        self.each(|w, i| w.later(first, i))
    }

    fn add(self, a: [__m128i; 4], b: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.add(a[i], b[i]))
    }

    fn aes(self, state: [__m128i; 4], key: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.aes(state[i], key[i]))
    }

    fn aes_last(self, state: [__m128i; 4], key: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.aes_last(state[i], key[i]))
    }

    fn product<const HALVES: i32>(self, a: [__m128i; 4], b: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.product::<HALVES>(a[i], b[i]))
    }

    fn swap(self, register: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.swap(register[i]))
    }

    fn reduce(self, low: [__m128i; 4], high: [__m128i; 4]) -> [__m128i; 4] {
        self.each(|w, i| w.reduce(low[i], high[i]))
    }

    fn pin(self, register: [__m128i; 4]) -> [__m128i; 4] {
        register
    }
}

std::thread_local! {
    /// Registers that were stored past the caches.
    static PASSED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// What came of a message: its text, its tag, and whether that was right.
type Result = (Vec<u8>, [u8; 16], Status);

/// A message sealed, or opened, by one of the ways to do that.
fn worked(
    op: Op,
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    tag: [u8; 16],
    how: impl FnOnce(Fitting<'_, '_>) -> Status,
) -> Result {
    // Many begin with a cache line, the others behind one.
    let mut room = vec![0xee; text.len() + 128];
    let start = room.as_ptr().align_offset(64) + [0, 1, 16, 0, 32, 48][text.len() / 9 % 6];
    let (output, mut made) = (&mut room[start..start + text.len()], tag);
    output.fill(0);
    let text_bytes = text.len();
    let tag = match op {
        Op::Seal => SlotTag::Write(&mut made),
        _ => SlotTag::Check(&tag),
    };
    let text = match op {
        Op::Verify => SlotText::Read(text),
        // Every third in its place.
        _ if text.len().is_multiple_of(3) => {
            output.copy_from_slice(text);
            SlotText::InPlace(output)
        }
        _ => SlotText::Apart { input: text, output },
    };
    let mut slot = Slot { op, nonce, aad, text, tag };
    let status = how(Fitting::of(&mut slot).unwrap());
    settle();
    let (before, after) = (&room[..start], &room[start + text_bytes..]);
    assert!([before, after].concat().iter().all(|byte| *byte == 0xee), "{text_bytes} bytes");
    (room[start..][..text_bytes].to_vec(), made, status)
}

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from((i * 37 + i / 251 + seed * 101) % 256).unwrap()).collect()
}

/// Lengths around each end and each step of every width, and others.
fn lengths() -> impl Iterator<Item = usize> {
    let around = [0, 256, 512, 768, 1_024, 1_536, 4_096]
        .into_iter()
        .flat_map(|whole| (0..70usize).map(move |more| 700 + whole + more * 5));
    // Whole cache lines, and so long that they pass the caches wherever a block of them begins one; some with ends of few blocks.
    let long = (1_820..1_850).map(|ninth| 9 * ninth + 7);
    let passing = (12..80).map(|lines| 64 * lines).chain(long);
    (0..700).chain(around).chain(passing)
}

/// For texts of three lengths in a row three ways.
fn caching(len: usize) -> Caching {
    [Caching::Nothing, Caching::Asked([0_u8; 64].as_ptr()), Caching::Passed][len / 3 % 3]
}

fn gcm<I: Isa>(isa: I, schedule: &Expanded, slot: Fitting<'_, '_>) -> Status {
    let caching = caching(slot.text_len());
    if gcm::is_long::<I>(&slot) {
        gcm::process::<I, true>(isa, schedule, slot, caching)
    } else {
        gcm::process::<I, false>(isa, schedule, slot, caching)
    }
}

fn part<I: Isa>(isa: I, schedule: &Expanded, first_block: u32, text: Fitting<'_, '_>) -> u128 {
    let caching = caching(text.text_len());
    if gcm::is_long::<I>(&text) {
        parts::part::<I, true>(isa, schedule, text, first_block, caching)
    } else {
        parts::part::<I, false>(isa, schedule, text, first_block, caching)
    }
}

/// A message of each length, sealed, opened, refused and verified.
fn agrees_with_the_model<I: Isa>(isa: I, narrow: HaveAesNi) {
    for (seed, len) in lengths().enumerate() {
        let key = bytes([16, 24, 32][seed % 3], seed);
        let mut schedule = Expanded::empty();
        Expanded::expand_each(Path::AesNi(narrow), &[&key], &mut [&mut schedule], |one| one);
        // Four lanes multiply by four multiplications.
        expand::fold(narrow, &mut schedule);
        let schedule = &schedule;
        let nonce = bytes(if seed.is_multiple_of(5) { 16 } else { 12 }, seed);
        let aad = bytes([seed % 70, 300][usize::from(seed.is_multiple_of(7))], seed + 1);
        let text = bytes(len, seed + 2);
        let by = |op, text: &[u8], tag| {
            worked(op, &nonce, &aad, text, tag, |slot| gcm(isa, schedule, slot))
        };
        let sealed = by(Op::Seal, &text, [0; 16]);
        let right =
            worked(Op::Seal, &nonce, &aad, &text, [0; 16], |slot| model::process(schedule, slot));
        assert_eq!(sealed, right, "{} lanes, {len} bytes", I::LANES);
        let (ciphertext, mut tag, _) = sealed;
        assert_eq!(by(Op::Open, &ciphertext, tag), (text.clone(), tag, Status::Ok), "{len} bytes");
        assert_eq!(by(Op::Verify, &ciphertext, tag).2, Status::Ok, "{len} bytes");
        tag[seed % 16] ^= 1 << (seed % 8);
        let failed = (vec![0; len], tag, Status::AuthFailed);
        assert_eq!(by(Op::Open, &ciphertext, tag), failed, "{len} bytes");
        assert_eq!(by(Op::Verify, &ciphertext, tag).2, Status::AuthFailed, "{len} bytes");
        for (op, text) in [(Op::Seal, &text), (Op::Open, &ciphertext)] {
            // The last byte of a counter and all of it wrap in some.
            let first_block =
                [7, u32::MAX, 250][seed / 3 % 3].wrapping_sub(u32::try_from(seed % 41).unwrap());
            let (mut hash, mut right_hash) = (0, 0);
            let made = worked(op, &nonce, &[], text, [0; 16], |slot| {
                hash = part(isa, schedule, first_block, slot);
                Status::Ok
            });
            let right = worked(op, &nonce, &[], text, [0; 16], |slot| {
                right_hash = model::part(schedule, slot, first_block);
                Status::Ok
            });
            assert_eq!((hash, made), (right_hash, right), "{} lanes, a part of {len}", I::LANES);
        }
    }
}

#[test]
fn every_width_agrees_with_the_model() {
    let Ok(narrow) = HaveAesNi::check() else {
        eprintln!("skipped: this processor lacks the instructions");
        return;
    };
    agrees_with_the_model(narrow, narrow);
    assert_eq!(PASSED.get(), 0);
    agrees_with_the_model(FourLanes(narrow), narrow);
    assert!(PASSED.get() > 1_000, "{} registers were stored past the caches", PASSED.get());
    if let Ok(token) = HaveVaes256::check() {
        agrees_with_the_model(token, narrow);
    }
    if let Ok(token) = HaveVaes512::check() {
        agrees_with_the_model(token, narrow);
    }
}
