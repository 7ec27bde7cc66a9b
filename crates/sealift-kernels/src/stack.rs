//! Wiping what kernels leave on the stack.

use core::hint::black_box;

/// Overwrites the stack below the caller, where what it has called so far kept registers.
///
/// A compiler puts a register there when it needs another one, and no source code says where. What was
/// called has to be a function of its own, not inlined, that reaches no deeper than [`DEPTH`]; memory
/// that is known to hold secrets is wiped by its owner. The test `residue` looks for what is left.
#[inline(never)]
pub(crate) fn wipe() {
    black_box(&mut [0_u8; DEPTH]);
}

/// How deep a kernel reaches that keeps no arrays.
pub(crate) const DEPTH: usize = 4 << 10;

/// The same for functions that reach no deeper than 1 KiB, as an expansion and one short message do.
// IMPLEMENTATION NOTE: from 2 KiB on the C library stores in a way that takes long to begin.
#[inline(never)]
pub(crate) fn wipe_near() {
    black_box(&mut [0_u8; 1 << 10]);
}
