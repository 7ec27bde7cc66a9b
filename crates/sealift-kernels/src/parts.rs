//! One long message in parts, whose hashes are put together at the end.

use sealift_core::{
    Algorithm, KeyError, LongMessage, Op, PartHash, Slot, SlotTag, SlotText, Status,
};

use crate::caches::{Caching, Texts};
use crate::run::{address, length};
use crate::verdict::{self, Fitting};
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{self, aesni, vaes256, vaes512};
use crate::{Path, Schedule, model, schedule::Expanded, stack, xaes};

/// One message to be worked in parts, at the same time on many threads. The tag is made, or compared, when all are done.
#[derive(Debug)]
pub struct Parts {
    path: Path,
    schedule: Schedule,
    op: Op,
    nonce: Vec<u8>,
}

impl Parts {
    /// Those of a message that is sealed, opened or verified under a raw key: for AES-GCM one of 16, 24 or 32 bytes, for
    /// XAES-256-GCM one of 32 and a nonce of 24.
    ///
    /// # Errors
    /// Any other length; another algorithm.
    pub fn new(
        path: Path,
        algorithm: Algorithm,
        key: &[u8],
        op: Op,
        nonce: &[u8],
    ) -> Result<Parts, KeyError> {
        let mut schedule = Schedule::from_raw(path, key)?;
        let mut nonce = nonce;
        match (algorithm, xaes::split(nonce)) {
            (Algorithm::AesGcm, _) => {}
            (Algorithm::Xaes256Gcm, Some((head, rest))) if key.len() == 32 => {
                (schedule, nonce) = (xaes::derive_schedule(path, &schedule, head)?, rest);
            }
            _ => return Err(KeyError::Length { algorithm, bytes: key.len() }),
        }
        Ok(Parts { path, schedule, op, nonce: nonce.to_vec() })
    }

    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    fn hash(&self, first_block: u32, text: Fitting<'_, '_>, caching: Caching, to: &mut u128) {
        let expanded = self.schedule.expanded();
        *to = match self.path {
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::AesNi(token) if expanded.is_fast() => {
                aesni::part(token, expanded, text, first_block, caching)
            }
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::Vaes256(token) if expanded.is_fast() => {
                vaes256::part(token, expanded, text, first_block, caching)
            }
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::Vaes512(token) if expanded.is_fast() => {
                vaes512::part(token, expanded, text, first_block, caching)
            }
            _ => {
                // The model asks for nothing ahead.
                let _ = caching;
                model::part(expanded, text, first_block)
            }
        };
    }

    // Not a part of what calls it, so that its stack can be wiped.
    #[inline(never)]
    fn verdict(&self, slot: Fitting<'_, '_>, hashes: &[PartHash]) -> Status {
        let tag = tag(self.path, self.schedule.expanded(), &slot, hashes);
        slot.conclude(tag)
    }
}

impl LongMessage for Parts {
    /// # Panics
    /// The text is not of the kind that the operation has: one to read and write of the same length, or to verify one to
    /// read.
    fn work_part(&self, first_block: u32, text: SlotText<'_>) -> PartHash {
        let blocks = length(&text).div_ceil(16) as u64;
        // A message worth cutting is not in the caches. How long it is nobody tells: at least to the end of this part.
        let end = 16 * u64::from(first_block) + length(&text) as u64;
        let texts = Texts::of(self.path, u64::MAX, end);
        let caching = texts.caching(|| address(&text));
        // What fits is told of whole messages.
        let mut made = [0; 16];
        let tag = match self.op {
            Op::Seal => SlotTag::Write(&mut made),
            Op::Open | Op::Verify => SlotTag::Check(&[0; 16]),
        };
        let mut slot = Slot { op: self.op, nonce: &self.nonce, aad: &[], text, tag };
        let Some(text) = Fitting::of(&mut slot) else {
            panic!("a part of a text of another kind than {:?} has", self.op)
        };
        PartHash::new(blocks, |to| {
            let _settling = texts.settling();
            self.hash(first_block, text, caching, to);
            stack::wipe_kernel();
        })
    }

    fn conclude(&self, slot: Slot<'_>, hashes: &[PartHash]) -> Status {
        // Under a derived key the nonce is a part of the message's.
        let mut slot = Slot { nonce: &self.nonce, ..slot };
        let blocks: u64 = hashes.iter().map(PartHash::blocks).sum();
        let is_whole = blocks == length(&slot.text).div_ceil(16) as u64;
        match Fitting::of(&mut slot) {
            Some(fitting) if is_whole => {
                let status = self.verdict(fitting, hashes);
                stack::wipe_kernel();
                status
            }
            _ => {
                verdict::fail(slot.text);
                Status::NotProcessed
            }
        }
    }
}

fn tag(path: Path, expanded: &Expanded, slot: &Fitting<'_, '_>, hashes: &[PartHash]) -> u128 {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    if let Some(token) = x86_64::fast(path).filter(|_| expanded.is_fast()) {
        return aesni::tag_of_parts(token, expanded, slot, hashes);
    }
    let _ = path;
    model::tag_of_parts(expanded, slot, hashes)
}
