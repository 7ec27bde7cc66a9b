//! RustCrypto's aes-gcm: nonces and tags of the lengths it is compiled for here.

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use aes_gcm::aead::Nonce;
use aes_gcm::aead::array::{Array, ArraySize};
use aes_gcm::aead::consts::{U1, U4, U8, U12, U13, U14, U15, U16, U128};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aes::cipher::{BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes_gcm::aes::{Aes128, Aes192, Aes256};
use aes_gcm::{AeadInOut, AesGcm, TagSize};
use sealift_probes::{ArmSpec, Regime};
use std::mem::ManuallyDrop;

/// The library.
#[derive(Clone, Copy, Debug)]
pub struct RustCrypto;

/// An expanded key that isn't wiped, as most build the crate: its feature `zeroize` is off unless all of
/// this workspace is built together.
pub type Key = ManuallyDrop<Expanded>;

/// An expanded key.
pub enum Expanded {
    /// An installed one, with the tables of nonces of 12 bytes and tags of 16.
    Usual128(AesGcm<Aes128, U12>),
    /// The same.
    Usual192(AesGcm<Aes192, U12>),
    /// The same.
    Usual256(AesGcm<Aes256, U12>),
    /// For one message of any lengths, which makes the tables.
    Any128(Aes128),
    /// The same.
    Any192(Aes192),
    /// The same.
    Any256(Aes256),
}

impl Cipher for RustCrypto {
    type Key = Key;
    const NAME: &'static str = "rustcrypto";

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        Ok((Self, concat!("RustCrypto aes-gcm ", env!("VERSION_OF_AES_GCM")).to_owned()))
    }

    fn lacks(&self, spec: &ArmSpec) -> Option<String> {
        let (nonces, tags) = (&spec.columns.nonce_bytes, &spec.columns.tag_bytes);
        if let Some(other) = nonces.iter().find(|bytes| ![1, 12, 128].contains(*bytes)) {
            return Some(format!(
                "it is compiled for nonces of 1, 12 and 128 bytes here, not {other}"
            ));
        }
        let is_usual = nonces.iter().all(|n| *n == 12) && tags.iter().all(|t| *t == 16);
        let unusual = "its installed keys are for nonces of 12 bytes and tags of 16 here";
        (spec.regime != Regime::Fresh && !is_usual).then(|| unusual.to_owned())
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<Key, Refused> {
        Ok(ManuallyDrop::new(match raw.len() {
            16 => Expanded::Usual128(KeyInit::new(as_key(raw)?)),
            24 => Expanded::Usual192(KeyInit::new(as_key(raw)?)),
            _ => Expanded::Usual256(KeyInit::new(as_key(raw)?)),
        }))
    }

    #[inline(always)]
    fn renew(&self, key: &mut Key, raw: &[u8], _: usize) -> Result<(), Refused> {
        *key = ManuallyDrop::new(match raw.len() {
            16 => Expanded::Any128(KeyInit::new(as_key(raw)?)),
            24 => Expanded::Any192(KeyInit::new(as_key(raw)?)),
            _ => Expanded::Any256(KeyInit::new(as_key(raw)?)),
        });
        Ok(())
    }

    #[inline(always)]
    fn seal(&self, key: &mut Key, of: Sealing<'_>) -> Result<(), Refused> {
        match &**key {
            Expanded::Usual128(gcm) => seal(gcm, of),
            Expanded::Usual192(gcm) => seal(gcm, of),
            Expanded::Usual256(gcm) => seal(gcm, of),
            Expanded::Any128(aes) => seal_any(aes, of),
            Expanded::Any192(aes) => seal_any(aes, of),
            Expanded::Any256(aes) => seal_any(aes, of),
        }
    }

    #[inline(always)]
    fn unseal(&self, key: &mut Key, of: Opening<'_>) -> Result<bool, Refused> {
        match &**key {
            Expanded::Usual128(gcm) => open(gcm, of),
            Expanded::Usual192(gcm) => open(gcm, of),
            Expanded::Usual256(gcm) => open(gcm, of),
            Expanded::Any128(aes) => open_any(aes, of),
            Expanded::Any192(aes) => open_any(aes, of),
            Expanded::Any256(aes) => open_any(aes, of),
        }
    }
}

fn seal_any<A: Aes>(aes: A, of: Sealing<'_>) -> Result<(), Refused> {
    match of.nonce.len() {
        1 => seal::<A, U1>(&tables(aes), of),
        12 => seal::<A, U12>(&tables(aes), of),
        _ => seal::<A, U128>(&tables(aes), of),
    }
}

fn open_any<A: Aes>(aes: A, of: Opening<'_>) -> Result<bool, Refused> {
    match of.nonce.len() {
        1 => open_tag::<A, U1>(aes, of),
        12 => open_tag::<A, U12>(aes, of),
        _ => open_tag::<A, U128>(aes, of),
    }
}

fn open_tag<A: Aes, N: ArraySize>(aes: A, of: Opening<'_>) -> Result<bool, Refused> {
    match of.tag.len() {
        4 => open::<A, N, U4>(&tables(aes), of),
        8 => open::<A, N, U8>(&tables(aes), of),
        12 => open::<A, N, U12>(&tables(aes), of),
        13 => open::<A, N, U13>(&tables(aes), of),
        14 => open::<A, N, U14>(&tables(aes), of),
        15 => open::<A, N, U15>(&tables(aes), of),
        _ => open::<A, N, U16>(&tables(aes), of),
    }
}

/// Not wiped, as in [`Key`].
fn tables<A: Aes, N: ArraySize, T: TagSize>(aes: A) -> ManuallyDrop<AesGcm<A, N, T>> {
    ManuallyDrop::new(AesGcm::from(aes))
}

/// A truncated tag is the beginning of the full one.
#[inline(always)]
fn seal<A: Aes, N: ArraySize>(gcm: &AesGcm<A, N>, of: Sealing<'_>) -> Result<(), Refused> {
    let nonce = <&Nonce<AesGcm<A, N>>>::try_from(of.nonce);
    let nonce = nonce.map_err(|_| refused("a nonce of another length"))?;
    let text = InOutBuf::new(of.input, of.output).map_err(|_| refused("texts that differ"))?;
    let full = gcm.encrypt_inout_detached(nonce, of.aad, text);
    let full = full.map_err(|_| refused("a text that is too long"))?;
    of.tag.copy_from_slice(&full[..of.tag.len()]);
    Ok(())
}

#[inline(always)]
fn open<A: Aes, N: ArraySize, T: TagSize>(
    gcm: &AesGcm<A, N, T>,
    of: Opening<'_>,
) -> Result<bool, Refused> {
    let nonce = <&Nonce<AesGcm<A, N, T>>>::try_from(of.nonce);
    let nonce = nonce.map_err(|_| refused("a nonce of another length"))?;
    let tag = of.tag.try_into().map_err(|_| refused("a tag of another length"))?;
    let text = InOutBuf::new(of.input, of.output).map_err(|_| refused("texts that differ"))?;
    Ok(gcm.decrypt_inout_detached(nonce, of.aad, text, tag).is_ok())
}

/// A block cipher that GCM can be made of.
trait Aes: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> {}

impl<A: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>> Aes for A {}

#[inline(always)]
fn as_key<N: ArraySize>(raw: &[u8]) -> Result<&Array<u8, N>, Refused> {
    raw.try_into().map_err(|_| refused("a key of another length"))
}

#[cold]
fn refused(what: &str) -> Refused {
    Refused(what.to_owned())
}
