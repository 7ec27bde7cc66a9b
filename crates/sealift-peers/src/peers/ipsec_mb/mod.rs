//! Intel's IPsec multi-buffer library, opened at run time: the direct calls, message by message.
//!
//! They are the ones that its manager chooses for this processor.

mod ffi;

use super::{Direction, INSTALLING, Message, first_that_opens};
use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::{Functions, Key};
use sealift_probes::ArmSpec;
use subtle::ConstantTimeEq;

/// The library.
pub struct IpsecMb(Functions);

impl Cipher for IpsecMb {
    type Key = Key;
    const NAME: &'static str = "ipsec-mb";
    const IS_LINKED: bool = false;

    fn open(file: Option<&str>) -> Result<(Self, String), String> {
        let functions = first_that_opens(file, &LIBRARIES, Functions::open)
            .map_err(|reason| format!("{reason}; {INSTALLING}"))?;
        let detail = functions.detail();
        Ok((Self(functions), detail))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<Key, Refused> {
        let mut key = Key::new(&self.0);
        self.0
            .expand(&mut key, raw)
            .ok_or_else(|| Refused(format!("{} bytes of key", raw.len())))?;
        Ok(key)
    }

    #[inline(always)]
    fn renew(&self, key: &mut Key, raw: &[u8], _: usize) -> Result<(), Refused> {
        self.0.expand(key, raw).ok_or_else(|| Refused(format!("{} bytes of key", raw.len())))
    }

    #[inline(always)]
    fn seal(&self, key: &mut Key, of: Sealing<'_>) -> Result<(), Refused> {
        let Sealing { nonce, aad, input, output, tag } = of;
        self.0.crypt(Direction::Encrypt, key, Message { nonce, aad, input, output, tag });
        Ok(())
    }

    #[inline(always)]
    fn unseal(&self, key: &mut Key, of: Opening<'_>) -> Result<bool, Refused> {
        let mut found = [0; 16];
        let tag = &mut found[..of.tag.len()];
        let Opening { nonce, aad, input, output, .. } = of;
        self.0.crypt(Direction::Decrypt, key, Message { nonce, aad, input, output, tag });
        Ok(found[..of.tag.len()].ct_eq(of.tag).into())
    }
}

/// The newest first.
const LIBRARIES: [&str; 3] = ["libIPSec_MB.so.3", "libIPSec_MB.so.2", "libIPSec_MB.so.1"];
