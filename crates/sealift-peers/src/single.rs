//! [`sealift::Cipher`] as users call it: one message at a time, without an engine.

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use sealift::{CipherError, Key, Op, Slot, SlotTag, SlotText, Stability, Status};
use sealift_probes::ArmSpec;

/// The form of Sealift for one message.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Cipher for Single {
    type Key = sealift::Cipher;
    const NAME: &'static str = "cipher";

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        Ok((Self, "sealift::Cipher".to_owned()))
    }

    fn lacks(&self, spec: &ArmSpec) -> Option<String> {
        let other = spec.columns.tag_bytes.iter().find(|bytes| **bytes != 16)?;
        Some(format!("it takes no tag of {other} bytes"))
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<sealift::Cipher, Refused> {
        let key = Key::new(raw).map_err(|error| Refused(error.to_string()))?;
        sealift::Cipher::new(&key).map_err(|error| Refused(error.to_string()))
    }

    #[inline(always)]
    fn seal(&self, key: &mut sealift::Cipher, of: Sealing<'_>) -> Result<(), Refused> {
        let Sealing { nonce, aad, input, output, tag } = of;
        let (text, tag) = (SlotText::Apart { input, output }, SlotTag::Write(tag));
        let slot = Slot { op: Op::Seal, nonce, aad, text, tag };
        key.process(slot, Stability::Frozen).map(|_| ()).map_err(refused)
    }

    #[inline(always)]
    fn unseal(&self, key: &mut sealift::Cipher, of: Opening<'_>) -> Result<bool, Refused> {
        let Opening { nonce, aad, input, output, tag } = of;
        let (text, tag) = (SlotText::Apart { input, output }, SlotTag::Check(tag));
        let slot = Slot { op: Op::Open, nonce, aad, text, tag };
        let status = key.process(slot, Stability::Frozen).map_err(refused)?;
        Ok(status == Status::Ok)
    }
}

#[cold]
fn refused(error: CipherError) -> Refused {
    Refused(error.to_string())
}
