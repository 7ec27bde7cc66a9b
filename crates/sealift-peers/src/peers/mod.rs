//! The libraries that are compared with, a file each.

pub mod evp_aead;
pub mod graviola;
pub mod ipp;
pub mod ipsec_mb;
pub mod isal_crypto;
pub mod openssl;
pub mod ring;
pub mod rustcrypto;

use sealift_probes::ArmSpec;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Opens a named file, or the first that opens of those in `.venv/peers` and then those that the loader
/// finds by name.
fn first_that_opens<L>(
    file: Option<&str>,
    names: &[&str],
    open: impl Fn(&OsStr) -> Result<L, String>,
) -> Result<L, String> {
    if let Some(file) = file {
        return open(file.as_ref());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/peers");
    let installed = names.iter().map(|name| folder.join(name)).filter(|file| file.is_file());
    let candidates = installed.chain(names.iter().map(PathBuf::from));
    let mut reasons = vec![];
    for candidate in candidates {
        match open(candidate.as_ref()) {
            Ok(library) => return Ok(library),
            Err(reason) => reasons.push(reason),
        }
    }
    // The newest is named first, and its absence is what a reader wants to know of.
    Err(reasons.swap_remove(0))
}

/// What is done to a text.
#[derive(Clone, Copy)]
enum Direction {
    Encrypt,
    Decrypt,
}

/// A message; the tag is written in both directions.
struct Message<'m> {
    nonce: &'m [u8],
    aad: &'m [u8],
    input: &'m [u8],
    output: &'m mut [u8],
    tag: &'m mut [u8],
}

/// The loader's message, which its error keeps behind the name of the call that failed.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Why a library with the usual lengths only can't work such messages; nothing when it can.
fn lacks_usual(spec: &ArmSpec, key_bytes: &[u8], tag_bytes: &[u8]) -> Option<String> {
    let columns = &spec.columns;
    let lacks = |what: &str, column: &[u8], takes: &[u8]| {
        let other = column.iter().find(|bytes| !takes.contains(bytes))?;
        Some(format!("it takes no {what} of {other} bytes"))
    };
    lacks("key", &columns.key_bytes, key_bytes)
        .or_else(|| lacks("nonce", &columns.nonce_bytes, &[12]))
        .or_else(|| lacks("tag", &columns.tag_bytes, tag_bytes))
}

const INSTALLING: &str = "`make peer-libraries` installs it, or says why it can't";
