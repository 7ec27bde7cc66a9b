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
    /// Registers that are hashed: two shuffles, three products, as Karatsuba has them, and four sums; with AVX-512 a
    /// shuffle, four products and two sums, of three terms. The kernels multiply so, because it is quicker there.
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

    /// Does that, and gives the first words of the states.
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
            return Some(Ports {
                run,
                lanes: 4,
                detail: "VAES and VPCLMULQDQ on 512 bits, four multiplications",
            });
        }
        if is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq") {
            // SAFETY: as above; with them come registers of 256 bits.
            let run = |load| unsafe { of_256_bits(load) };
            return Some(Ports {
                run,
                lanes: 2,
                detail: "VAES and VPCLMULQDQ on 256 bits, three multiplications",
            });
        }
        if is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
        {
            // SAFETY: the processor was asked for AVX, AES-NI and PCLMULQDQ just above.
            let run = |load| unsafe { of_128_bits(load) };
            return Some(Ports {
                run,
                lanes: 1,
                detail: "AES-NI and PCLMULQDQ on 128 bits, three multiplications",
            });
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

    /// A register at a time: eight of its rounds, one of each state, and between them what else it takes; its further rounds
    /// are of other states each time, so that none is waited for.
    macro_rules! of_width {
        (
            $name:ident, $features:literal, $class:ident, $m:literal, $zero:expr, $low:expr,
            hashed: [$($h:expr),+], encrypted: [$e0:expr, $e1:expr, $e2:expr],
            both: [$b0:expr, $b1:expr, $b2:expr, $b3:expr, $b4:expr, $b5:expr, $b6:expr, $b7:expr]
        ) => {
            #[target_feature(enable = $features)]
            fn $name(load: Load) -> [u64; STATES] {
                let (key, mut states, mut sums) = ($zero, [$zero; STATES], [$zero; 4]);
                macro_rules! instructions {
                    ($list:expr) => {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                $list,
                                concat!(
                                    "/* {key:", $m, "} {p:", $m, "} {q:", $m, "} {r:", $m, "} {s:", $m, "} {t:", $m,
                                    "} {a:", $m, "} {b:", $m, "} {c:", $m, "} {d:", $m, "} {e:", $m, "} {f:", $m,
                                    "} {g:", $m, "} {h:", $m, "} */"
                                ),
                                key = in($class) key,
                                a = inout($class) states[0],
                                b = inout($class) states[1],
                                c = inout($class) states[2],
                                d = inout($class) states[3],
                                e = inout($class) states[4],
                                f = inout($class) states[5],
                                g = inout($class) states[6],
                                h = inout($class) states[7],
                                p = out($class) _,
                                q = inout($class) sums[0],
                                r = inout($class) sums[1],
                                s = inout($class) sums[2],
                                t = inout($class) sums[3],
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    };
                }
                macro_rules! rounds {
                    ($i0:expr, $i1:expr, $i2:expr, $i3:expr, $i4:expr, $i5:expr, $i6:expr, $i7:expr) => {
                        instructions!(concat!(
                            round!($m, "a"), "\n", $i0, "\n", round!($m, "b"), "\n", $i1, "\n",
                            round!($m, "c"), "\n", $i2, "\n", round!($m, "d"), "\n", $i3, "\n",
                            round!($m, "e"), "\n", $i4, "\n", round!($m, "f"), "\n", $i5, "\n",
                            round!($m, "g"), "\n", $i6, "\n", round!($m, "h"), "\n", $i7
                        ))
                    };
                }
                macro_rules! further_rounds {
                    ($s0:literal $s1:literal, $s2:literal $s3:literal, $s4:literal $s5:literal) => {
                        if load.rounds > 8 {
                            instructions!(concat!(round!($m, $s0), "\n", round!($m, $s1)));
                        }
                        if load.rounds > 10 {
                            instructions!(concat!(round!($m, $s2), "\n", round!($m, $s3)));
                        }
                        if load.rounds > 12 {
                            instructions!(concat!(round!($m, $s4), "\n", round!($m, $s5)));
                        }
                    };
                }
                macro_rules! registers {
                    ($number:expr, $between:tt) => {
                        for left in (1..=$number).rev().step_by(4) {
                            rounds! $between;
                            further_rounds!("a" "b", "c" "d", "e" "f");
                            if left > 1 {
                                rounds! $between;
                                further_rounds!("c" "d", "e" "f", "g" "h");
                            }
                            if left > 2 {
                                rounds! $between;
                                further_rounds!("e" "f", "g" "h", "a" "b");
                            }
                            if left > 3 {
                                rounds! $between;
                                further_rounds!("g" "h", "a" "b", "c" "d");
                            }
                        }
                    };
                }
                let both = load.encrypted.min(load.hashed);
                registers!(both, ($b0, $b1, $b2, $b3, $b4, $b5, $b6, $b7));
                registers!(load.encrypted - both, ($e0, "", $e1, "", $e2, "", "", ""));
                for _ in 0..load.hashed - both {
                    instructions!(concat!($($h, "\n"),+));
                }
                states.map(|state| _mm_cvtsi128_si64($low(state)).cast_unsigned())
            }
        };
    }

    of_width!(
        of_512_bits, "avx512f,avx512bw,vaes,vpclmulqdq", zmm_reg, "z",
        _mm512_setzero_si512(), |state| _mm512_castsi512_si128(state),
        hashed: [
            shuffle!("z"), product!("z", "0x00"), product!("z", "0x01"), sum_512!("q"),
            product!("z", "0x10"), product!("z", "0x11"), sum_512!("r")
        ],
        encrypted: [sum_512!("s"), sum_512!("t"), sum_512!("s")],
        both: [
            shuffle!("z"), product!("z", "0x00"), sum_512!("s"),
            concat!(product!("z", "0x01"), "\n", sum_512!("q")), sum_512!("t"),
            product!("z", "0x10"), sum_512!("s"), concat!(product!("z", "0x11"), "\n", sum_512!("r"))
        ]
    );
    /// A product by three multiplications: two shuffles for halves that are added, and one more sum of these.
    macro_rules! of_narrow_width {
        ($name:ident, $features:literal, $class:ident, $m:literal, $zero:expr, $low:expr) => {
            of_width!(
                $name, $features, $class, $m, $zero, $low,
                hashed: [
                    shuffle!($m), product!($m, "0x00"), sum!($m, "q"), product!($m, "0x11"), sum!($m, "r"),
                    shuffle!($m), sum!($m, "s"), product!($m, "0x00"), sum!($m, "t")
                ],
                encrypted: [sum!($m, "q"), sum!($m, "r"), sum!($m, "s")],
                both: [
                    shuffle!($m), concat!(product!($m, "0x00"), "\n", sum!($m, "q")), sum!($m, "r"),
                    concat!(product!($m, "0x11"), "\n", sum!($m, "s")), sum!($m, "t"),
                    concat!(shuffle!($m), "\n", sum!($m, "q")), product!($m, "0x00"),
                    concat!(sum!($m, "r"), "\n", sum!($m, "s"))
                ]
            );
        };
    }

    of_narrow_width!(
        of_256_bits,
        "avx2,vaes,vpclmulqdq",
        ymm_reg,
        "y",
        _mm256_setzero_si256(),
        |state| _mm256_castsi256_si128(state)
    );
    of_narrow_width!(
        of_128_bits,
        "avx,aes,pclmulqdq",
        xmm_reg,
        "x",
        _mm_setzero_si128(),
        |state| state
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_takes_its_rounds() {
        // Rounds of equal bytes under a key of zeros are the S-box, here from 0 on (FIPS 197, table 4).
        const BOXED: [u8; 7] = [0x00, 0x63, 0xfb, 0x0f, 0x76, 0x38, 0x07];
        let Some(ports) = Ports::widest() else { return };
        for (rounds, further) in [(10, 1), (12, 2), (14, 3)] {
            for (encrypted, hashed) in [(0, 3), (1, 0), (2, 2), (3, 1)] {
                let load = Load { rounds, encrypted, hashed };
                let state = |at: usize| {
                    let both = encrypted.min(hashed);
                    let registers = (0..both).chain(0..encrypted - both);
                    let pairs = registers.flat_map(|register| register..register + further);
                    let again = pairs.filter(|pair| pair % 4 == at as u64 / 2).count() as u64;
                    let times = usize::try_from(encrypted + again).unwrap();
                    u64::from_ne_bytes([BOXED[times]; 8])
                };
                assert_eq!(ports.work(load), std::array::from_fn(state), "{load:?}");
            }
        }
    }
}
