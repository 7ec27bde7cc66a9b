use crate::TagError;
use std::fmt;
use subtle::ConstantTimeEq;

/// The longest tag in bytes.
pub const MAX_TAG_BYTES: usize = 16;

/// How long a tag is: 4, 8 or 12 to 16 bytes (NIST SP 800-38D section 5.2.1.2).
///
/// Four and eight bytes are for short-lived uses that accept the risk of forgery; see the
/// standard's appendix C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagLength(u8);

impl TagLength {
    /// The full 16 bytes.
    pub const FULL: Self = Self(16);
    /// Every length the standard allows.
    pub const ALL: [Self; 7] = [Self(4), Self(8), Self(12), Self(13), Self(14), Self(15), Self(16)];

    /// A tag of so many bytes.
    ///
    /// # Errors
    /// Any length but 4, 8 and 12 to 16.
    pub fn new(bytes: usize) -> Result<Self, TagError> {
        Self::ALL
            .into_iter()
            .find(|length| length.bytes() == bytes)
            .ok_or(TagError::Length { bytes })
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }
}

/// An authentication tag. Comparing two takes the same time wherever they differ.
#[derive(Clone, Copy)]
pub struct Tag {
    bytes: [u8; MAX_TAG_BYTES],
    length: TagLength,
}

impl Tag {
    /// Copies a tag of 4, 8 or 12 to 16 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn new(tag: &[u8]) -> Result<Self, TagError> {
        let length = TagLength::new(tag.len())?;
        let mut bytes = [0; MAX_TAG_BYTES];
        bytes[..tag.len()].copy_from_slice(tag);
        Ok(Self { bytes, length })
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length.bytes()]
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({} bytes)", self.length.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lengths_of_the_standard_are_taken() {
        let taken: Vec<_> = (0..20).filter(|&bytes| TagLength::new(bytes).is_ok()).collect();
        assert_eq!(taken, [4, 8, 12, 13, 14, 15, 16]);
        assert!(TagLength::new(11).unwrap_err().to_string().contains("11 bytes"));
    }

    #[test]
    fn tags_are_equal_only_in_every_bit_and_in_length() {
        let tag = Tag::new(&[5; 16]).unwrap();
        assert_eq!(tag, Tag::new(&[5; 16]).unwrap());
        assert_ne!(tag, Tag::new(&[5; 12]).unwrap());
        for bit in 0..128 {
            let mut other = [5; 16];
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(tag, Tag::new(&other).unwrap());
        }
    }
}
