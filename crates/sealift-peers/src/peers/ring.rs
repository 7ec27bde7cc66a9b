//! ring: keys of 128 and 256 bits, nonces of 12 bytes, full tags, in place only.

use super::lacks_usual;
use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, Tag, UnboundKey};
use ring::error::Unspecified;
use sealift_probes::ArmSpec;

/// The library.
#[derive(Clone, Copy, Debug)]
pub struct Ring;

impl Cipher for Ring {
    type Key = LessSafeKey;
    const NAME: &'static str = "ring";
    const IN_PLACE: bool = true;

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        Ok((Self, concat!("ring ", env!("VERSION_OF_RING")).to_owned()))
    }

    fn lacks(&self, spec: &ArmSpec) -> Option<String> {
        lacks_usual(spec, &[16, 32], &[16])
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<LessSafeKey, Refused> {
        let algorithm = if raw.len() == 16 { &AES_128_GCM } else { &AES_256_GCM };
        UnboundKey::new(algorithm, raw).map(LessSafeKey::new).map_err(refused)
    }

    #[inline(always)]
    fn seal(&self, key: &mut LessSafeKey, of: Sealing<'_>) -> Result<(), Refused> {
        let nonce = Nonce::try_assume_unique_for_key(of.nonce).map_err(refused)?;
        of.output.copy_from_slice(of.input);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::from(of.aad), of.output);
        of.tag.copy_from_slice(tag.map_err(refused)?.as_ref());
        Ok(())
    }

    #[inline(always)]
    fn unseal(&self, key: &mut LessSafeKey, of: Opening<'_>) -> Result<bool, Refused> {
        let nonce = Nonce::try_assume_unique_for_key(of.nonce).map_err(refused)?;
        let tag = Tag::try_from(of.tag).map_err(|_| refused(Unspecified))?;
        of.output.copy_from_slice(of.input);
        Ok(key.open_in_place_separate_tag(nonce, Aad::from(of.aad), tag, of.output, 0..).is_ok())
    }
}

#[cold]
fn refused(error: Unspecified) -> Refused {
    Refused(error.to_string())
}
