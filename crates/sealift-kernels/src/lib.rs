//! AES-GCM and XAES-256-GCM for this processor, and payload copies.
//!
//! - A [`Path`] is a way of computing: the by-the-book model, or an instruction set this processor
//!   was seen to have. All paths give the same bytes, and one process can use them all.
//! - A [`Schedule`] is an expanded key; a [`Shelf`] keeps many side by side.
//! - [`run`] works on a range of a checked batch, [`process`] on one message, [`Parts`] on a long one by many threads.
//! - [`ctr`] is counter mode by itself, for those who know why they want it.
//! - [`stack`] wipes what code of others leaves.
//! - [`copy`](mod@copy) moves payload without falling into a trap of the C library.
//!
//! A failed message leaves zeros. Nothing secret decides a branch or an address. Ciphertext is
//! read once, so that a buffer rewritten during a call gives a right result or a failed one. Keys,
//! and buffers that held plaintext or key stream, are wiped.
//!
//! Anywhere but on x86-64, and with `--cfg sealift_portable`, only the model is compiled.

#[cfg_attr(
    not(all(target_arch = "x86_64", not(sealift_portable))),
    expect(dead_code, reason = "the model asks for nothing")
)]
mod caches;
pub mod copy;
mod ctr;
mod model;
mod once;
mod parts;
mod path;
mod raw;
mod run;
mod schedule;
mod shelf;
pub mod stack;
#[cfg(sealift_ctgrind)]
pub mod valgrind;
mod verdict;
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod x86_64;
mod xaes;

pub use ctr::{CtrError, ctr, ctr_in_place};
pub use parts::Parts;
pub use path::{Path, PathError};
pub use run::{Schedules, process, run};
pub use schedule::Schedule;
pub use shelf::Shelf;
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
pub use x86_64::cpu::{HaveAesNi, HaveVaes256, HaveVaes512};
pub use xaes::process_xaes;
