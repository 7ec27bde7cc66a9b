//! The table that kernels look up in.

/// T0 of AES: what a byte of a column's first row gives to the column after `SubBytes` and `MixColumns`, its first row in
/// the lowest byte.
#[must_use]
pub fn t0() -> [u32; 256] {
    s_box().map(|s| {
        let double = (s << 1) ^ ((s >> 7) * 0x1b);
        u32::from_le_bytes([double, s, s, double ^ s])
    })
}

/// The S-box (FIPS 197, section 5.1.1): inverses, walked along as powers of 3 and of its inverse, and the affine map.
fn s_box() -> [u8; 256] {
    let mut boxed = [0x63; 256];
    let (mut power, mut inverse) = (1_u8, 1_u8);
    for _ in 0..255 {
        power ^= (power << 1) ^ ((power >> 7) * 0x1b);
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        inverse ^= (inverse >> 7) * 0x09;
        let turned = (1..5).fold(inverse, |sum, by| sum ^ inverse.rotate_left(by));
        boxed[usize::from(power)] = turned ^ 0x63;
    }
    boxed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_s_box_is_the_standards() {
        let boxed = s_box();
        for (byte, substituted) in [(0x00, 0x63), (0x01, 0x7c), (0x53, 0xed), (0xff, 0x16)] {
            assert_eq!(boxed[byte], substituted, "{byte:02x}");
        }
        let mut sorted = boxed;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(at, byte)| at == usize::from(*byte)));
    }

    #[test]
    fn a_word_of_the_table_is_a_mixed_column() {
        let table = t0();
        assert_eq!((table[0], table[0x53], table[0xff]), (0xa563_63c6, 0x2ced_edc1, 0x3a16_162c));
    }
}
