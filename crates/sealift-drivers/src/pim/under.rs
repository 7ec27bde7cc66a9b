//! What the host makes of a key and a nonce, for DPUs that share a message.

use crate::kernels::Kernels;
use dpu_sim::kernels::{HashKey, RoundKeys, ctr_parameters};
use sealift_core::Key;
use sealift_kernels::copy::copy;
use zeroize::Zeroizing;

/// Round keys, hash key, first counter, and what the tag is masked with.
pub(super) struct Under {
    pub(super) rounds: RoundKeys,
    pub(super) hash: HashKey,
    first: [u8; 16],
    mask: Zeroizing<[u8; 16]>,
}

impl Under {
    pub(super) fn new(key: &Key, nonce: &[u8]) -> Result<Self, String> {
        let kernels = Kernels::best("pim".to_owned()).map_err(|error| error.to_string())?;
        let encrypted = |block: [u8; 16]| {
            let mut stream = Zeroizing::new([0; 16]);
            kernels.ctr_in_place(key, block, &mut *stream);
            stream
        };
        let hash = HashKey::new(&encrypted([0; 16]));
        let first = match nonce.len() {
            12 => {
                let mut first = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
                copy(&mut first[..12], nonce);
                first
            }
            bytes => {
                let mut hashed = blocks(nonce);
                hashed.push(lengths(0, bytes));
                hash.hash(&hashed)
            }
        };
        let rounds = RoundKeys::new(key.as_bytes()).map_err(|error| error.to_string())?;
        Ok(Self { rounds, hash, first, mask: encrypted(first) })
    }

    /// The tag of a message, from the hashes of its ciphertext's parts and the blocks that each has.
    pub(super) fn tag(
        &self,
        aad: &[u8],
        parts: impl IntoIterator<Item = ([u8; 16], u64)>,
        text_bytes: usize,
    ) -> [u8; 16] {
        let before = blocks(aad);
        let lengths = lengths(aad.len(), text_bytes);
        let mut hashes = vec![(self.hash.hash(&before), before.len() as u64)];
        hashes.extend(parts);
        hashes.push((self.hash.hash(&[lengths]), 1));
        let hash = u128::from_ne_bytes(self.hash.join(&hashes));
        (hash ^ u128::from_ne_bytes(*self.mask)).to_ne_bytes()
    }

    /// What a DPU's counters begin with whose text begins with this block.
    pub(super) fn counters(&self, block: usize) -> Result<[u8; 16], String> {
        let [nonce @ .., a, b, c, d] = self.first;
        let block = u32::try_from(block).map_err(|error| error.to_string())?;
        let counter = u32::from_be_bytes([a, b, c, d]).wrapping_add(1).wrapping_add(block);
        Ok(ctr_parameters(&nonce, counter))
    }
}

fn blocks(bytes: &[u8]) -> Vec<[u8; 16]> {
    let chunks = bytes.chunks(16).map(|chunk| {
        let mut block = [0; 16];
        copy(&mut block[..chunk.len()], chunk);
        block
    });
    chunks.collect()
}

fn lengths(aad_bytes: usize, text_bytes: usize) -> [u8; 16] {
    let [aad_bits, text_bits] = [aad_bytes, text_bytes].map(|bytes| 8 * bytes as u128);
    (aad_bits << 64 | text_bits).to_be_bytes()
}
