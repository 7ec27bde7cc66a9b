//! A round of AES with a register's way into a hash, and the last round with its text.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use sealift_core::Op;

use super::{
    super::{
        item::KeyForm,
        zmm::{self, Z, pin, wide_fn},
    },
    keys::{Form, round_key},
};
use crate::schedule::Expanded;

/// A round of the registers of both quads, woven with a register's way into a hash.
macro_rules! round {
    ($form:ident $heads:ident, $keys:expr, $r:literal, $states:tt, $y:expr, $weights:expr, $low:ident, $high:ident) => {{
        // SAFETY: the caller of the step promises weights.
        let (h, folded) = unsafe { $crate::x86_64::wide::stream::weave::weights($weights) };
        let y = $y;
        let (mut p, mut q): (Z, Z);
        round!(@ $form $heads, $keys, $r, $states, {
            p = _mm512_clmulepi64_epi128::<0x00>(y, folded);
            $crate::x86_64::wide::zmm::pin!(p);
        }, {
            q = _mm512_clmulepi64_epi128::<0x01>(y, h);
            $crate::x86_64::wide::zmm::pin!(q);
            $low = $crate::x86_64::wide::zmm::xor3($low, p, q);
        }, {
            p = _mm512_clmulepi64_epi128::<0x10>(y, folded);
            $crate::x86_64::wide::zmm::pin!(p);
        }, {
            q = _mm512_clmulepi64_epi128::<0x11>(y, h);
            $crate::x86_64::wide::zmm::pin!(q);
            $high = $crate::x86_64::wide::zmm::xor3($high, p, q);
        });
    }};
    ($form:ident $heads:ident, $keys:expr, $r:literal, $states:tt) => {
        round!(@ $form $heads, $keys, $r, $states, {}, {}, {}, {});
    };
    (@ $form:ident $heads:ident, $keys:expr, $r:literal, ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $m:ident $n:ident),
        $first:block, $second:block, $third:block, $fourth:block) => {{
        // SAFETY: the caller of the step promises keys.
        let (k, l) = unsafe { $crate::x86_64::wide::stream::weave::round_keys::<$form>($keys, $r) };
        $a = _mm512_aesenc_epi128($a, k);
        $crate::x86_64::wide::zmm::pin!($a);
        $b = _mm512_aesenc_epi128($b, k);
        $crate::x86_64::wide::zmm::pin!($b);
        $first
        $c = _mm512_aesenc_epi128($c, k);
        $crate::x86_64::wide::zmm::pin!($c);
        $d = _mm512_aesenc_epi128($d, k);
        $crate::x86_64::wide::zmm::pin!($d);
        $second
        $e = _mm512_aesenc_epi128($e, l);
        $crate::x86_64::wide::zmm::pin!($e);
        $f = _mm512_aesenc_epi128($f, l);
        $crate::x86_64::wide::zmm::pin!($f);
        $third
        $g = _mm512_aesenc_epi128($g, l);
        $crate::x86_64::wide::zmm::pin!($g);
        $h = _mm512_aesenc_epi128($h, l);
        $crate::x86_64::wide::zmm::pin!($h);
        $fourth
        if $heads {
            $m = once(_mm_aesenc_si128($m, _mm512_castsi512_si128(k)));
            $n = once(_mm_aesenc_si128($n, _mm512_castsi512_si128(l)));
        }
    }};
}

pub(super) use round;

wide_fn! {
    /// A round key of two messages, each in all lanes.
    ///
    /// # Safety
    /// The keys are of the form and have so many rounds.
    #[inline]
    pub(super) unsafe fn round_keys<F: Form>(keys: [*const u8; 2], round: usize) -> (Z, Z) {
        // SAFETY: the caller keeps the same promise.
        let first = unsafe { round_key::<F>(keys[0], round) };
        if matches!(F::KEYS, KeyForm::One) {
            return (first, first);
        }
        // SAFETY: the caller promises that the second key is of the form and has so many rounds, too.
        (first, unsafe { round_key::<F>(keys[1], round) })
    }
}

wide_fn! {
    /// The last round of a register, and its text, of which the ciphertext is returned.
    ///
    /// # Safety
    /// `bytes`, up to 64, are readable and writable; with `FULL`, 64 are.
    #[inline]
    pub(super) unsafe fn finish<const OP: u8, const FULL: bool>(
        state: Z,
        key: Z,
        from: *const u8,
        to: *mut u8,
        bytes: usize,
    ) -> Z {
        // SAFETY: the caller promises readable bytes.
        let mut input = unsafe { load::<FULL>(from, bytes) };
        if OP != Op::Seal as u8 {
            // Loaded once: what is hashed is what is decrypted, whatever another thread does.
            pin!(input);
        }
        let output = _mm512_aesenclast_epi128(state, zmm::xor(key, input));
        let ciphertext = if OP == Op::Seal as u8 { output } else { input };
        if FULL || bytes == 64 {
            // SAFETY: the caller promises 64 writable bytes.
            unsafe { zmm::store(to, output) };
            return ciphertext;
        }
        if bytes > 0 {
            // SAFETY: the caller promises as many writable bytes.
            unsafe { zmm::store_part(to, output, bytes) };
        }
        _mm512_maskz_mov_epi8(zmm::mask(bytes), ciphertext)
    }
}

wide_fn! {
    /// Loads up to 64 bytes.
    ///
    /// # Safety
    /// They are readable; with `FULL` they are 64.
    #[inline]
    pub(super) unsafe fn load<const FULL: bool>(from: *const u8, bytes: usize) -> Z {
        if FULL {
            // SAFETY: the caller promises 64 readable bytes.
            return unsafe { zmm::load(from) };
        }
        // SAFETY: the caller promises readable bytes; masked ones are not touched.
        unsafe { zmm::load_part(from, bytes) }
    }
}

wide_fn! {
    /// A register times what is at `at`, unreduced.
    ///
    /// # Safety
    /// Weights are there.
    #[inline]
    pub(super) unsafe fn multiply(y: Z, at: *const u8) -> (Z, Z) {
        // SAFETY: the caller keeps the same promise.
        let (h, folded) = unsafe { weights(at) };
        zmm::multiply(y, h, folded)
    }
}

wide_fn! {
    /// # Safety
    /// Weights are there, and the same folded [`Expanded::FOLDED_BEFORE`] bytes before.
    #[inline]
    pub(super) unsafe fn weights(at: *const u8) -> (Z, Z) {
        // SAFETY: the caller promises a register there.
        let h = unsafe { zmm::load(at) };
        // SAFETY: the caller promises the same folded there.
        (h, unsafe { zmm::load(at.wrapping_sub(Expanded::FOLDED_BEFORE)) })
    }
}
