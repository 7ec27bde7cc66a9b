//! What the mode needs of a register.
#![allow(unsafe_code)]

use core::arch::x86_64::__m128i;

use super::{
    cpu::HaveAesNi,
    text::{STEP, Span, Steps},
};

/// An instruction set: registers of one or more blocks, and what can be done with them.
///
/// `self` is the proof that this processor has the instructions, which is what makes the methods
/// safe. They are inlined into a function compiled for them; called from elsewhere they are right
/// and slow.
pub(super) trait Isa: Copy + Into<HaveAesNi> {
    /// A register.
    type Register: Copy;

    /// Blocks in a register.
    const LANES: usize;
    /// Bytes in a register.
    const BYTES: usize = 16 * Self::LANES;

    /// Whether a block is multiplied by three multiplications of halves (Karatsuba's), not by four.
    // IMPLEMENTATION NOTE: three need more sums, a shuffle and a second fold, for which AES's ports are needed, too. On Zen 3,
    // where a multiplication takes two cycles, they are quicker with registers of one block and of two; where keys are far
    // by up to a third, because of a key they read no folded powers.
    const KARATSUBA: bool;

    /// Loads a register. The compiler never loads these bytes again: another thread may have
    /// rewritten them.
    ///
    /// # Safety
    /// `from` is readable for [`BYTES`](Isa::BYTES) bytes.
    unsafe fn load(self, from: *const u8) -> Self::Register;

    /// Loads fewer bytes than a register holds, once; zeros behind them.
    ///
    /// # Safety
    /// `from` is readable for `len` bytes, and `len` is less than [`BYTES`](Isa::BYTES).
    unsafe fn load_part(self, from: *const u8, len: usize) -> Self::Register;

    /// Loads a register of a table that nobody else writes.
    ///
    /// # Safety
    /// `from` is readable for [`BYTES`](Isa::BYTES) bytes.
    unsafe fn load_table(self, from: *const u8) -> Self::Register;

    /// Stores a register.
    ///
    /// # Safety
    /// `to` is writable for [`BYTES`](Isa::BYTES) bytes.
    unsafe fn store(self, to: *mut u8, register: Self::Register);

    /// Stores a register of 64 bytes past the caches, which others may see late: whoever asked for it settles it.
    ///
    /// # Safety
    /// As for [`store`](Isa::store), and `to` is a cache line.
    #[inline(always)]
    unsafe fn store_past_caches(self, _to: *mut u8, _register: Self::Register) {
        unreachable!("a register is no cache line")
    }

    /// Stores the first bytes of a register.
    ///
    /// # Safety
    /// `to` is writable for `len` bytes, and `len` is less than [`BYTES`](Isa::BYTES).
    unsafe fn store_part(self, to: *mut u8, register: Self::Register, len: usize);

    /// Zeros behind the first `len` bytes.
    fn keep(self, register: Self::Register, len: usize) -> Self::Register;

    /// The same block in every lane.
    fn broadcast(self, block: &u128) -> Self::Register;
    /// A block in the first lane, zeros in the others.
    fn first_lane(self, block: __m128i) -> Self::Register;
    /// The exclusive or of all lanes.
    fn sum(self, register: Self::Register) -> __m128i;

