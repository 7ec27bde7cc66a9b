use crate::NonceError;
use std::fmt;

/// The length of an ordinary GCM nonce in bytes.
pub const NONCE_BYTES: usize = 12;
/// The length of an XAES-256-GCM nonce in bytes.
pub const XAES_NONCE_BYTES: usize = 24;
/// The longest nonce any interface takes, in bytes.
pub const MAX_NONCE_BYTES: usize = 128;

/// A GCM nonce. Never use one twice with the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce([u8; NONCE_BYTES]);

impl Nonce {
    /// A nonce of 12 bytes. For the other lengths GCM allows see [`NonceRule`](crate::NonceRule).
    ///
    /// # Errors
    /// Any other length.
    pub fn new(bytes: &[u8]) -> Result<Self, NonceError> {
        let wrong = |_| NonceError::Length { bytes: bytes.len() };
        bytes.try_into().map(Self).map_err(wrong)
    }

    /// Its 12 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; NONCE_BYTES] {
        &self.0
    }
}

impl From<[u8; NONCE_BYTES]> for Nonce {
    fn from(bytes: [u8; NONCE_BYTES]) -> Self {
        Self(bytes)
    }
}

impl AsRef<[u8]> for Nonce {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// A set of nonce lengths between 1 and 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonceLengths(u128);

impl NonceLengths {
    /// All lengths from 1 to 128 bytes.
    pub const ALL: Self = Self(u128::MAX);

    /// The set of the given lengths; those outside 1..=128 are left out.
    #[must_use]
    pub fn of(lengths: &[usize]) -> Self {
        let mut set = Self::default();
        lengths.iter().for_each(|&bytes| set.insert(bytes));
        set
    }

    pub(crate) fn insert(&mut self, bytes: usize) {
        if (1..=MAX_NONCE_BYTES).contains(&bytes) {
            self.0 |= 1 << (bytes - 1);
        }
    }

    /// The shortest length that is in this set and not in `other`.
    #[must_use]
    pub fn first_missing_in(self, other: Self) -> Option<usize> {
        let extra = self.0 & !other.0;
        (extra != 0).then(|| extra.trailing_zeros() as usize + 1)
    }

    /// The lengths in bytes, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (1..=MAX_NONCE_BYTES).filter(move |bytes| self.0 >> (bytes - 1) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_nonce_has_12_bytes_and_nothing_else() {
        assert!(Nonce::new(&[0; 12]).is_ok());
        let error = Nonce::new(&[0; 11]).unwrap_err().to_string();
        assert!(error.contains("11 bytes") && error.contains("12"), "{error}");
    }

    #[test]
    fn a_set_of_lengths_tells_what_another_lacks() {
        let set = NonceLengths::of(&[1, 12, 128, 129, 0]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 12, 128]);
        assert_eq!(set.first_missing_in(NonceLengths::of(&[1, 12])), Some(128));
        assert_eq!(set.first_missing_in(NonceLengths::ALL), None);
    }
}
