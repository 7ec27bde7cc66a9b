//! Triple DES as the cards of document 002 worked it: three keys, encrypt-decrypt-encrypt, in CBC mode.
//!
//! **For the lab only.** Its blocks of 64 bits and its tables protect nothing today, and CBC authenticates
//! nothing. It is here because document 002 measured it.

mod drawn;
mod ffi;

pub use drawn::Drawn;

pub(crate) use ffi::encrypted;

use cbc::Encryptor;
use cbc::cipher::{Array, BlockModeEncrypt, InnerIvInit, KeyInit};
use des::TdesEde3;
use sealift::software::{self, Crew, Expander, KeyTable, Lent, Software};
use sealift::{
    Capabilities, Context, Device, DeviceError, Driver, Key, Keys, OpenError, Probe, Role,
    SessionId, SlotTag, SlotText, Spec, Status, Work,
};
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The driver `3des`, which is no AES-GCM: an engine knows no other algorithm, so it takes batches as they
/// are made for that, and encrypts their texts by 3DES-EDE-CBC, by RustCrypto.
///
/// A key of 24 bytes is three DES keys, one of 16 bytes two, of which the first comes again. The first 8
/// bytes of a nonce are the initial vector. Texts are whole blocks of 8 bytes. Tags are zeros.
#[derive(Debug)]
pub struct TripleDes;

impl Driver for TripleDes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "3DES-EDE-CBC, which is broken: to repeat document 002 with only (workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: DETAIL.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        software::only(spec, &["workers", "cores"])?;
        let all = software::capabilities(spec, self.name(), Role::TestOnly, DETAIL.to_owned());
        let capabilities = Capabilities { in_place: false, ..all };
        let blocks = Blocks::new(spec.to_string());
        Ok(software::open(blocks, capabilities, Crew::of(spec)?, context))
    }
}

/// The same as software, with a table of expanded keys.
#[derive(Debug)]
struct Blocks {
    name: String,
    keys: KeyTable<Box<TdesEde3>>,
}

impl Blocks {
    fn new(name: String) -> Self {
        Self { name, keys: KeyTable::new() }
    }

    fn one(&self, key: &TdesEde3, work: &mut Work<'_>, message: usize) -> Result<(), DeviceError> {
        let slot = work.slot(message);
        let (SlotText::Apart { input, output }, SlotTag::Write(tag)) = (slot.text, slot.tag) else {
            return Err(self.failed("it encrypts to another place, and does nothing else"));
        };
        let iv = initial_vector(slot.nonce).ok_or_else(|| self.failed("a nonce under 8 bytes"))?;
        tag.fill(0);
        if !encrypt(key, iv, input, output) {
            let bytes = input.len();
            return Err(self.failed(&format!("{bytes} bytes are no whole blocks of 8")));
        }
        work.set_status(message, Status::Ok);
        Ok(())
    }

    fn failed(&self, reason: &str) -> DeviceError {
        DeviceError::Failed { device: self.name.clone(), reason: reason.to_owned() }
    }
}

impl Software for Blocks {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let step =
            |work: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Box<TdesEde3>>| match lent {
                Lent::One(key) => range.into_iter().try_for_each(|i| self.one(key, work, i)),
                Lent::Each(each) => range.zip(each).try_for_each(|(i, key)| self.one(key, work, i)),
            };
        match &work.batch().keys {
            Keys::Session(session) => self.keys.run_one(*session, work, self, step),
            Keys::Sessions(sessions) => self.keys.run_each(sessions, work, self, step),
            Keys::Raw(_) => Err(self.failed("it takes sessions, no raw keys")),
        }
    }

    fn retire(&self, session: SessionId) {
        self.keys.retire(session);
    }
}

impl Expander for Blocks {
    type Expanded = Box<TdesEde3>;

    fn device(&self) -> &str {
        &self.name
    }

    fn expand(&self, key: &Key) -> Result<Box<TdesEde3>, DeviceError> {
        let three = three_keys(key).ok_or_else(|| self.failed("a key of 32 bytes"))?;
        Ok(Box::new(TdesEde3::new(&Array(*three))))
    }

    fn serves(&self, _: &Box<TdesEde3>) -> bool {
        true
    }
}

