//! Wiping where secrets were worked with: the stack below a caller, and the vector registers.

use core::hint::black_box;
use core::mem::MaybeUninit;

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::registers;

/// Calls code that leaves secrets behind, a library of others or what moves a key, and then wipes the vector registers
/// and the stack it worked on, down to 16 KiB. Only the result is left.
///
/// A [`Key`](sealift_core::Key) is an array that each move copies: made and given to an engine in here, it leaves none.
#[inline]
pub fn wipe_after<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    wipe_far();
    result
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn below<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Clears the vector registers, and overwrites the stack below the caller, where what it has called so far kept
/// registers.
///
/// A compiler puts a register there when it needs another one, and no source code says where. What was
/// called has to be a function of its own, not inlined, that reaches no deeper than [`DEPTH`]; memory
/// that is known to hold secrets is wiped by its owner. Registers are cleared first: what is called next may put them
/// down, as the dynamic linker does. The tests `residue` look for what is left.
#[inline(never)]
pub(crate) fn wipe() {
    clear_registers();
    overwrite::<DEPTH>();
}

/// How deep a kernel reaches that keeps no arrays, or those of one text: its round keys and powers in all lanes are 2 KiB.
pub(crate) const DEPTH: usize = 4 << 10;

/// The same for functions that reach no deeper than 1 KiB, as an expansion and one short message do.
#[inline(never)]
pub(crate) fn wipe_near() {
    clear_registers();
    overwrite::<{ 1 << 10 }>();
}

/// The same for a kernel that keeps arrays of the largest registers, and for one that is called by what expands raw keys.
#[inline(never)]
pub(crate) fn wipe_deeper() {
    clear_registers();
    overwrite::<{ DEPTH + (2 << 10) }>();
}

/// The same for code of others.
#[inline(never)]
fn wipe_far() {
    clear_registers();
    overwrite::<{ 16 << 10 }>();
}

/// Makes so many bytes of the caller's own stack zeros.
// IMPLEMENTATION NOTE: part by part, because from 2 KiB on the C library stores in a way that takes long to begin.
#[inline(always)]
fn overwrite<const BYTES: usize>() {
    let mut bytes = [MaybeUninit::<u8>::uninit(); BYTES];
    for part in bytes.chunks_mut(1 << 10) {
        part.fill(MaybeUninit::new(0));
        black_box(part);
    }
}

/// Clears the vector registers.
#[inline(always)]
pub(crate) fn clear_registers() {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    registers::clear();
}
