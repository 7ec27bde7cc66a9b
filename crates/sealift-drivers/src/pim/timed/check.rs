//! What DPUs made, beside what this processor's kernels make.

use super::texts::{nonce, plaintext};
use super::{Cipher, Run, Under, text};
use crate::kernels::Kernels;

impl Run {
    /// Compares every byte, and of GCM every tag.
    pub(super) fn check(&mut self) -> Result<(), String> {
        let kernels = Kernels::best("pim".to_owned()).map_err(text)?;
        for dpu in 0..self.timed.dpus {
            let made = self.set.take_xfer(dpu).unwrap_or_default();
            if let Some(laid) = &self.laid {
                laid.check(dpu, &self.timed, (&kernels, &made))?;
                continue;
            }
            let mut right = plaintext(dpu, self.timed.bytes);
            let mut tags = None;
            match self.timed.cipher {
                Cipher::Ecb => {
                    for block in right.as_chunks_mut::<16>().0 {
                        let counter = std::mem::take(block);
                        kernels.ctr_in_place(&self.key, counter, block);
                    }
                }
                Cipher::Ctr => {
                    let [a, b, c, d, e, f, g, h, i, j, k, l] = nonce(dpu);
                    let counter = [a, b, c, d, e, f, g, h, i, j, k, l, 0, 0, 0, 1];
                    kernels.ctr_in_place(&self.key, counter, &mut right);
                }
                Cipher::Gcm | Cipher::Many => {
                    let tag = kernels.seal(&self.key, &nonce(dpu), &[], &mut right);
                    tags = Some((tag, self.tag(dpu)?));
                }
            }
            if let Some(at) = made.iter().zip(&right).position(|(made, right)| made != right) {
                return Err(format!("DPU {dpu} computed byte {at} wrong"));
            }
            if made.len() != right.len() || tags.is_some_and(|(right, made)| right != made) {
                return Err(format!("DPU {dpu} computed its tag wrong"));
            }
        }
        Ok(())
    }

    /// The tag that a DPU's hashes make.
    fn tag(&mut self, dpu: usize) -> Result<[u8; 16], String> {
        let mut hashes = vec![0; 16 * self.timed.tasklets];
        self.set.copy_from(dpu, "hashes", 0, &mut hashes).map_err(text)?;
        let span = self.span();
        let own = |tasklet| self.timed.bytes.saturating_sub(tasklet * span).min(span) as u64 / 16;
        let hashes = hashes.as_chunks::<16>().0.iter().enumerate();
        let hashes = hashes.map(|(tasklet, hash)| (*hash, own(tasklet)));
        let under = Under::new(&self.key, &nonce(dpu))?;
        Ok(under.tag(&[], hashes, self.timed.bytes))
    }
}
