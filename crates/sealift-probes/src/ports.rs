//! What the processor's AES and multiplication units allow.
#![allow(unsafe_code)]

/// Registers of AES and of carry-less multiplication, the widest there are, worked for nothing: on registers
/// alone, with enough of them in flight that only the units' rate counts.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    run: fn(Load) -> [u64; STATES],
    /// Blocks of 16 bytes in a register.
    pub lanes: usize,
    /// The instructions, for people.
    pub detail: &'static str,
}

/// So many instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Rounds of AES, each of a register.
    pub rounds: u64,
    /// Carry-less multiplications, each of a register.
    pub products: u64,
}

/// Registers of AES in flight.
const STATES: usize = 8;

impl Ports {
    /// The widest that this processor has, if it has any.
    #[must_use]
    pub fn widest() -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        {
            x86_64::widest()
        }
        #[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
        None
    }

    /// Does that, but for the rest of a loop's turn, and gives the first words of the states.
    pub fn work(&self, load: Load) -> [u64; STATES] {
        (self.run)(load)
    }
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod x86_64 {
    use super::{Load, Ports, STATES};
    use std::arch::{asm, x86_64::*};

    pub(super) fn widest() -> Option<Ports> {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
        {
            // SAFETY: the processor was asked for these instructions just above.
            let run = |load| unsafe { of_512_bits(load) };
            return Some(Ports { run, lanes: 4, detail: "VAES and VPCLMULQDQ on 512 bits" });
        }
        if is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq") {
            // SAFETY: as above; with them come registers of 256 bits.
            let run = |load| unsafe { of_256_bits(load) };
            return Some(Ports { run, lanes: 2, detail: "VAES and VPCLMULQDQ on 256 bits" });
        }
        if is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
        {
            // SAFETY: the processor was asked for AVX, AES-NI and PCLMULQDQ just above.
            let run = |load| unsafe { of_128_bits(load) };
            return Some(Ports { run, lanes: 1, detail: "AES-NI and PCLMULQDQ on 128 bits" });
        }
        None
    }

    macro_rules! round {
        ($m:literal, $state:literal) => {
            concat!("vaesenc {", $state, ":", $m, "}, {", $state, ":", $m, "}, {key:", $m, "}")
        };
    }

    macro_rules! rounds {
        ($class:ident, $m:literal, $key:ident, $states:ident, $begin:literal, $middle:literal, $end:literal) => {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    round!($m, "a"),
                    round!($m, "b"),
                    concat!($begin, $m, $middle, $m, $middle, $m, "}", $end),
                    round!($m, "c"),
                    round!($m, "d"),
                    concat!($begin, $m, $middle, $m, $middle, $m, "}", $end),
                    round!($m, "e"),
                    round!($m, "f"),
                    concat!($begin, $m, $middle, $m, $middle, $m, "}", $end),
                    round!($m, "g"),
                    round!($m, "h"),
                    concat!($begin, $m, $middle, $m, $middle, $m, "}", $end),
                    key = in($class) $key,
                    a = inout($class) $states[0],
                    b = inout($class) $states[1],
                    c = inout($class) $states[2],
                    d = inout($class) $states[3],
                    e = inout($class) $states[4],
                    f = inout($class) $states[5],
                    g = inout($class) $states[6],
                    h = inout($class) $states[7],
                    p = out($class) _,
                    options(nomem, nostack, preserves_flags),
                )
            }
        };
    }

    macro_rules! products {
        ($class:ident, $m:literal, $key:ident) => {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    concat!("vpclmulqdq {p:", $m, "}, {key:", $m, "}, {key:", $m, "}, 0x00"),
                    concat!("vpclmulqdq {p:", $m, "}, {key:", $m, "}, {key:", $m, "}, 0x01"),
                    concat!("vpclmulqdq {p:", $m, "}, {key:", $m, "}, {key:", $m, "}, 0x10"),
                    concat!("vpclmulqdq {p:", $m, "}, {key:", $m, "}, {key:", $m, "}, 0x11"),
                    key = in($class) $key,
                    p = out($class) _,
                    options(nomem, nostack, preserves_flags),
                )
            }
        };
    }

    /// Turns of eight rounds, with four products between them, without, and four products alone.
    macro_rules! of_width {
        ($name:ident, $features:literal, $class:ident, $m:literal, $zero:expr, $low:expr) => {
            #[target_feature(enable = $features)]
            fn $name(load: Load) -> [u64; STATES] {
                let (turns, fours) = (load.rounds / 8, load.products / 4);
                let (key, mut states) = ($zero, [$zero; STATES]);
                for turn in 0..turns {
                    if turn < fours {
                        rounds!($class, $m, key, states, "vpclmulqdq {p:", "}, {key:", ", 0x00");
                    } else {
                        rounds!($class, $m, key, states, "/* {p:", "}, {key:", " */");
                    }
                }
                for _ in turns..fours {
                    products!($class, $m, key);
                }
                states.map(|state| _mm_cvtsi128_si64($low(state)).cast_unsigned())
            }
        };
    }

    of_width!(
        of_512_bits,
        "avx512f,vaes,vpclmulqdq",
        zmm_reg,
        "z",
        _mm512_setzero_si512(),
        |state| _mm512_castsi512_si128(state)
    );
    of_width!(of_256_bits, "avx2,vaes,vpclmulqdq", ymm_reg, "y", _mm256_setzero_si256(), |state| {
        _mm256_castsi256_si128(state)
    });
    of_width!(of_128_bits, "avx,aes,pclmulqdq", xmm_reg, "x", _mm_setzero_si128(), |state| state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_goes_through_as_many_rounds_as_its_share() {
        // A round of equal bytes under a key of zeros is the S-box, here from 0 on (FIPS 197, table 4).
        const BOXED: [u8; 6] = [0x00, 0x63, 0xfb, 0x0f, 0x76, 0x38];
        let Some(ports) = Ports::widest() else { return };
        for (times, byte) in (0..).zip(BOXED) {
            for products in [0, 8, 100] {
                let load = Load { rounds: 8 * times, products };
                assert_eq!(ports.work(load), [u64::from_ne_bytes([byte; 8]); STATES], "{load:?}");
            }
        }
    }
}
