//! Intel's ISA-L crypto, opened at run time: its calls for a whole message, which choose their code for this
//! processor.

mod ffi;

use super::{Direction, Message, first_that_opens, lacks_usual};
use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::{Functions, Key};
use sealift_probes::ArmSpec;
use subtle::ConstantTimeEq;

/// The library.
pub struct IsalCrypto(Functions);

impl Cipher for IsalCrypto {
    type Key = Key;
    const NAME: &'static str = "isal-crypto";
    const IS_LINKED: bool = false;

    fn open(file: Option<&str>) -> Result<(Self, String), String> {
        let functions = first_that_opens(file, &[LIBRARY], Functions::open)
            .map_err(|reason| format!("{reason}; {INSTALLING}"))?;
        let detail = functions.detail();
        Ok((Self(functions), detail))
    }

    fn lacks(&self, spec: &ArmSpec) -> Option<String> {
        lacks_usual(spec, &[16, 32], &[8, 12, 16])
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<Key, Refused> {
        let mut key = Key::default();
        self.0.expand(&mut key, raw)?;
        Ok(key)
    }

    #[inline(always)]
    fn renew(&self, key: &mut Key, raw: &[u8], _: usize) -> Result<(), Refused> {
        self.0.expand(key, raw)
    }

    #[inline(always)]
    fn seal(&self, key: &mut Key, of: Sealing<'_>) -> Result<(), Refused> {
        let Sealing { nonce, aad, input, output, tag } = of;
        self.0.crypt(Direction::Encrypt, key, Message { nonce, aad, input, output, tag })
    }

    #[inline(always)]
    fn unseal(&self, key: &mut Key, of: Opening<'_>) -> Result<bool, Refused> {
        let mut found = [0; 16];
        let tag = &mut found[..of.tag.len()];
        let Opening { nonce, aad, input, output, .. } = of;
        self.0.crypt(Direction::Decrypt, key, Message { nonce, aad, input, output, tag })?;
        Ok(found[..of.tag.len()].ct_eq(of.tag).into())
    }
}

const LIBRARY: &str = "libisal_crypto.so.2";
const INSTALLING: &str =
    "no package index has it: put the library into .venv/peers, or name it with lib=FILE";
