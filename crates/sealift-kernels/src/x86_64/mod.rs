//! AES-GCM with the instructions of x86-64.
//!
//! The mode is written once, in `gcm`, `text`, `ctr` and `ghash`, over the trait [`isa::Isa`]: registers of
//! one, two or four blocks. Each instruction set is one file that says what its registers do and
//! compiles the mode with its instructions. `wide` and `narrow` work on many messages at
//! once, which `window` brings them.

pub(crate) mod aesni;
pub(crate) mod copy;
pub(crate) mod cpu;
mod ctr;
pub(crate) mod expand;
mod gcm;
mod ghash;
mod isa;
pub(crate) mod narrow;
mod part;
mod parts;
pub(crate) mod registers;
mod text;
pub(crate) mod vaes256;
pub(crate) mod vaes512;
pub(crate) mod wide;
mod window;

pub(crate) use self::window::item::lines;
use crate::Path;

/// Whether a path of this processor may read folded powers: a schedule serves them all.
pub(crate) fn folds() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
}

/// Proof for the instructions of every fast path, if the path is one.
pub(crate) fn fast(path: Path) -> Option<cpu::HaveAesNi> {
    match path {
        Path::Model => None,
        Path::AesNi(token) => Some(token),
        Path::Vaes256(token) => Some(token.into()),
        Path::Vaes512(token) => Some(token.into()),
    }
}
