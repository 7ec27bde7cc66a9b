//! GHASH a byte at a time, by two tables of 16 multiples of the hash key (Shoup's method).

use zeroize::ZeroizeOnDrop;

/// The multiples of a hash key by all polynomials of degree 3 or less, and by those times x^4.
///
/// Blocks are big-endian numbers, so the coefficient of x^0 is the highest bit (SP 800-38D, section 6.3).
#[derive(ZeroizeOnDrop)]
pub(super) struct HashKey {
    low_powers: [u128; 16],
    high_powers: [u128; 16],
}

impl HashKey {
    pub(super) fn new(key: u128) -> Self {
        let mut low_powers = [0; 16];
        // Of four bits the highest is x^0.
        low_powers[8] = key;
        for power in [4, 2, 1] {
            low_powers[power] = times_x(low_powers[2 * power]);
        }
        for power in [2, 4, 8] {
            for lower in 1..power {
                low_powers[power + lower] = low_powers[power] ^ low_powers[lower];
            }
        }
        let high_powers = low_powers.map(|multiple| {
            let beyond = usize::from(multiple.to_le_bytes()[0] & 15);
            (multiple >> 4) ^ (u128::from(REDUCED[beyond << 4]) << 112)
        });
        Self { low_powers, high_powers }
    }

    /// The block times the hash key.
    #[inline]
    pub(super) fn times(&self, block: u128) -> u128 {
        let mut product = 0u128;
        for byte in block.to_le_bytes() {
            let beyond = usize::from(product.to_le_bytes()[0]);
            product = (product >> 8)
                ^ (u128::from(REDUCED[beyond]) << 112)
                ^ self.low_powers[usize::from(byte >> 4)]
                ^ self.high_powers[usize::from(byte & 15)];
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

/// What a byte that is shifted out at the end comes back as, in the highest 16 bits.
static REDUCED: [u16; 256] = reduced();

const fn reduced() -> [u16; 256] {
    let mut reduced = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut shifted = byte as u128;
        let mut bit = 0;
        while bit < 8 {
            shifted = times_x(shifted);
            bit += 1;
        }
        reduced[byte] = (shifted >> 112) as u16;
        byte += 1;
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
        let mut number = || u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        for _ in 0..1_000 {
            let (block, key) = (number(), number());
            assert_eq!(HashKey::new(key).times(block), by_the_book(block, key));
        }
    }
}
