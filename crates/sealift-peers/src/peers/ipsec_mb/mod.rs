//! Intel's IPsec multi-buffer library, opened at run time: the direct calls, message by message.
//!
//! They are the ones that its manager chooses for this processor.

mod ffi;

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use ffi::{Direction, Functions, Key, Message};
use sealift_probes::ArmSpec;
use subtle::ConstantTimeEq;

/// The library.
pub struct IpsecMb(Functions);

impl Cipher for IpsecMb {
    type Key = Key;
    const NAME: &'static str = "ipsec-mb";
    const IS_LINKED: bool = false;

    fn open(file: Option<&str>) -> Result<(Self, String), String> {
        let mut reasons = vec![];
        for file in file.as_ref().map_or(&LIBRARIES[..], std::slice::from_ref) {
            match Functions::open(file.as_ref()) {
                Ok(functions) => {
                    let detail = functions.detail();
                    return Ok((Self(functions), detail));
                }
                Err(reason) => reasons.push(reason),
            }
        }
        Err(format!("{}; {HELP}", reasons.join(", ")))
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
const HELP: &str = "Debian's package libipsec-mb1 brings version 1.3";