    /// Exclusive or.
    fn xor(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The bytes of each block in opposite order.
    fn reverse(self, register: Self::Register) -> Self::Register;

    /// Counters from a reversed counter block: it, and one more in each further lane.
    fn counters(self, first: __m128i) -> Self::Register;
    /// In each 32 bits the sum.
    fn add(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The counters of the register that follows so many blocks later.
    #[inline(always)]
    fn later(self, counters: Self::Register, blocks: usize) -> Self::Register {
        self.add(counters, self.broadcast(&(blocks as u128)))
    }

    /// One round of AES.
    fn aes(self, state: Self::Register, key: Self::Register) -> Self::Register;
    /// The last round of AES.
    fn aes_last(self, state: Self::Register, key: Self::Register) -> Self::Register;

    /// In each lane the carry-less product of two halves: bit 0 of `HALVES` names that of `a`, bit 4 that
    /// of `b`.
    fn product<const HALVES: i32>(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The halves of each block exchanged.
    fn swap(self, register: Self::Register) -> Self::Register;
    /// In each lane `low + x^64 * high`, brought back to 128 bits: their sum times x^-64.
    fn reduce(self, low: Self::Register, high: Self::Register) -> Self::Register;

    /// Whether the steps of a text load round keys that were put into all lanes before, not those of the schedule, and counters
    /// come from a table.
    // IMPLEMENTATION NOTE: on Zen 4 a register of four blocks takes longer to be filled with one block than to be loaded, and a
    // counter that is added to another one takes from the ports of AES. Without both, texts of 8 KiB and more take 6 to 9 % less
    // time under AES-128, 2 % under AES-256. With registers of two blocks loads are no quicker.
    const LOADS_BLOCKS: bool = false;

    /// Whether there are pieces: steps of long texts in assembly.
    const HAS_PIECES: bool = false;

    /// Seals all steps of a text but the last, each in one piece, and gives the ciphertext of the last of them, which is not
    /// hashed. Encrypts `mask`, a block with the first round key added, with the first.
    ///
    /// # Safety
    /// The text is readable and writable for its length, more than a step.
    #[inline(always)]
    unsafe fn seal_pieces(
        _steps: &mut Steps<'_, Self>,
        _mask: &mut __m128i,
        _text: &mut Span,
    ) -> [Self::Register; STEP] {
        unreachable!("there are no pieces")
    }

    /// The next `N` registers of counters before their last round, while a step of ciphertext is hashed, in one piece.
    #[inline(always)]
    fn weave_piece<const N: usize>(
        _steps: &mut Steps<'_, Self>,
        _hashed: &[Self::Register; STEP],
    ) -> [Self::Register; N] {
        unreachable!("there are no pieces")
    }

    /// Opens all steps of a text but the last, each in one piece.
    ///
    /// # Safety
    /// The text is readable and writable for its length.
    #[inline(always)]
    unsafe fn open_pieces(_steps: &mut Steps<'_, Self>, _text: &mut Span) {
        unreachable!("there are no pieces")
    }

    /// The same register. Instructions that make it and those that use it keep their place among others
    /// that are pinned: the compiler would put all multiplications first, which is slower.
    fn pin(self, register: Self::Register) -> Self::Register;
}

/// Writes methods of [`Isa`] that pass on to one function compiled for the instruction set.
macro_rules! proven {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty => $call:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: $type),*) -> $result {
            // SAFETY: `self` is proof that this processor has the instructions.
            unsafe { $call }
        }
    )*};
}

