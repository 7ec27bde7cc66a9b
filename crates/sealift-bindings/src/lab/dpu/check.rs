//! What a kernel is given, and what must come of it: by AWS-LC and by the processor's own kernels.

use dpu_sim::kernels::{
    Division, HashKey, KeySize, Mode, Registers, RoundKeys, ctr, ctr_parameters, document_000, ecb,
    ecb_fed, gcm, ghash,
};
use dpu_sim::{Dpu, MRAM_BYTES, Region};
use sealift::{Engine, Key, hazmat};

/// A kernel by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Document000,
    Ecb,
    EcbByBank,
    EcbFed,
    Ctr,
    Ghash,
    Gcm,
}

const NAMES: [(&str, Kernel); 7] = [
    ("document-000", Kernel::Document000),
    ("ecb", Kernel::Ecb),
    ("ecb-by-bank", Kernel::EcbByBank),
    ("ecb-fed", Kernel::EcbFed),
    ("ctr", Kernel::Ctr),
    ("ghash", Kernel::Ghash),
    ("gcm", Kernel::Gcm),
];

impl Kernel {
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, kernel)| *kernel).ok_or_else(|| {
            let known = NAMES.map(|(known, _)| known).join(", ");
            format!("kernel is {name:?}: there are {known}")
        })
    }

    /// Whether each tasklet has a part of its own, rather than every so-many-eth chunk.
    fn has_parts(self) -> bool {
        matches!(self, Self::Ghash | Self::Gcm)
    }
}

/// A kernel, and how it is run.
pub(super) struct Work {
    pub(super) kernel: Kernel,
    pub(super) key_bits: usize,
    pub(super) decrypts: bool,
    pub(super) tasklets: u32,
    pub(super) chunk_bytes: u32,
    pub(super) bytes: usize,
    /// 1 for cycles, 2 for instructions.
    pub(super) counts: u32,
}

/// What a DPU gets, and what it must give.
pub(super) struct Prepared {
    pub(super) source: String,
    /// Into symbols in WRAM.
    pub(super) writes: Vec<(&'static str, Vec<u8>)>,
    pub(super) data: Vec<u8>,
    expected: Vec<u8>,
    /// Of what is authenticated, where anything is.
    tag: Vec<u8>,
    key: Vec<u8>,
}

impl Work {
    pub(super) fn prepare(&self) -> Result<Prepared, String> {
        let (size, division) = self.sound()?;
        let key = KEY[..self.key_bits / 8].to_vec();
        let plain = pattern(self.bytes);
        let (sealed, tag) = self.truth(&key, &plain)?;
        let backwards = self.decrypts && self.kernel != Kernel::Ghash;
        let (data, expected) = if backwards { (sealed, plain) } else { (plain, sealed) };
        let source = self.source(size, division)?;
        Ok(Prepared { source, writes: self.writes(&key)?, data, expected, tag, key })
    }

    /// Everything that can be wrong with the numbers.
    fn sound(&self) -> Result<(KeySize, Division), String> {
        let Self { kernel, tasklets, chunk_bytes, bytes, .. } = *self;
        let size = match self.key_bits {
            128 => KeySize::Aes128,
            192 => KeySize::Aes192,
            256 => KeySize::Aes256,
            other => return Err(format!("key_bits is {other}: give 128, 192 or 256")),
        };
        let division = Division::new(tasklets, chunk_bytes).map_err(|error| error.to_string())?;
        if kernel == Kernel::Document000 && (size, tasklets, bytes) != (KeySize::Aes128, 1, 2048) {
            return Err("document-000 takes a key of 128 bits, 1 tasklet and 2,048 bytes".into());
        }
        if kernel == Kernel::Ghash && self.decrypts {
            return Err("ghash decrypts nothing: set decrypts to false".into());
        }
        let step = match kernel {
            Kernel::Ghash => chunk_bytes as usize * tasklets as usize,
            Kernel::Gcm => 16,
            _ => chunk_bytes as usize,
        };
        if bytes == 0 || bytes as u64 > MRAM_BYTES || !bytes.is_multiple_of(step) {
            let told = format!("bytes is {bytes}: give a multiple of {step} up to {MRAM_BYTES}");
            return Err(told);
        }
        Ok((size, division))
    }

    fn source(&self, size: KeySize, division: Division) -> Result<String, String> {
        let mode = if self.decrypts { Mode::Decrypt } else { Mode::Encrypt };
        Ok(match self.kernel {
            Kernel::Document000 => document_000(mode),
            Kernel::Ecb => ecb(division, (mode, size), Registers::Plain),
            Kernel::EcbByBank => ecb(division, (mode, size), Registers::ByBank),
            Kernel::EcbFed => ecb_fed(division, (mode, size), Registers::Plain)
                .map_err(|error| error.to_string())?,
            Kernel::Ctr => ctr(division, size),
            Kernel::Ghash => ghash(division),
            Kernel::Gcm => gcm(division, (mode, size)),
        })
    }

    fn writes(&self, key: &[u8]) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
        let keys = RoundKeys::new(key).map_err(|error| error.to_string())?;
        let in_ecb = !matches!(self.kernel, Kernel::Ctr | Kernel::Gcm);
        let keys = if self.decrypts && in_ecb { keys.inverse() } else { keys };
        let length = word(self.bytes);
        let round_keys = ("round_keys", keys.bytes());
        let nonce = ("nonce", ctr_parameters(&NONCE, 2).to_vec());
        let part = [("products", hash_key(key)?.products()), ("span", word(self.span()))];
        Ok(match self.kernel {
            Kernel::Document000 => {
                let counts = self.counts.to_le_bytes().to_vec();
                vec![("round_keys", keys.bytes_of_words()), ("counts", counts)]
            }
            Kernel::Ecb | Kernel::EcbByBank | Kernel::EcbFed => {
                vec![round_keys, ("length", length)]
            }
            Kernel::Ctr => vec![round_keys, ("length", length), nonce],
            Kernel::Ghash => part.to_vec(),
            Kernel::Gcm => [vec![round_keys, ("length", length), nonce], part.to_vec()].concat(),
        })
    }

