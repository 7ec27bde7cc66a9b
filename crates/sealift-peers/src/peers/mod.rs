//! The libraries that are compared with, a file each.

pub mod aws_lc;
pub mod graviola;
pub mod ipp;
pub mod ipsec_mb;
pub mod openssl;
pub mod ring;
pub mod rustcrypto;

use sealift_probes::ArmSpec;

/// Why a library with the usual lengths only can't work such messages; nothing when it can.
fn lacks_usual(spec: &ArmSpec, key_bytes: &[u8]) -> Option<String> {
    let columns = &spec.columns;
    let lacks = |what: &str, column: &[u8], takes: &[u8]| {
        let other = column.iter().find(|bytes| !takes.contains(bytes))?;
        Some(format!("it takes no {what} of {other} bytes"))
    };
    lacks("key", &columns.key_bytes, key_bytes)
        .or_else(|| lacks("nonce", &columns.nonce_bytes, &[12]))
        .or_else(|| lacks("tag", &columns.tag_bytes, &[16]))
}
