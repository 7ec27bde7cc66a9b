//! OpenSSL, opened at run time: EVP with a context for each key, message by message.

mod ffi;

use super::{INSTALLING, first_that_opens};
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
        let functions = first_that_opens(file, &LIBRARIES, Functions::open)
            .map_err(|reason| format!("{reason}; {INSTALLING}"))?;
        let detail = functions.detail();
        Ok((Self(Arc::new(functions)), detail))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<Context, Refused> {
        let mut context = Context::new(&self.0).ok_or_else(|| refused("EVP_CIPHER_CTX_new"))?;
        self.renew(&mut context, raw, 0)?;
        context.expand().ok_or_else(|| refused("EVP_CipherInit_ex2"))?;
        Ok(context)
    }

    #[inline(always)]
    fn renew(&self, key: &mut Context, raw: &[u8], _: usize) -> Result<(), Refused> {
        key.set_key(raw).ok_or_else(|| refused("EVP_CipherInit_ex2"))
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
const LIBRARIES: [&str; 3] = [
    concat!("libcrypto-openssl-src-", env!("VERSION_OF_OPENSSL_SRC"), ".so"),
    "libcrypto.so.4",
    "libcrypto.so.3",
];
