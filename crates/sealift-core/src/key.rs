use crate::KeyError;
use std::fmt;
use zeroize::ZeroizeOnDrop;

/// The algorithm a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// AES in Galois/counter mode (NIST SP 800-38D).
    AesGcm,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AesGcm => f.write_str("AES-GCM"),
        }
    }
}

/// A secret AES key of 128, 192 or 256 bits.
///
/// Wiped on drop. Not `Copy`, not `PartialEq`; its `Debug` never shows the bytes.
#[derive(Clone, ZeroizeOnDrop)]
pub enum Key {
    /// A key of 16 bytes.
    Aes128([u8; 16]),
    /// A key of 24 bytes.
    Aes192([u8; 24]),
    /// A key of 32 bytes.
    Aes256([u8; 32]),
}

impl Key {
    /// Copies a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn new(bytes: &[u8]) -> Result<Self, KeyError> {
        let wrong = |_| KeyError::Length { bytes: bytes.len() };
        match bytes.len() {
            16 => bytes.try_into().map(Self::Aes128).map_err(wrong),
            24 => bytes.try_into().map(Self::Aes192).map_err(wrong),
            _ => bytes.try_into().map(Self::Aes256).map_err(wrong),
        }
    }

    /// The secret bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Aes128(bytes) => bytes,
            Self::Aes192(bytes) => bytes,
            Self::Aes256(bytes) => bytes,
        }
    }

    /// How long it is.
    #[must_use]
    pub fn length(&self) -> KeyLength {
        match self {
            Self::Aes128(_) => KeyLength::Aes128,
            Self::Aes192(_) => KeyLength::Aes192,
            Self::Aes256(_) => KeyLength::Aes256,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:?}, secret)", self.length())
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
            _ => Err(KeyError::Length { bytes }),
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
    fn debug_shows_no_key_byte() {
        let shown = format!("{:?}", Key::new(&[0xab; 32]).unwrap());
        assert_eq!(shown, "Key(Aes256, secret)");
    }

    #[test]
    fn a_session_id_survives_the_way_through_a_number() {
        let id = SessionId { slot: 7, generation: 0xdead_beef };
        assert_eq!(SessionId::from_u64(id.to_u64()), id);
    }
}
