//! RustCrypto's ciphers for keys, nonces and tags whose lengths are known only at run time.

use super::NAME;
use aes_gcm::aead::Nonce;
use aes_gcm::aead::array::ArraySize;
use aes_gcm::aead::consts::{U1, U2, U4, U6, U8, U10, U12, U15, U16, U20, U32, U64, U128};
use aes_gcm::aes::cipher::typenum::Unsigned;
use aes_gcm::aes::cipher::{BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes_gcm::aes::{Aes128, Aes192, Aes256};
use aes_gcm::{AeadInOut, AesGcm};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use sealift_core::{Algorithm, DeviceError, TagLength};
use subtle::ConstantTimeEq;
use xaes_256_gcm::Xaes256Gcm;

/// Nonce lengths in bytes: each is a type, and so one more copy of the code. These are all that
/// NIST's CAVP files and Wycheproof have, up to the 128 bytes that any device takes.
pub(super) const NONCE_LENGTHS: [usize; 13] = [1, 2, 4, 6, 8, 10, 12, 15, 16, 20, 32, 64, 128];

/// Calls a method that is generic over the nonce length with the length of this nonce.
macro_rules! by_nonce_length {
    ($self:ident.$method:ident($nonce:ident, $($argument:ident),+)) => {
        by_nonce_length!(
            $self.$method, ($nonce, $($argument),+), $nonce:
            U1 U2 U4 U6 U8 U10 U12 U15 U16 U20 U32 U64 U128
        )
    };
    ($self:ident.$method:ident, $arguments:tt, $nonce:ident: $($length:ident)+) => {
        match $nonce.len() {
            $(<$length as Unsigned>::USIZE => $self.$method::<$length> $arguments,)+
            _ => Err(wrong_nonce($nonce)),
        }
    };
}

/// An expanded key, wiped on drop.
pub(super) enum Cipher {
    Gcm(Aes),
    Xaes256(Xaes256Gcm),
    Siv128(Aes128GcmSiv),
    Siv256(Aes256GcmSiv),
}

impl Cipher {
    /// Expands a key of one of the algorithm's lengths. It stays where it is, so that moving leaves no copies.
    pub(super) fn new(algorithm: Algorithm, key: &[u8]) -> Result<Box<Self>, DeviceError> {
        let expanded = match (algorithm, key.len()) {
            (Algorithm::AesGcm, 16) => Aes128::new_from_slice(key).map(Aes::Aes128).map(Self::Gcm),
            (Algorithm::AesGcm, 24) => Aes192::new_from_slice(key).map(Aes::Aes192).map(Self::Gcm),
            (Algorithm::Xaes256Gcm, _) => Xaes256Gcm::new_from_slice(key).map(Self::Xaes256),
            (Algorithm::AesGcmSiv, 16) => Aes128GcmSiv::new_from_slice(key).map(Self::Siv128),
            (Algorithm::AesGcmSiv, _) => Aes256GcmSiv::new_from_slice(key).map(Self::Siv256),
            _ => Aes256::new_from_slice(key).map(Aes::Aes256).map(Self::Gcm),
        };
        expanded.map(Box::new).map_err(|_| failed(format!("a key of {} bytes", key.len())))
    }

    /// Encrypts a text where it is and returns its full tag.
    pub(super) fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; 16], DeviceError> {
        match self {
            Self::Xaes256(cipher) => seal_whole(cipher, nonce, aad, text),
            Self::Siv128(cipher) => seal_whole(cipher, nonce, aad, text),
            Self::Siv256(cipher) => seal_whole(cipher, nonce, aad, text),
            Self::Gcm(aes) => by_nonce_length!(aes.seal_with(nonce, aad, text)),
        }
    }

    /// Decrypts a text where it is and says whether the tag was right; one whose length is not of the
    /// standard never is. If not, the text is garbage.
    pub(super) fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<bool, DeviceError> {
        match (self, TagLength::new(tag.len())) {
            (Self::Xaes256(cipher), _) => open_whole(cipher, nonce, aad, text, tag),
            (Self::Siv128(cipher), _) => open_whole(cipher, nonce, aad, text, tag),
            (Self::Siv256(cipher), _) => open_whole(cipher, nonce, aad, text, tag),
            (Self::Gcm(aes), Ok(TagLength::FULL)) => {
                by_nonce_length!(aes.open_with(nonce, aad, text, tag))
            }
            (Self::Gcm(_), Ok(_)) => self.open_by_sealing(nonce, aad, text, tag),
            (Self::Gcm(_), Err(_)) => Ok(false),
        }
    }

    /// Opens with a truncated tag.
    ///
    /// The crate takes a tag length only as a type, which would be one more copy of the code for each
    /// length. It also won't tell the tag of a given ciphertext. But counter mode is its own inverse:
    /// sealing the ciphertext gives the plaintext, sealing that gives the ciphertext again with its
    /// true tag, whose first bytes are compared.
    fn open_by_sealing(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<bool, DeviceError> {
        self.seal(nonce, aad, text)?;
        let expected = self.seal(nonce, aad, text)?;
        let is_right = bool::from(expected[..tag.len()].ct_eq(tag));
        if is_right {
            self.seal(nonce, aad, text)?;
        }
        Ok(is_right)
    }
}

/// An expanded AES key of any length: one block cipher of the three, so that the mode is compiled once a nonce length.
pub(super) enum Aes {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
}

impl Aes {
    fn seal_with<N: ArraySize>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
    ) -> Result<[u8; 16], DeviceError> {
        seal_whole(&Gcm::<'_, N>::from(self), nonce, aad, text)
    }

    fn open_with<N: ArraySize>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<bool, DeviceError> {
        open_whole(&Gcm::<'_, N>::from(self), nonce, aad, text, tag)
    }
}

/// Seals with a full tag.
fn seal_whole<A: AeadInOut<TagSize = U16>>(
    cipher: &A,
    nonce: &[u8],
    aad: &[u8],
    text: &mut [u8],
) -> Result<[u8; 16], DeviceError> {
    let whole = <&Nonce<A>>::try_from(nonce).map_err(|_| wrong_nonce(nonce))?;
    let sealed = cipher.encrypt_inout_detached(whole, aad, text.into());
    sealed.map(Into::into).map_err(|_| failed(too_long(aad, text)))
}

/// Opens with a full tag.
fn open_whole<A: AeadInOut<TagSize = U16>>(
    cipher: &A,
    nonce: &[u8],
    aad: &[u8],
    text: &mut [u8],
    tag: &[u8],
) -> Result<bool, DeviceError> {
    let whole = <&Nonce<A>>::try_from(nonce).map_err(|_| wrong_nonce(nonce))?;
    let Ok(tag) = tag.try_into() else { return Ok(false) };
    Ok(cipher.decrypt_inout_detached(whole, aad, text.into(), tag).is_ok())
}

type Gcm<'a, N> = AesGcm<&'a Aes, N, U16>;

impl BlockCipherEncrypt for Aes {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        match self {
            Self::Aes128(aes) => aes.encrypt_with_backend(f),
            Self::Aes192(aes) => aes.encrypt_with_backend(f),
            Self::Aes256(aes) => aes.encrypt_with_backend(f),
        }
    }
}

impl BlockSizeUser for Aes {
    type BlockSize = U16;
}

fn wrong_nonce(nonce: &[u8]) -> DeviceError {
    failed(format!("a nonce of {} bytes", nonce.len()))
}

fn too_long(aad: &[u8], text: &[u8]) -> String {
    format!("aad of {} and text of {} bytes, of which one is too long", aad.len(), text.len())
}

fn failed(reason: String) -> DeviceError {
    DeviceError::Failed { device: NAME.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tags_of_the_standards_lengths_open() {
        let cipher = Cipher::new(Algorithm::AesGcm, &[7; 24]).unwrap();
        let mut sealed = *b"some text";
        let full = cipher.seal(&[1; 12], b"aad", &mut sealed).unwrap();
        for bytes in 0..=16 {
            let mut text = sealed;
            let opens = cipher.open(&[1; 12], b"aad", &mut text, &full[..bytes]).unwrap();
            assert_eq!(opens, TagLength::new(bytes).is_ok(), "{bytes}");
            assert!(!opens || text == *b"some text", "{bytes}");
        }
        let long = [&full[..], &[0]].concat();
        assert!(!cipher.open(&[1; 12], b"aad", &mut sealed, &long).unwrap());
    }
}
