//! Wiping where secrets were worked with: the stack below a caller, and the vector registers.

use core::hint::black_box;
use core::mem::MaybeUninit;

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::registers;

/// Calls code that leaves secrets behind, a library of others or what moves a key, and then wipes the vector registers
/// and 16 KiB of the stack it worked on. Only the result is left.
///
/// A [`Key`](sealift_core::Key) is an array that each move copies: made and given to an engine in here, it leaves none.
#[inline]
pub fn wipe_after<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    wipe_foreign();
    result
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn below<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Clears the vector registers, and overwrites so many bytes of the stack below the caller, where what it has called so far
/// kept registers.
///
/// A compiler puts a register there when it needs another one, and no source code says where. What was
/// called has to be a function of its own, not inlined, that reaches no deeper; memory
/// that is known to hold secrets is wiped by its owner. Registers are cleared first: what is called next may put them
/// down, as the dynamic linker does. The tests `residue` look for what is left.
// What others may call inline calls one of those below, which are compiled here and not as their crate is.
#[inline(never)]
pub(crate) fn wipe<const BYTES: usize>() {
    clear_registers();
    overwrite::<BYTES>();
}

/// [`wipe`] below one short message, and below an expansion.
// IMPLEMENTATION NOTE: 1 KiB is too little where Cargo compiles as it does by itself, in 16 units: with one unit, as this workspace is
// compiled, frames are smaller.
#[inline(never)]
pub(crate) fn wipe_message() {
    clear_registers();
    overwrite::<{ 1_536 * FRAME_FACTOR }>();
}

/// [`wipe`] below a kernel that keeps no arrays, or those of one text.
#[inline(never)]
pub(crate) fn wipe_kernel() {
    clear_registers();
    overwrite::<KERNEL_BYTES>();
}

/// [`wipe`] below a kernel that keeps arrays of the largest registers, and below what expands raw keys and calls another.
#[inline(never)]
pub(crate) fn wipe_raw_keys() {
    clear_registers();
    overwrite::<{ (8 << 10) * FRAME_FACTOR }>();
}

/// [`wipe`] below code of others.
#[inline(never)]
fn wipe_foreign() {
    clear_registers();
    overwrite::<{ 16 << 10 }>();
}

/// Bytes of stack below a kernel that keeps no arrays, or those of one text: its round keys and powers in all lanes are 2 KiB.
// IMPLEMENTATION NOTE: 4 KiB are too little with 16 units of code.
pub(crate) const KERNEL_BYTES: usize = (6 << 10) * FRAME_FACTOR;

/// How many times as large frames may be as those of code that is optimised for speed.
const FRAME_FACTOR: usize = if cfg!(sealift_small_frames) { 1 } else { 4 };

/// Makes so many bytes of the caller's own stack zeros.
// IMPLEMENTATION NOTE: part by part, because from 2 KiB on the C library stores in a way that takes long to begin; and from a cache
// line's begin on, because each store across two lines takes as long as two.
#[inline(always)]
fn overwrite<const BYTES: usize>() {
    let mut bytes = [MaybeUninit::<u8>::uninit(); BYTES];
    let zero = MaybeUninit::new(0);
    bytes[..LINE].fill(zero);
    bytes[BYTES - LINE..].fill(zero);
    let begin = bytes.as_ptr().addr().wrapping_neg() % LINE;
    for part in bytes[begin..][..BYTES - LINE].chunks_mut(1 << 10) {
        part.fill(zero);
        black_box(part);
    }
    black_box(&mut bytes);
}

const LINE: usize = 64;

/// Clears the vector registers.
#[inline(always)]
pub(crate) fn clear_registers() {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    registers::clear();
}
