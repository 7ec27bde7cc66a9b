//! Wiping what kernels leave on the stack.

use core::hint::black_box;

/// Overwrites the stack below the caller, where what it has called so far kept registers.
///
/// A compiler puts a register there when it needs another one, and no source code says where. The
/// kernels reach [`BYTES`] down at most: the test `residue` looks for what they leave.
#[inline(never)]
pub(crate) fn wipe() {
    black_box(&mut [0_u8; BYTES]);
}

const BYTES: usize = 4 << 10;
