use crate::{KeyError, NONCE_BYTES, XAES_NONCE_BYTES};
use std::fmt;
use std::str::FromStr;
use zeroize::ZeroizeOnDrop;

/// What a key is for. A session has its key's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// AES in Galois/counter mode (NIST SP 800-38D): keys of 16, 24 or 32 bytes, nonces of 12.
    AesGcm,
    /// AES-256-GCM under a key that is derived for each message (C2SP's XAES-256-GCM): keys of 32 bytes, nonces of 24,
    /// which may be drawn at random for 2^80 messages a key.
    Xaes256Gcm,
    /// AES-GCM-SIV (RFC 8452): keys of 16 or 32 bytes, nonces of 12. A nonce used twice shows only whether two messages
    /// are equal.
    AesGcmSiv,
}

impl Algorithm {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::AesGcm, Self::Xaes256Gcm, Self::AesGcmSiv];

    /// Its usual name, which [`Display`](fmt::Display) shows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AesGcm => "AES-GCM",
            Self::Xaes256Gcm => "XAES-256-GCM",
            Self::AesGcmSiv => "AES-GCM-SIV",
        }
    }

    /// Lengths its keys may have, in bytes, ascending.
    #[must_use]
    pub fn key_bytes(self) -> &'static [usize] {
        match self {
            Self::AesGcm => &[16, 24, 32],
            Self::Xaes256Gcm => &[32],
            Self::AesGcmSiv => &[16, 32],
        }
    }

    /// Length of its nonces in bytes.
    #[must_use]
    pub fn nonce_bytes(self) -> usize {
        match self {
            Self::AesGcm | Self::AesGcmSiv => NONCE_BYTES,
            Self::Xaes256Gcm => XAES_NONCE_BYTES,
        }
    }

    /// The most messages a key may seal: 2^32 (SP 800-38D section 8.3), and under XAES-256-GCM more than a counter counts.
    #[must_use]
    pub fn seals_max(self) -> u64 {
        match self {
            Self::AesGcm | Self::AesGcmSiv => 1 << 32,
            Self::Xaes256Gcm => u64::MAX,
        }
    }

    /// The lengths of [`key_bytes`](Self::key_bytes) for people: `16, 24 or 32`.
    pub(crate) fn key_lengths(self) -> String {
        let lengths: Vec<_> = self.key_bytes().iter().map(ToString::to_string).collect();
        match lengths.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = KeyError;

    /// The algorithm of this name.
    ///
    /// # Errors
    /// There is none; the error lists the names.
    fn from_str(name: &str) -> Result<Self, KeyError> {
        let of_name = Self::ALL.into_iter().find(|algorithm| algorithm.name() == name);
        of_name.ok_or_else(|| KeyError::UnknownAlgorithm { name: name.to_owned() })
    }
}

/// A secret AES key, and what it is for.
///
/// Wiped on drop. Not `Copy`, not `PartialEq`; its `Debug` never shows the bytes.
#[derive(Clone, ZeroizeOnDrop)]
#[non_exhaustive]
pub enum Key {
    /// AES-GCM with 16 bytes.
    Aes128([u8; 16]),
    /// AES-GCM with 24 bytes.
    Aes192([u8; 24]),
    /// AES-GCM with 32 bytes.
    Aes256([u8; 32]),
    /// XAES-256-GCM.
    Xaes256([u8; 32]),
    /// AES-GCM-SIV with 16 bytes.
    Siv128([u8; 16]),
    /// AES-GCM-SIV with 32 bytes.
    Siv256([u8; 32]),
}

impl Key {
    /// Copies an AES-GCM key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        Self::with_algorithm(Algorithm::AesGcm, bytes)
    }

    /// Copies a key of this algorithm, of one of its [`key_bytes`](Algorithm::key_bytes).
    ///
    /// # Errors
    /// Any other length.
    pub fn with_algorithm(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyError> {
        let wrong = |_| KeyError::Length { algorithm, bytes: bytes.len() };
        match (algorithm, bytes.len()) {
            (Algorithm::AesGcm, 16) => bytes.try_into().map(Self::Aes128).map_err(wrong),
            (Algorithm::AesGcm, 24) => bytes.try_into().map(Self::Aes192).map_err(wrong),
            (Algorithm::AesGcm, _) => bytes.try_into().map(Self::Aes256).map_err(wrong),
            (Algorithm::Xaes256Gcm, _) => bytes.try_into().map(Self::Xaes256).map_err(wrong),
            (Algorithm::AesGcmSiv, 16) => bytes.try_into().map(Self::Siv128).map_err(wrong),
            (Algorithm::AesGcmSiv, _) => bytes.try_into().map(Self::Siv256).map_err(wrong),
        }
    }

    /// What it is for.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Aes128(_) | Self::Aes192(_) | Self::Aes256(_) => Algorithm::AesGcm,
            Self::Xaes256(_) => Algorithm::Xaes256Gcm,
            Self::Siv128(_) | Self::Siv256(_) => Algorithm::AesGcmSiv,
        }
    }

    /// The secret bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Aes128(bytes) | Self::Siv128(bytes) => bytes,
            Self::Aes192(bytes) => bytes,
            Self::Aes256(bytes) | Self::Xaes256(bytes) | Self::Siv256(bytes) => bytes,
        }
    }

    /// How long it is.
    #[must_use]
    pub fn length(&self) -> KeyLength {
        match self {
            Self::Aes128(_) | Self::Siv128(_) => KeyLength::Aes128,
            Self::Aes192(_) => KeyLength::Aes192,
            Self::Aes256(_) | Self::Xaes256(_) | Self::Siv256(_) => KeyLength::Aes256,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.algorithm() {
            Algorithm::AesGcm => write!(f, "Key({:?}, secret)", self.length()),
            algorithm => write!(f, "Key({algorithm}, {:?}, secret)", self.length()),
        }
    }
}

