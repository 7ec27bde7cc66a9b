//! GHASH four bits at a time, by a table of 16 multiples of the hash key (Shoup's method).

use zeroize::ZeroizeOnDrop;

/// The multiples of a hash key by all polynomials of degree 3 or less.
///
/// Blocks are big-endian numbers, so the coefficient of x^0 is the highest bit (SP 800-38D, section 6.3).
#[derive(ZeroizeOnDrop)]
pub(super) struct HashKey([u128; 16]);

impl HashKey {
    pub(super) fn new(key: u128) -> Self {
        let mut multiples = [0; 16];
        // Of four bits the highest is x^0.
        multiples[8] = key;
        for power in [4, 2, 1] {
            multiples[power] = times_x(multiples[2 * power]);
        }
        for power in [2, 4, 8] {
            for lower in 1..power {
                multiples[power + lower] = multiples[power] ^ multiples[lower];
            }
        }
        Self(multiples)
    }

    /// The block times the hash key.
    #[inline]
    pub(super) fn times(&self, block: u128) -> u128 {
        let mut product = 0u128;
        for byte in block.to_le_bytes() {
            for four_bits in [byte & 15, byte >> 4] {
                let beyond = usize::from(product.to_le_bytes()[0] & 15);
                product = product >> 4
                    ^ u128::from(REDUCED[beyond]) << 112
                    ^ self.0[usize::from(four_bits)];
            }
        }
        product
    }

    /// Goes on with a hash over bytes that are filled up to whole blocks with zeros.
    pub(super) fn update(&self, hash: u128, bytes: &[u8]) -> u128 {
        let (blocks, rest) = bytes.as_chunks::<16>();
        let step = |hash, block: &[u8; 16]| self.times(hash ^ u128::from_be_bytes(*block));
        let hash = blocks.iter().fold(hash, step);
        if rest.is_empty() {
            return hash;
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        step(hash, &last)
    }
}

const fn times_x(block: u128) -> u128 {
    (block >> 1) ^ ((block & 1) * POLYNOMIAL)
}

/// x^128 = x^7 + x^2 + x + 1.
const POLYNOMIAL: u128 = 0xe1 << 120;

/// What four bits that are shifted out at the end come back as, in the highest 16 bits.
static REDUCED: [u16; 16] = reduced();

const fn reduced() -> [u16; 16] {
    let mut reduced = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let shifted = times_x(times_x(times_x(times_x(bits as u128))));
        reduced[bits] = (shifted >> 112) as u16;
        bits += 1;
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the standard multiplies, bit by bit (SP 800-38D, algorithm 1).
    fn by_the_book(block: u128, key: u128) -> u128 {
        let (mut product, mut multiple) = (0, key);
        for bit in (0..128).rev() {
            if block >> bit & 1 == 1 {
                product ^= multiple;
            }
            multiple = times_x(multiple);
        }
        product
    }

    #[test]
    fn products_are_those_of_the_standards_algorithm() {
        let mut random = crate::random::Random::new(5, 1);
        let mut number = || u128::from(random.next()) << 64 | u128::from(random.next());
        for _ in 0..1_000 {
            let (block, key) = (number(), number());
            assert_eq!(HashKey::new(key).times(block), by_the_book(block, key));
        }
    }
}