/// False for a text of another length than its place, or that is no whole blocks.
fn encrypt(key: &TdesEde3, iv: [u8; BLOCK_BYTES], input: &[u8], output: &mut [u8]) -> bool {
    let (blocks, rest) = Array::slice_as_chunks(input);
    let (places, _) = Array::slice_as_chunks_mut(output);
    let mut cbc = Encryptor::inner_iv_init(key, &Array(iv));
    rest.is_empty() && cbc.encrypt_blocks_b2b(blocks, places).is_ok()
}

/// The three DES keys of a session's key; none of one of 32 bytes.
pub(crate) fn three_keys(key: &Key) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let bytes = key.as_bytes();
    let mut three = Zeroizing::new([0; KEY_BYTES]);
    match bytes.len() {
        KEY_BYTES => three.copy_from_slice(bytes),
        16 => {
            three[..16].copy_from_slice(bytes);
            three[16..].copy_from_slice(&bytes[..8]);
        }
        _ => return None,
    }
    Some(three)
}

pub(crate) fn initial_vector(nonce: &[u8]) -> Option<[u8; BLOCK_BYTES]> {
    nonce.first_chunk().copied()
}

/// What a device of it is called.
pub(crate) const NAME: &str = "3des";
/// What texts are a multiple of.
pub const BLOCK_BYTES: usize = 8;
/// Of three keys.
pub(crate) const KEY_BYTES: usize = 24;
const DETAIL: &str = "3DES-EDE-CBC by RustCrypto's des and cbc, without a tag";

#[cfg(test)]
mod tests {
    use super::*;

    /// SP 800-67, appendix B.1, is in ECB: three blocks, each of which is the first of its own.
    #[test]
    fn the_standards_example_comes_out() {
        let mut key = [0; KEY_BYTES];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF][(at + at / 8) % 8];
        }
        let expanded = TdesEde3::new(&Array(key));
        for (text, cipher) in [
            (*b"The qufc", 0xA826_FD8C_E53B_855F_u64),
            (*b"k brown ", 0xCCE2_1C81_1225_6FE6),
            (*b"fox jump", 0x68D5_C05D_D9B6_B900),
        ] {
            let mut out = [0; 8];
            assert!(encrypt(&expanded, [0; 8], &text, &mut out));
            assert_eq!(u64::from_be_bytes(out), cipher);
            assert_eq!(encrypted(&key, &[0; 8], &text).unwrap(), out);
        }
    }

    #[test]
    fn two_libraries_agree_on_texts_of_many_blocks() {
        let mut random = crate::Random::new(3, 0);
        for blocks in [1, 2, 3, 17, 100] {
            let (key, iv) = (random.bytes(KEY_BYTES), random.bytes(BLOCK_BYTES));
            let (key, iv) = (key.try_into().unwrap(), iv.try_into().unwrap());
            let text = random.bytes(blocks * BLOCK_BYTES);
            let mut out = vec![0; text.len()];
            assert!(encrypt(&TdesEde3::new(&Array(key)), iv, &text, &mut out));
            assert_eq!(Some(out), encrypted(&key, &iv, &text));
        }
    }

    #[test]
    fn two_keys_are_three_of_which_the_first_comes_again() {
        let key = Key::new(&(0..16).collect::<Vec<_>>()).unwrap();
        let three = three_keys(&key).unwrap();
        assert_eq!((three[0], three[15], three[16], three[23]), (0, 15, 0, 7));
        assert!(three_keys(&Key::Aes256([0; 32])).is_none());
        assert_eq!(*three_keys(&Key::Aes192([9; 24])).unwrap(), [9; 24]);
    }

    #[test]
    fn what_is_no_whole_blocks_is_refused() {
        let key = TdesEde3::new(&Array([1; KEY_BYTES]));
        assert!(!encrypt(&key, [0; 8], &[0; 12], &mut [0; 12]));
        assert!(!encrypt(&key, [0; 8], &[0; 16], &mut [0; 8]));
        assert!(encrypt(&key, [0; 8], &[], &mut []));
        assert_eq!(encrypted(&[1; KEY_BYTES], &[0; 8], &[0; 12]), None);
    }
}