/// Writes the methods of [`Isa`] that load and store, each passing on to a function of its name.
macro_rules! proven_memory {
    ($register:ty) => {
        #[inline(always)]
        unsafe fn load(self, from: *const u8) -> $register {
            // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
            unsafe { load(from) }
        }

        #[inline(always)]
        unsafe fn load_part(self, from: *const u8, len: usize) -> $register {
            // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
            unsafe { load_part(from, len) }
        }

        #[inline(always)]
        unsafe fn load_table(self, from: *const u8) -> $register {
            // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
            unsafe { load_table(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8, register: $register) {
            // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
            unsafe { store(to, register) }
        }

        #[inline(always)]
        unsafe fn store_part(self, to: *mut u8, register: $register, len: usize) {
            // SAFETY: `self` is proof of the instructions; the caller keeps the same promise.
            unsafe { store_part(to, register, len) }
        }
    };
}

/// Writes [`Isa::product`], passing on to an intrinsic.
macro_rules! proven_product {
    ($register:ty, $intrinsic:ident) => {
        #[inline(always)]
        fn product<const HALVES: i32>(self, a: $register, b: $register) -> $register {
            // SAFETY: `self` is proof that this processor has the instructions.
            unsafe { $intrinsic::<HALVES>(a, b) }
        }
    };
}

/// Writes what an instruction set does with one message, and with a text by itself, compiled with its
/// instructions.
macro_rules! compiled {
    ($token:ty, $features:literal) => {
        /// Texts of more bytes than these need powers, and round keys maybe, that lie on the stack.
        pub(crate) const SHORT_BYTES: usize = $crate::x86_64::text::short_bytes::<$token>();

        /// Seals, opens or verifies one message, as `caching` says with its text.
        #[inline]
        pub(crate) fn process(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            slot: $crate::verdict::Fitting<'_, '_>,
            caching: $crate::caches::Caching,
        ) -> sealift_core::Status {
            if $crate::x86_64::gcm::is_long::<$token>(&slot) {
                // SAFETY: `token` is proof that this processor has the instructions.
                unsafe { long(token, schedule, slot, caching) }
            } else {
                // SAFETY: `token` is proof that this processor has the instructions.
                unsafe { short(token, schedule, slot, caching) }
            }
        }

        #[target_feature(enable = $features)]
        fn long(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            slot: $crate::verdict::Fitting<'_, '_>,
            caching: $crate::caches::Caching,
        ) -> sealift_core::Status {
            $crate::x86_64::gcm::process::<_, true>(token, schedule, slot, caching)
        }

        #[target_feature(enable = $features)]
        fn short(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            slot: $crate::verdict::Fitting<'_, '_>,
            caching: $crate::caches::Caching,
        ) -> sealift_core::Status {
            $crate::x86_64::gcm::process::<_, false>(token, schedule, slot, caching)
        }

        /// Works a part of a text: see `parts`. `caching` is for it.
        pub(crate) fn part(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            text: $crate::verdict::Fitting<'_, '_>,
            first_block: u32,
            caching: $crate::caches::Caching,
        ) -> u128 {
            if $crate::x86_64::gcm::is_long::<$token>(&text) {
                // SAFETY: `token` is proof that this processor has the instructions.
                unsafe { long_part(token, schedule, text, first_block, caching) }
            } else {
                // SAFETY: `token` is proof that this processor has the instructions.
                unsafe { short_part(token, schedule, text, first_block, caching) }
            }
        }

        #[target_feature(enable = $features)]
        fn long_part(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            text: $crate::verdict::Fitting<'_, '_>,
            first_block: u32,
            caching: $crate::caches::Caching,
        ) -> u128 {
            $crate::x86_64::parts::part::<_, true>(token, schedule, text, first_block, caching)
        }

        #[target_feature(enable = $features)]
        fn short_part(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            text: $crate::verdict::Fitting<'_, '_>,
            first_block: u32,
            caching: $crate::caches::Caching,
        ) -> u128 {
            $crate::x86_64::parts::part::<_, false>(token, schedule, text, first_block, caching)
        }

        /// Encrypts blocks where they are.
        pub(crate) fn encrypt_blocks(token: $token, round_keys: &[u128], blocks: &mut [u128]) {
            // SAFETY: `token` is proof that this processor has the instructions.
            unsafe { encrypt_blocks_compiled(token, round_keys, blocks) }
        }

        #[target_feature(enable = $features)]
        fn encrypt_blocks_compiled(token: $token, round_keys: &[u128], blocks: &mut [u128]) {
            $crate::x86_64::ctr::encrypt_blocks(token, round_keys, blocks);
        }

        /// Adds the key stream of a counter block, a number that counts in all its bits, to a text.
        pub(crate) fn add_key_stream(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            counter: u128,
            text: sealift_core::SlotText<'_>,
        ) {
            // SAFETY: `token` is proof that this processor has the instructions.
            unsafe { add_key_stream_compiled(token, schedule, counter, text) }
        }

        #[target_feature(enable = $features)]
        fn add_key_stream_compiled(
            token: $token,
            schedule: &$crate::schedule::Expanded,
            counter: u128,
            text: sealift_core::SlotText<'_>,
        ) {
            $crate::x86_64::ctr::add_key_stream(token, schedule, counter, text);
        }
    };
}

pub(super) use {compiled, proven, proven_memory, proven_product};
