//! AES in counter mode by itself (SP 800-38A, 6.5).

use sealift_core::SlotText;

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{aesni, vaes256, vaes512};
use crate::{Path, Schedule, model, schedule::Expanded, stack};

/// Adds the key stream of a counter block to a text: encrypts a plaintext, decrypts a ciphertext.
///
/// The counter block is a big-endian number; each block of text takes the next one, and behind the last
/// comes 0. Nothing is authenticated.
///
/// # Errors
/// `output` is not as long as `input`; nothing is written then.
pub fn ctr(
    path: Path,
    schedule: &Schedule,
    counter: [u8; 16],
    input: &[u8],
    output: &mut [u8],
) -> Result<(), CtrError> {
    if input.len() != output.len() {
        return Err(CtrError::Lengths { input: input.len(), output: output.len() });
    }
    add_key_stream(path, schedule, counter, SlotText::Apart { input, output });
    Ok(())
}

/// The same over the text itself.
pub fn ctr_in_place(path: Path, schedule: &Schedule, counter: [u8; 16], text: &mut [u8]) {
    add_key_stream(path, schedule, counter, SlotText::InPlace(text));
}

/// Why a text was not worked on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CtrError {
    /// The result has another length than the text.
    #[error("output has {output} bytes: it must have {input}, as the input has")]
    Lengths {
        /// Bytes of the input.
        input: usize,
        /// Bytes of the output.
        output: usize,
    },
}

fn add_key_stream(path: Path, schedule: &Schedule, counter: [u8; 16], text: SlotText<'_>) {
    worked(path, schedule.expanded(), u128::from_be_bytes(counter), text);
    stack::wipe_kernel();
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn worked(path: Path, expanded: &Expanded, counter: u128, text: SlotText<'_>) {
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(token) if expanded.is_fast() => {
            aesni::add_key_stream(token, expanded, counter, text);
        }
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(token) if expanded.is_fast() => {
            vaes256::add_key_stream(token, expanded, counter, text);
        }
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(token) if expanded.is_fast() => {
            vaes512::add_key_stream(token, expanded, counter, text);
        }
        _ => model::add_key_stream(expanded, counter, text),
    }
}
