//! AWS-LC, linked: what aws-lc-rs and the driver `library` call, with contexts that stay in place.

mod ffi;

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::Aead;
use sealift_probes::ArmSpec;

/// The library.
#[derive(Clone, Copy, Debug)]
pub struct AwsLc;

impl Cipher for AwsLc {
    type Key = Aead;
    const NAME: &'static str = "aws-lc";

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        Ok((Self, format!("AWS-LC {}, EVP_AEAD", ffi::version())))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    #[inline(always)]
    fn expand(&self, raw: &[u8], tag_bytes: usize) -> Result<Aead, Refused> {
        Aead::new(raw, tag_bytes).ok_or_else(|| refused("EVP_AEAD_CTX_init"))
    }

    #[inline(always)]
    fn renew(&self, key: &mut Aead, raw: &[u8], tag_bytes: usize) -> Result<(), Refused> {
        if key.renew(raw, tag_bytes) { Ok(()) } else { Err(refused("EVP_AEAD_CTX_init")) }
    }

    #[inline(always)]
    fn seal(&self, key: &mut Aead, of: Sealing<'_>) -> Result<(), Refused> {
        if key.seal(of) { Ok(()) } else { Err(refused("EVP_AEAD_CTX_seal_scatter")) }
    }

    #[inline(always)]
    fn unseal(&self, key: &mut Aead, of: Opening<'_>) -> Result<bool, Refused> {
        Ok(key.open(of))
    }
}

#[cold]
fn refused(function: &str) -> Refused {
    Refused(function.to_owned())
}
