//! What the test `ctgrind` tells and asks valgrind's memcheck, which runs it.
//!
//! A secret is marked as undefined memory; memcheck follows what is computed from it and reports a
//! branch or an address that depends on it. In this build only, so that no other pays for it.
#![allow(unsafe_code)]

use core::{arch::asm, hint, ptr};

/// Whether valgrind runs this program.
#[must_use]
pub fn is_running() -> bool {
    ask(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// How many errors memcheck has found so far.
#[must_use]
pub fn errors() -> usize {
    ask(COUNT_ERRORS, 0, 0)
}

/// From now on nothing may depend on what these bytes are.
pub fn make_secret(bytes: &mut [u8]) {
    ask(MAKE_MEM_UNDEFINED, bytes.as_ptr().expose_provenance(), bytes.len());
}

/// From now on these bytes may be known to anybody.
pub fn make_public(bytes: &[u8]) {
    ask(MAKE_MEM_DEFINED, bytes.as_ptr().expose_provenance(), bytes.len());
}

/// How many of these bytes depend on a secret.
#[must_use]
pub fn secret_bytes(bytes: &[u8]) -> usize {
    let mut marks = vec![0_u8; bytes.len()];
    let done = ask_with(
        GET_VBITS,
        bytes.as_ptr().expose_provenance(),
        marks.as_mut_ptr().expose_provenance(),
        bytes.len(),
    );
    assert_eq!(done, 1, "memcheck answers for memory that it knows");
    make_public(&marks);
    hint::black_box(&marks).iter().filter(|mark| **mark != 0).count()
}

/// The same value, known to anybody.
pub(crate) fn declassified(verdict: bool) -> bool {
    let place = verdict;
    ask(MAKE_MEM_DEFINED, ptr::from_ref(&place).expose_provenance(), 1);
    // SAFETY: a reference to a bool is readable.
    unsafe { ptr::read_volatile(&raw const place) }
}

fn ask(request: usize, first: usize, second: usize) -> usize {
    ask_with(request, first, second, 0)
}

/// Asks valgrind as its header `valgrind.h` does on x86-64 under Linux; 0 without valgrind.
fn ask_with(request: usize, first: usize, second: usize, third: usize) -> usize {
    let question = [request, first, second, third, 0, 0];
    let mut answer = 0_usize;
    // SAFETY: four rotations by 128 bits in all and an exchange of a register with itself change
    // nothing. Valgrind knows them by sight, reads the question, and marks memory without changing it;
    // the one request that writes is given the address and the length of a buffer that is.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") question.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

// Numbers of `valgrind.h` and `memcheck.h`, which are an interface that does not change.
const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MEMCHECK: usize = ((b'M' as usize) << 24) | ((b'C' as usize) << 16);
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
const GET_VBITS: usize = MEMCHECK + 8;