    /// What each tasklet hashes, at most.
    fn span(&self) -> usize {
        self.bytes.div_ceil(self.tasklets as usize).next_multiple_of(self.chunk_bytes as usize)
    }

    /// What comes of a plaintext, and its tag where there is one.
    fn truth(&self, key: &[u8], plain: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
        Ok(match self.kernel {
            Kernel::Ctr => (aes_ctr(key, counter(2), plain)?, vec![]),
            Kernel::Ghash => (plain.to_vec(), sealed(key, plain, &[])?),
            Kernel::Gcm => {
                let mut text = sealed(key, &[], plain)?;
                let tag = text.split_off(plain.len());
                (text, tag)
            }
            _ => {
                let key = Key::new(key).map_err(|error| error.to_string())?;
                let mut out = vec![0; plain.len()];
                let (blocks, places) = (plain.as_chunks::<16>().0, out.as_chunks_mut::<16>().0);
                for (block, place) in blocks.iter().zip(places) {
                    let encrypted = hazmat::aes_ctr(&key, *block, &[0; 16], place);
                    encrypted.map_err(|error| error.to_string())?;
                }
                (out, vec![])
            }
        })
    }

    /// Compares what a DPU gave; with what, for people.
    pub(super) fn check(&self, dpu: &Dpu, prepared: &Prepared) -> Result<String, String> {
        let mut found = vec![0; prepared.expected.len()];
        dpu.read(Region::Mram, 0, &mut found).map_err(|error| error.to_string())?;
        if let Some(byte) = (0..found.len()).find(|at| found[*at] != prepared.expected[*at]) {
            return Err(format!("byte {byte} of {} is wrong", found.len()));
        }
        if !self.kernel.has_parts() {
            return Ok("the processor's own kernels".to_owned());
        }
        if self.tag(dpu, &prepared.key)? != prepared.tag {
            return Err("the tag that its hashes make is wrong".to_owned());
        }
        Ok("AWS-LC".to_owned())
    }

    /// The tag of GCM that the hashes of all tasklets make, as a host joins them.
    fn tag(&self, dpu: &Dpu, key: &[u8]) -> Result<Vec<u8>, String> {
        let hash_key = hash_key(key)?;
        let at = dpu.symbol("hashes").ok_or("it has no hashes")?.offset;
        let mut parts = vec![];
        for tasklet in 0..self.tasklets {
            let mut part = [0; 16];
            let place = u64::from(at + 16 * tasklet);
            dpu.read(Region::Wram, place, &mut part).map_err(|error| error.to_string())?;
            let before = tasklet as usize * self.span();
            let bytes = self.bytes.saturating_sub(before).min(self.span());
            parts.push((part, bytes as u64 / 16));
        }
        let bits = 8 * self.bytes as u128;
        let lengths = if self.kernel == Kernel::Ghash { bits << 64 } else { bits };
        parts.push((hash_key.hash(&[lengths.to_be_bytes()]), 1));
        aes_ctr(key, counter(1), &hash_key.join(&parts))
    }
}

/// The ciphertext with its tag, by AWS-LC.
fn sealed(key: &[u8], aad: &[u8], text: &[u8]) -> Result<Vec<u8>, String> {
    sealed_by(&Engine::with(&["library"]).map_err(|error| error.to_string())?, key, aad, text)
}

/// The same by an engine that is open.
pub(super) fn sealed_by(
    engine: &Engine,
    key: &[u8],
    aad: &[u8],
    text: &[u8],
) -> Result<Vec<u8>, String> {
    let told = |error: sealift::EngineError| error.to_string();
    let key = Key::new(key).map_err(|error| error.to_string())?;
    let session = engine.session(key).map_err(told)?;
    let mut out = vec![0; text.len() + 16];
    session.seal(&NONCE, aad, text, &mut out).map_err(told)?;
    Ok(out)
}

/// By the processor's kernels; of zeros it is the encryption of the counter.
fn aes_ctr(key: &[u8], counter: [u8; 16], text: &[u8]) -> Result<Vec<u8>, String> {
    let key = Key::new(key).map_err(|error| error.to_string())?;
    let mut out = vec![0; text.len()];
    hazmat::aes_ctr(&key, counter, text, &mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

fn hash_key(key: &[u8]) -> Result<HashKey, String> {
    let encrypted = aes_ctr(key, [0; 16], &[0; 16])?;
    Ok(HashKey::new(encrypted.as_chunks().0.first().ok_or("a block has 16 bytes")?))
}

fn counter(number: u32) -> [u8; 16] {
    let number = number.to_be_bytes();
    std::array::from_fn(|at| NONCE.get(at).copied().unwrap_or_else(|| number[at - NONCE.len()]))
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251).to_le_bytes()[0]).collect()
}

fn word(value: usize) -> Vec<u8> {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes().to_vec()
}

const KEY: [u8; 32] = *b"a key of 128, 192 or 256 bits...";
pub(super) const NONCE: [u8; 12] = *b"twelve bytes";
