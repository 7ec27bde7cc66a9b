//! OpenSSL, opened at run time: EVP with a context for each key, message by message.

mod ffi;

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::{Context, Functions};
use sealift_probes::ArmSpec;
use std::sync::Arc;

/// The library.
pub struct OpenSsl(Arc<Functions>);

impl Cipher for OpenSsl {
    type Key = Context;
    const NAME: &'static str = "openssl";
    const IS_LINKED: bool = false;

    fn open(file: Option<&str>) -> Result<(Self, String), String> {
        let mut reasons = vec![];
        for file in file.as_ref().map_or(&LIBRARIES[..], std::slice::from_ref) {
            match Functions::open(file.as_ref()) {
                Ok(functions) => {
                    let detail = functions.detail();
                    return Ok((Self(Arc::new(functions)), detail));
                }
                Err(reason) => reasons.push(reason),
            }
        }
        Err(format!("{}; Debian's package libssl3 brings one", reasons.join(", ")))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<Context, Refused> {
        let mut context = Context::new(&self.0).ok_or_else(|| refused("EVP_CIPHER_CTX_new"))?;
        self.renew(&mut context, raw, 0)?;
        context.expand().ok_or_else(|| refused("EVP_CipherInit_ex"))?;
        Ok(context)
    }

    #[inline(always)]
    fn renew(&self, key: &mut Context, raw: &[u8], _: usize) -> Result<(), Refused> {
        key.set_key(raw).ok_or_else(|| refused("EVP_CipherInit_ex"))
    }

    #[inline(always)]
    fn seal(&self, key: &mut Context, of: Sealing<'_>) -> Result<(), Refused> {
        key.seal(of).ok_or_else(|| refused("EVP_EncryptFinal_ex"))
    }

    #[inline(always)]
    fn unseal(&self, key: &mut Context, of: Opening<'_>) -> Result<bool, Refused> {
        key.open(of).ok_or_else(|| refused("EVP_DecryptUpdate"))
    }
}

#[cold]
fn refused(function: &str) -> Refused {
    Refused(function.to_owned())
}

/// The newest first.
const LIBRARIES: [&str; 2] = ["libcrypto.so.4", "libcrypto.so.3"];
