//! Many messages for each DPU, each under a key of its own.

use super::texts::{nonce, plaintext};
use super::{Timed, text};
use crate::kernels::Kernels;
use dpu_sim::kernels::many::{Layout, Message, Operation, Places, RESULTS_AT};
use sealift_core::Key;

pub(super) use dpu_sim::kernels::many::program;

/// Where the results of a DPU's messages are; where all have as many, it is the same for each.
pub(super) struct Laid(Places);

impl Laid {
    /// What goes to a DPU's memory.
    pub(super) fn new(dpu: usize, timed: &Timed) -> Result<(Vec<u8>, Self), String> {
        let Timed { bytes, message_bytes, .. } = *timed;
        if message_bytes == 0 || !bytes.is_multiple_of(message_bytes) {
            return Err(format!(
                "{bytes} bytes for each DPU in messages of {message_bytes} bytes, and not a multiple of that"
            ));
        }
        let keys = keys(dpu, timed);
        let keys: Vec<_> = keys.chunks(timed.key_bytes).collect();
        let texts = plaintext(dpu, bytes);
        let nonces: Vec<_> = (0..keys.len()).map(|number| own_nonce(dpu, number)).collect();
        let messages = texts.chunks(message_bytes).zip(&nonces).enumerate();
        let messages: Vec<_> = messages
            .map(|(key, (text, nonce))| Message {
                operation: Operation::Seal,
                key,
                nonce: nonce.as_slice(),
                aad: &[],
                text,
            })
            .collect();
        let (image, places) = Layout::new(&keys, &messages).map_err(text)?.into_image();
        Ok((image, Self(places)))
    }

    /// From where on a DPU's results are, and how many bytes.
    pub(super) fn results(&self) -> (u32, usize) {
        (RESULTS_AT, self.0.results_bytes())
    }

    /// Compares every text and tag of a DPU.
    pub(super) fn check(
        &self,
        dpu: usize,
        timed: &Timed,
        (kernels, made): (&Kernels, &[u8]),
    ) -> Result<(), String> {
        let mut texts = plaintext(dpu, timed.bytes);
        let keys = keys(dpu, timed);
        let messages = texts.chunks_mut(timed.message_bytes).zip(keys.chunks(timed.key_bytes));
        for (number, (message, key)) in messages.enumerate() {
            let key = Key::new(key).map_err(text)?;
            let tag = kernels.seal(&key, &own_nonce(dpu, number), &[], message);
            if made[self.0.text(number)] != *message || self.0.tag(number, made) != tag {
                return Err(format!("DPU {dpu} computed message {number} wrong"));
            }
        }
        Ok(())
    }
}

/// A key for each message of a DPU, one after the other.
fn keys(dpu: usize, timed: &Timed) -> Vec<u8> {
    let messages = timed.bytes / timed.message_bytes;
    plaintext(usize::MAX - dpu, messages * timed.key_bytes)
}

fn own_nonce(dpu: usize, message: usize) -> [u8; 12] {
    let mut nonce = nonce(dpu);
    for (place, byte) in nonce.iter_mut().zip(&(message as u64).to_be_bytes()[4..]) {
        *place = *byte;
    }
    nonce
}
