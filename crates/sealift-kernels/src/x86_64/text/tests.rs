//! Registers of each width against the model, those of four blocks on any processor.

use core::array;

use sealift_core::{Op, Slot, SlotTag, SlotText, Status};

use super::*;
use crate::{
    Path, Schedule, model,
    verdict::Fitting,
    x86_64::{
        cpu::{HaveAesNi, HaveVaes256},
        gcm, parts,
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
    let (mut output, mut made) = (vec![0; text.len()], tag);
    let tag = match op {
        Op::Seal => SlotTag::Write(&mut made),
        _ => SlotTag::Check(&tag),
    };
    let text = SlotText::Apart { input: text, output: &mut output };
    let mut slot = Slot { op, nonce, aad, text, tag };
    let status = how(Fitting::of(&mut slot).unwrap());
    (output, made, status)
}

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from((i * 37 + i / 251 + seed * 101) % 256).unwrap()).collect()
}

/// Lengths around each end and each step of every width, and others.
fn lengths() -> impl Iterator<Item = usize> {
    (0..700).chain(
        [0, 256, 512, 768, 1_024, 1_536, 4_096]
            .into_iter()
            .flat_map(|whole| (0..70usize).map(move |more| 700 + whole + more * 5)),
    )
}

fn gcm<I: Isa>(isa: I, schedule: &Expanded, slot: Fitting<'_, '_>) -> Status {
    if gcm::is_long::<I>(&slot) {
        gcm::process::<I, true>(isa, schedule, slot, core::ptr::null())
    } else {
        gcm::process::<I, false>(isa, schedule, slot, core::ptr::null())
    }
}

fn part<I: Isa>(isa: I, schedule: &Expanded, text: Fitting<'_, '_>) -> u128 {
    if gcm::is_long::<I>(&text) {
        parts::part::<I, true>(isa, schedule, text, 7, core::ptr::null())
    } else {
        parts::part::<I, false>(isa, schedule, text, 7, core::ptr::null())
    }
}

fn agrees_with_the_model<I: Isa + core::fmt::Debug>(isa: I, narrow: HaveAesNi) {
    for (seed, len) in lengths().enumerate() {
        let key = bytes([16, 24, 32][seed % 3], seed);
        let schedule = Schedule::from_raw(Path::AesNi(narrow), &key).unwrap();
        let schedule = schedule.expanded();
        let nonce = bytes(if seed % 5 == 0 { 16 } else { 12 }, seed);
        let (aad, text) = (bytes(seed % 70, seed + 1), bytes(len, seed + 2));
        let sealed =
            worked(Op::Seal, &nonce, &aad, &text, [0; 16], |slot| gcm(isa, schedule, slot));
        let right =
            worked(Op::Seal, &nonce, &aad, &text, [0; 16], |slot| model::process(schedule, slot));
        assert_eq!(sealed, right, "{isa:?}, {len} bytes");
        let (ciphertext, mut tag, _) = sealed;
        let opened =
            worked(Op::Open, &nonce, &aad, &ciphertext, tag, |slot| gcm(isa, schedule, slot));
        assert_eq!(opened, (text.clone(), tag, Status::Ok), "{isa:?}, {len} bytes");
        tag[seed % 16] ^= 1 << (seed % 8);
        let failed =
            worked(Op::Open, &nonce, &aad, &ciphertext, tag, |slot| gcm(isa, schedule, slot));
        assert_eq!(failed, (vec![0; len], tag, Status::AuthFailed), "{isa:?}, {len} bytes");
        for (op, text) in [(Op::Seal, &text), (Op::Open, &ciphertext)] {
            let (mut hash, mut right) = (0, 0);
            worked(op, &nonce, &[], text, [0; 16], |slot| {
                hash = part(isa, schedule, slot);
                Status::Ok
            });
            worked(op, &nonce, &[], text, [0; 16], |slot| {
                right = model::part(schedule, slot, 7);
                Status::Ok
            });
            assert_eq!(hash, right, "{isa:?}, a part of {len} bytes");
        }
    }
}

impl core::fmt::Debug for FourLanes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FourLanes")
    }
}

#[test]
fn every_width_agrees_with_the_model() {
    let Ok(narrow) = HaveAesNi::check() else {
        println!("SKIPPED: this processor has no AES-NI");
        return;
    };
    agrees_with_the_model(narrow, narrow);
    agrees_with_the_model(FourLanes(narrow), narrow);
    if let Ok(token) = HaveVaes256::check() {
        agrees_with_the_model(token, narrow);
    }
}