/// The three lengths an AES key may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyLength {
    /// 16 bytes.
    Aes128,
    /// 24 bytes.
    Aes192,
    /// 32 bytes.
    Aes256,
}

impl KeyLength {
    /// The length that has so many bytes.
    ///
    /// # Errors
    /// Anything but 16, 24 and 32.
    pub fn from_bytes(bytes: usize) -> Result<Self, KeyError> {
        match bytes {
            16 => Ok(Self::Aes128),
            24 => Ok(Self::Aes192),
            32 => Ok(Self::Aes256),
            _ => Err(KeyError::Length { algorithm: Algorithm::AesGcm, bytes }),
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }
}

/// Names an installed key in a batch.
///
/// It is a name and no right: an engine checks each before work starts. The generation, counted for the
/// whole process, tells a session from an earlier one in the same slot and from those of other engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId {
    /// Which slot of the key store.
    pub slot: u32,
    /// Which use of that slot.
    pub generation: u32,
}

impl SessionId {
    /// As one number, for columns in other languages.
    #[must_use]
    pub fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// Back from [`to_u64`](Self::to_u64). An engine still checks whether there is such a session.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are taken apart")]
    pub fn from_u64(number: u64) -> Self {
        Self { slot: number as u32, generation: (number >> 32) as u32 }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_three_lengths_and_the_error_names_the_wrong_one() {
        for bytes in [16, 24, 32] {
            let key = Key::new(&vec![7; bytes]).unwrap();
            assert_eq!((key.as_bytes().len(), key.length().bytes()), (bytes, bytes));
        }
        for bytes in [0, 15, 17, 31, 33, 64] {
            let error = Key::new(&vec![7; bytes]).unwrap_err().to_string();
            assert!(error.contains(&format!("{bytes} bytes")), "{error}");
        }
    }

    #[test]
    fn a_key_of_each_algorithm_has_its_lengths_and_no_others() {
        for (algorithm, bytes) in
            Algorithm::ALL.into_iter().flat_map(|a| (0..40).map(move |n| (a, n)))
        {
            let key = Key::with_algorithm(algorithm, &vec![7; bytes]);
            assert_eq!(key.is_ok(), algorithm.key_bytes().contains(&bytes), "{algorithm}, {bytes}");
            match key {
                Ok(key) => assert_eq!((key.algorithm(), key.length().bytes()), (algorithm, bytes)),
                Err(error) => {
                    let (error, lengths) = (error.to_string(), algorithm.key_lengths());
                    let named = [algorithm.name(), &lengths, &format!("{bytes} bytes")];
                    assert!(named.iter().all(|text| error.contains(text)), "{error}");
                }
            }
        }
    }

    #[test]
    fn an_algorithm_is_found_by_its_name_and_an_error_lists_all_names() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        let error = "AES".parse::<Algorithm>().unwrap_err().to_string();
        assert!(Algorithm::ALL.iter().all(|algorithm| error.contains(algorithm.name())), "{error}");
    }

    #[test]
    fn debug_shows_no_key_byte() {
        let shown =
            |algorithm| format!("{:?}", Key::with_algorithm(algorithm, &[0xab; 32]).unwrap());
        assert_eq!(shown(Algorithm::AesGcm), "Key(Aes256, secret)");
        assert_eq!(shown(Algorithm::AesGcmSiv), "Key(AES-GCM-SIV, Aes256, secret)");
    }

    #[test]
    fn a_session_id_survives_the_way_through_a_number() {
        let id = SessionId { slot: 7, generation: 0xdead_beef };
        assert_eq!(SessionId::from_u64(id.to_u64()), id);
    }
}
