/// A seeded stream of bytes for test keys, nonces and texts (SplitMix64). Nothing secret.
pub struct Random(u64);

impl Random {
    /// A stream that is told apart from others of the same seed by its number.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut start = Self(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        Self(start.next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// The next so many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 7);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_repeat_and_differ_from_each_other() {
        assert_eq!(Random::new(7, 1).bytes(100), Random::new(7, 1).bytes(100));
        assert_ne!(Random::new(7, 1).bytes(100), Random::new(7, 2).bytes(100));
        assert_ne!(Random::new(7, 1).bytes(100), Random::new(8, 1).bytes(100));
        assert_eq!(Random::new(1, 1).bytes(13).len(), 13);
    }
}
