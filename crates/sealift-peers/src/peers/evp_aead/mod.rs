//! AWS-LC, linked, and BoringSSL, opened at run time: `EVP_AEAD`, with contexts that stay in place.

mod ffi;

use super::{INSTALLING, first_that_opens};
use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::{ExpandedKey, Functions};
use sealift_probes::ArmSpec;
use std::sync::Arc;

/// What aws-lc-rs and the driver `library` call.
pub struct AwsLc(Arc<Functions>);

/// Google's library.
pub struct BoringSsl(Arc<Functions>);

macro_rules! cipher {
    ($type:ident, $name:literal, $is_linked:literal, $open:expr) => {
        impl Cipher for $type {
            type Key = ExpandedKey;
            const NAME: &'static str = $name;
            const IS_LINKED: bool = $is_linked;

            fn open(file: Option<&str>) -> Result<(Self, String), String> {
                let (functions, detail) = $open(file)?;
                Ok((Self(Arc::new(functions)), detail))
            }

            fn lacks(&self, _: &ArmSpec) -> Option<String> {
                None
            }

            #[inline(always)]
            fn expand(&self, raw: &[u8], tag_bytes: usize) -> Result<ExpandedKey, Refused> {
                let key = ExpandedKey::new(&self.0, raw, tag_bytes);
                key.ok_or_else(|| refused("EVP_AEAD_CTX_init"))
            }

            #[inline(always)]
            fn renew(&self, key: &mut ExpandedKey, raw: &[u8], tag: usize) -> Result<(), Refused> {
                if key.renew(raw, tag) { Ok(()) } else { Err(refused("EVP_AEAD_CTX_init")) }
            }

            #[inline(always)]
            fn seal(&self, key: &mut ExpandedKey, of: Sealing<'_>) -> Result<(), Refused> {
                if key.seal(of) { Ok(()) } else { Err(refused("EVP_AEAD_CTX_seal_scatter")) }
            }

            #[inline(always)]
            fn unseal(&self, key: &mut ExpandedKey, of: Opening<'_>) -> Result<bool, Refused> {
                Ok(key.open(of))
            }
        }
    };
}

cipher!(AwsLc, "aws-lc", true, open_aws_lc);
cipher!(BoringSsl, "boringssl", false, open_boringssl);

#[expect(clippy::unnecessary_wraps, reason = "as what opens BoringSSL")]
fn open_aws_lc(_: Option<&str>) -> Result<(Functions, String), String> {
    Ok((Functions::linked(), format!("AWS-LC {}, EVP_AEAD", ffi::linked_version())))
}

fn open_boringssl(file: Option<&str>) -> Result<(Functions, String), String> {
    let functions = first_that_opens(file, &[LIBRARY], Functions::open)
        .map_err(|reason| format!("{reason}; {INSTALLING}"))?;
    Ok((functions, format!("BoringSSL of boring-sys {VERSION}, EVP_AEAD")))
}

#[cold]
fn refused(function: &str) -> Refused {
    Refused(function.to_owned())
}

/// Named by the version that its sources' lock file names, because the library doesn't know its own.
const LIBRARY: &str = concat!("libcrypto-boring-sys-", env!("VERSION_OF_BORING_SYS"), ".so");
const VERSION: &str = env!("VERSION_OF_BORING_SYS");
