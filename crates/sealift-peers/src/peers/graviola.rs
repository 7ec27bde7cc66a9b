//! graviola: keys of 128 and 256 bits, nonces of 12 bytes, full tags, in place only.

use super::lacks_usual;
use crate::cipher::{Cipher, Opening, Refused, Sealing};
use graviola::aead::AesGcm;
use sealift_probes::ArmSpec;

/// The library.
#[derive(Clone, Copy, Debug)]
pub struct Graviola;

/// Why this processor can't run it; nothing when it can. The library itself panics then.
fn lacks_processor() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        let here = [
            ("aes", is_x86_feature_detected!("aes")),
            ("ssse3", is_x86_feature_detected!("ssse3")),
            ("pclmulqdq", is_x86_feature_detected!("pclmulqdq")),
            ("avx", is_x86_feature_detected!("avx")),
            ("avx2", is_x86_feature_detected!("avx2")),
            ("bmi1", is_x86_feature_detected!("bmi1")),
            ("bmi2", is_x86_feature_detected!("bmi2")),
            ("adx", is_x86_feature_detected!("adx")),
        ];
        let (name, _) = here.iter().find(|(_, is_here)| !is_here)?;
        Some(format!("it needs {name}, which this processor lacks"))
    }
    #[cfg(not(target_arch = "x86_64"))]
    Some("it is measured on x86-64 only".to_owned())
}

impl Cipher for Graviola {
    type Key = AesGcm;
    const NAME: &'static str = "graviola";
    const IN_PLACE: bool = true;

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        let detail = concat!("graviola ", env!("VERSION_OF_GRAVIOLA"));
        lacks_processor().map_or_else(|| Ok((Self, detail.to_owned())), Err)
    }

    fn lacks(&self, spec: &ArmSpec) -> Option<String> {
        lacks_usual(spec, &[16, 32], &[16])
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<AesGcm, Refused> {
        Ok(AesGcm::new(raw))
    }

    #[inline(always)]
    fn seal(&self, key: &mut AesGcm, of: Sealing<'_>) -> Result<(), Refused> {
        let nonce = of.nonce.try_into().map_err(|_| wrong_nonce(of.nonce))?;
        let tag = of.tag.try_into().map_err(|_| Refused("a short tag".to_owned()))?;
        of.output.copy_from_slice(of.input);
        key.encrypt(nonce, of.aad, of.output, tag);
        Ok(())
    }

    #[inline(always)]
    fn unseal(&self, key: &mut AesGcm, of: Opening<'_>) -> Result<bool, Refused> {
        let nonce = of.nonce.try_into().map_err(|_| wrong_nonce(of.nonce))?;
        of.output.copy_from_slice(of.input);
        Ok(key.decrypt(nonce, of.aad, of.output, of.tag).is_ok())
    }
}

#[cold]
fn wrong_nonce(nonce: &[u8]) -> Refused {
    Refused(format!("a nonce of {} bytes", nonce.len()))
}
