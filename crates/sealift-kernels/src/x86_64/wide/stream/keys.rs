//! Keys as the steps want them.
#![allow(unsafe_code)]

use core::cell::Cell;

use super::super::{
    item::{Item, KeyForm},
    zmm::{self, Z, wide_fn},
};
use super::{raw::RawKeys, scratch::Slot, step::QUAD_BYTES};
use crate::{
    model::aes::ROUND_KEYS_MAX,
    schedule::{Expanded, POWERS},
};

/// A [`KeyForm`] as a type.
pub(super) trait Form {
    /// Which one.
    const KEYS: KeyForm;
}

/// One key for all messages.
pub(super) enum One {}
/// An expanded key for each.
pub(super) enum Each {}
/// A raw key for each.
pub(super) enum Raw {}

impl Form for One {
    const KEYS: KeyForm = KeyForm::One;
}

impl Form for Each {
    const KEYS: KeyForm = KeyForm::Each;
}

impl Form for Raw {
    const KEYS: KeyForm = KeyForm::Raw;
}

/// Where an expanded key is.
#[derive(Clone, Copy)]
pub(super) struct KeyPlace {
    /// The first round key; how far the others are is up to the [`Form`].
    pub(super) round_keys: *const u8,
    /// H^16 down to H^1, [`Expanded::FOLDED_BEFORE`] bytes before them the same folded, and readable bytes up to
    /// [`REACH`].
    pub(super) powers: *const u8,
}

/// The keys of a call.
#[derive(Clone, Copy)]
pub(super) struct Keys<'s> {
    /// That of all messages, or any for idle quads.
    pub(super) one: KeyPlace,
    /// Those of raw keys.
    pub(super) raw: Option<&'s RawKeys>,
}

/// Round keys, each in all lanes.
#[repr(C, align(64))]
pub(super) struct RoundKeys([Cell<Z>; 15]);

/// What registers of text are multiplied with that are not the last of a message.
#[repr(C, align(64))]
pub(super) struct Weights {
    /// H^16, H^12, H^8 and H^4, each in all lanes and folded, the same as they are, and what is read behind the
    /// last one: zeros.
    rows: [Cell<Z>; 10],
}

/// How far from `powers` registers are read, some of them to be multiplied with zeros: four from the
/// eighth power.
pub(super) const REACH: usize = 16 * POWERS / 2 + QUAD_BYTES;

const _: () = assert!(REACH <= Expanded::REACH);
// `Weights` has as many rows before its powers.
const _: () = assert!(Expanded::FOLDED_BEFORE == 4 * size_of::<Z>());

impl KeyPlace {
    /// That of an `Expanded` whose round keys are there.
    #[inline(always)]
    pub(super) fn of(round_keys: *const u8) -> KeyPlace {
        KeyPlace { round_keys, powers: round_keys.wrapping_sub(Expanded::POWERS_BEFORE) }
    }

    /// H^1.
    #[inline(always)]
    pub(super) fn hash_key(&self) -> *const u8 {
        self.powers.wrapping_add(16 * (POWERS - 1))
    }

    /// Asks for what a message reads of an `Expanded` whose round keys are there.
    #[inline(always)]
    pub(super) fn fetch(round_keys: *const u8) {
        const BEFORE: usize = Expanded::POWERS_BEFORE + Expanded::FOLDED_BEFORE;
        for line in (0..BEFORE + 16 * ROUND_KEYS_MAX).step_by(64) {
            zmm::prefetch_near(round_keys.wrapping_sub(BEFORE).wrapping_add(line));
        }
    }
}

impl Keys<'_> {
    /// The place of the key of a message that has begun.
    #[inline(always)]
    pub(super) fn place<F: Form>(&self, item: &Item, slot: &Slot) -> KeyPlace {
        match F::KEYS {
            KeyForm::One => self.one,
            KeyForm::Each => KeyPlace::of(item.key),
            KeyForm::Raw => slot.place.get(),
        }
    }

    /// The round keys of four messages in lanes, the first of them number `first`.
    #[inline(always)]
    pub(super) fn lanes<F: Form>(&self, first: usize) -> *const Z {
        match (F::KEYS, self.raw) {
            (KeyForm::Raw, Some(raw)) => raw.lanes(first).cast(),
            _ => self.one.round_keys.cast(),
        }
    }
}

impl RoundKeys {
    /// Room for those of a key.
    #[inline(always)]
    pub(super) fn new(zero: Z) -> RoundKeys {
        RoundKeys([(); 15].map(|()| Cell::new(zero)))
    }

    wide_fn! {
        /// Takes those of a key in, of so many rounds.
        ///
        /// # Safety
        /// They are at the place, one behind the other.
        // Not a part of what calls it, so that its stack can be wiped.
        #[inline(never)]
        pub(super) unsafe fn set(&self, from: *const u8, rounds: usize) {
            for (i, key) in self.0.iter().enumerate().take(rounds + 1) {
                // SAFETY: the caller promises as many.
                key.set(unsafe { zmm::broadcast(from.wrapping_add(16 * i)) });
            }
        }
    }

    /// Where they are.
    #[inline(always)]
    pub(super) fn address(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// Forgets the key.
    pub(super) fn wipe(&self, zero: Z) {
        self.0.iter().for_each(|cell| cell.set(zero));
    }
}

impl Weights {
    /// Room for those of a key.
    #[inline(always)]
    pub(super) fn new(zero: Z) -> Weights {
        Weights { rows: [(); 10].map(|()| Cell::new(zero)) }
    }

    wide_fn! {
        /// Takes them in.
        ///
        /// # Safety
        /// A key is at the place.
        #[inline]
        pub(super) unsafe fn set(&self, from: KeyPlace) {
            for (i, row) in self.rows.iter().enumerate().take(8) {
                let folded = from.powers.wrapping_sub(Expanded::FOLDED_BEFORE);
                // SAFETY: the caller promises powers; the first four are folded.
                row.set(unsafe { zmm::broadcast(folded.wrapping_add(64 * i)) });
            }
        }
    }

    /// Those of a quad that another follows, which is full or half.
    #[inline(always)]
    pub(super) fn of(&self, bytes: usize) -> *const u8 {
        self.at(if bytes == QUAD_BYTES { 3 } else { 1 })
    }

    /// Those of a register behind which others follow in the quad, `behind` of them, and then
    /// another quad.
    #[inline(always)]
    pub(super) fn at(&self, behind: usize) -> *const u8 {
        self.rows.as_ptr().wrapping_add(7 - behind % 4).cast()
    }

    /// Forgets the key.
    pub(super) fn wipe(&self, zero: Z) {
        self.rows.iter().for_each(|cell| cell.set(zero));
    }
}

wide_fn! {
    /// A round key in all lanes.
    ///
    /// # Safety
    /// It is there, as far from the first one as keys of this form are.
    #[inline]
    pub(super) unsafe fn round_key<F: Form>(first: *const u8, round: usize) -> Z {
        match F::KEYS {
            // SAFETY: the caller promises the round key, and those of the one key are in all lanes, 64 bytes each.
            KeyForm::One => unsafe { zmm::load(first.wrapping_add(64 * round)) },
            // SAFETY: the caller promises the round key, and those of an expanded key are 16 bytes each.
            KeyForm::Each => unsafe { zmm::broadcast(first.wrapping_add(16 * round)) },
            // SAFETY: the caller promises the round key, and those of a raw key are in one lane, 64 bytes apart.
            KeyForm::Raw => unsafe { zmm::broadcast(first.wrapping_add(64 * round)) },
        }
    }
}
