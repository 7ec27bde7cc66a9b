//! How fast the processor executes the vector instructions of AES-GCM alone.
#![allow(unsafe_code)]

/// The vector instructions of AES-GCM, on the widest registers there are, worked for nothing: without memory, and with
/// enough of them in flight that only the units' rate counts.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    run: fn(Load) -> [u64; STATES],
    /// Blocks of 16 bytes in a register.
    pub lanes: usize,
    /// The instructions, for people.
    pub detail: &'static str,
}

/// So many registers under one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Rounds of AES: 10, 12 or 14.
    pub rounds: u64,
    /// Registers that are encrypted: the rounds, and three sums, for the counter, the first round key and the text.
    pub encrypted: u64,
    /// Registers that are hashed: a shuffle, four products and four sums; with AVX-512 two sums, of three terms; on registers
    /// of one block three products, as Karatsuba has them.
    pub hashed: u64,
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

    /// Does that, but for the last registers of eight, and gives the first words of the states.
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
            && is_x86_feature_detected!("avx512bw")
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

    macro_rules! product {
        ($m:literal, $halves:literal) => {
            concat!("vpclmulqdq {p:", $m, "}, {key:", $m, "}, {key:", $m, "}, ", $halves)
        };
    }

    macro_rules! shuffle {
        ($m:literal) => {
            concat!("vpshufb {p:", $m, "}, {key:", $m, "}, {key:", $m, "}")
        };
    }

    macro_rules! sum {
        ($m:literal, $to:literal) => {
            concat!("vpxor {", $to, ":", $m, "}, {", $to, ":", $m, "}, {key:", $m, "}")
        };
    }

    /// Of three terms where that is one instruction.
    macro_rules! sum_512 {
        ($to:literal) => {
            concat!("vpternlogd {", $to, ":z}, {", $to, ":z}, {key:z}, 0x96")
        };
    }

    /// Steps of eight registers: their rounds, and what else there is of them between these.
    macro_rules! of_width {
        (
            $name:ident, $features:literal, $class:ident, $m:literal, $zero:expr, $low:expr,
            hashed: [$($hashed:expr),+], encrypted: [$($encrypted:expr),+]
        ) => {
            #[target_feature(enable = $features)]
            fn $name(load: Load) -> [u64; STATES] {
                const REGISTERS: u64 = STATES as u64;
                let (key, mut states, mut sums) = ($zero, [$zero; STATES], [$zero; 4]);
                macro_rules! rounds {
                    () => {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                round!($m, "a"),
                                round!($m, "b"),
                                round!($m, "c"),
                                round!($m, "d"),
                                round!($m, "e"),
                                round!($m, "f"),
                                round!($m, "g"),
                                round!($m, "h"),
                                key = in($class) key,
                                a = inout($class) states[0],
                                b = inout($class) states[1],
                                c = inout($class) states[2],
                                d = inout($class) states[3],
                                e = inout($class) states[4],
                                f = inout($class) states[5],
                                g = inout($class) states[6],
                                h = inout($class) states[7],
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    };
                }
                macro_rules! others {
                    ($instructions:expr) => {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                $instructions,
                                concat!("/* {p:", $m, "} {a:", $m, "} {b:", $m, "} {c:", $m, "} {d:", $m, "} */"),
                                key = in($class) key,
                                p = out($class) _,
                                a = inout($class) sums[0],
                                b = inout($class) sums[1],
                                c = inout($class) sums[2],
                                d = inout($class) sums[3],
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    };
                }
                let both = load.encrypted.min(load.hashed);
                for _ in 0..both / REGISTERS {
                    for round in 0..load.rounds {
                        rounds!();
                        if round < REGISTERS {
                            others!(concat!($($hashed, "\n",)+ $($encrypted, "\n",)+));
                        }
                    }
                }
                for _ in 0..(load.encrypted - both) / REGISTERS {
                    for round in 0..load.rounds {
                        rounds!();
                        if round < REGISTERS {
                            others!(concat!($($encrypted, "\n",)+));
                        }
                    }
                }
                for _ in 0..load.hashed - both {
                    others!(concat!($($hashed, "\n",)+));
                }
                states.map(|state| _mm_cvtsi128_si64($low(state)).cast_unsigned())
            }
        };
    }

    of_width!(
        of_512_bits, "avx512f,avx512bw,vaes,vpclmulqdq", zmm_reg, "z",
        _mm512_setzero_si512(), |state| _mm512_castsi512_si128(state),
        hashed: [
            shuffle!("z"), product!("z", "0x00"), product!("z", "0x01"), sum_512!("a"),
            product!("z", "0x10"), product!("z", "0x11"), sum_512!("b")
        ],
        encrypted: [sum_512!("c"), sum_512!("d"), sum_512!("c")]
    );
    of_width!(
        of_256_bits, "avx2,vaes,vpclmulqdq", ymm_reg, "y",
        _mm256_setzero_si256(), |state| _mm256_castsi256_si128(state),
        hashed: [
            shuffle!("y"), product!("y", "0x00"), sum!("y", "a"), product!("y", "0x01"), sum!("y", "b"),
            product!("y", "0x10"), sum!("y", "c"), product!("y", "0x11"), sum!("y", "d")
        ],
        encrypted: [sum!("y", "a"), sum!("y", "b"), sum!("y", "c")]
    );
    of_width!(
        of_128_bits, "avx,aes,pclmulqdq", xmm_reg, "x",
        _mm_setzero_si128(), |state| state,
        hashed: [
            shuffle!("x"), product!("x", "0x00"), sum!("x", "a"), product!("x", "0x11"), sum!("x", "b"),
            shuffle!("x"), sum!("x", "c"), product!("x", "0x00"), sum!("x", "d")
        ],
        encrypted: [sum!("x", "a"), sum!("x", "b"), sum!("x", "c")]
    );
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
            for (encrypted, hashed) in [(8, 0), (8, 8), (15, 200)] {
                let load = Load { rounds: times, encrypted, hashed };
                assert_eq!(ports.work(load), [u64::from_ne_bytes([byte; 8]); STATES], "{load:?}");
            }
        }
    }
}
