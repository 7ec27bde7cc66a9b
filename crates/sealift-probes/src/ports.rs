//! What the processor's vector units allow.
#![allow(unsafe_code)]

/// The instructions that AES-GCM takes, on the widest registers there are, worked for nothing: on registers alone, with
/// enough of them in flight that only the units' rate counts.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    run: fn(Load) -> [u64; STATES],
    /// Blocks of 16 bytes in a register.
    pub lanes: usize,
    /// Sums that take in the four products of a register: with AVX-512 two of three terms.
    pub sums_of_products: u64,
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
    /// Sums and shuffles, seven to one, each of a register.
    pub others: u64,
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
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
        {
            // SAFETY: the processor was asked for these instructions just above.
            let run = |load| unsafe { of_512_bits(load) };
            let detail = "VAES and VPCLMULQDQ on 512 bits";
            return Some(Ports { run, lanes: 4, sums_of_products: 2, detail });
        }
        if is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq") {
            // SAFETY: as above; with them come registers of 256 bits.
            let run = |load| unsafe { of_256_bits(load) };
            let detail = "VAES and VPCLMULQDQ on 256 bits";
            return Some(Ports { run, lanes: 2, sums_of_products: 4, detail });
        }
        if is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
        {
            // SAFETY: the processor was asked for AVX, AES-NI and PCLMULQDQ just above.
            let run = |load| unsafe { of_128_bits(load) };
            let detail = "AES-NI and PCLMULQDQ on 128 bits";
            return Some(Ports { run, lanes: 1, sums_of_products: 4, detail });
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

    /// Of two or three terms, as the instruction has them.
    macro_rules! sum {
        ($m:literal, $sum:literal, $terms:literal, $to:literal) => {
            concat!($sum, " {", $to, ":", $m, "}, {", $to, ":", $m, "}, {p:", $m, "}", $terms)
        };
    }

    macro_rules! shuffle {
        ($m:literal) => {
            concat!("vpshufb {s:", $m, "}, {key:", $m, "}, {key:", $m, "}")
        };
    }

    /// Some instructions on registers alone; AES on eight of them.
    macro_rules! on_registers {
        ($class:ident, $m:literal, $key:ident, $states:ident, $sums:ident: $($instruction:expr),+) => {
            // SAFETY: registers only.
            unsafe {
                asm!(
                    $($instruction,)+
                    concat!(
                        "/* {a:", $m, "} {b:", $m, "} {c:", $m, "} {d:", $m, "} {e:", $m, "} {f:", $m, "} {g:", $m,
                        "} {h:", $m, "} {key:", $m, "} {p:", $m, "} {q:", $m, "} {r:", $m, "} {s:", $m, "} */"
                    ),
                    key = in($class) $key,
                    a = inout($class) $states[0],
                    b = inout($class) $states[1],
                    c = inout($class) $states[2],
                    d = inout($class) $states[3],
                    e = inout($class) $states[4],
                    f = inout($class) $states[5],
                    g = inout($class) $states[6],
                    h = inout($class) $states[7],
                    q = inout($class) $sums[0],
                    r = inout($class) $sums[1],
                    p = inout($class) $key => _,
                    s = out($class) _,
                    options(nomem, nostack, preserves_flags),
                )
            }
        };
    }

    /// Turns of eight rounds, of four products and of eight others: all of them woven as long as there are, the rest by
    /// themselves.
    macro_rules! of_width {
        (
            $name:ident, $features:literal, $class:ident, $m:literal, $sum:literal, $terms:literal,
            $zero:expr, $low:expr
        ) => {
            #[target_feature(enable = $features)]
            fn $name(load: Load) -> [u64; STATES] {
                let Load { rounds, products, others } = load;
                let [turns, fours, eights] = [rounds / 8, products / 4, others / 8];
                let (key, mut states, mut sums) = ($zero, [$zero; STATES], [$zero; 2]);
                let woven = turns.min(fours).min(eights);
                let mut due = 0;
                for _ in 0..turns {
                    due += woven;
                    if due < turns {
                        on_registers!(
                            $class, $m, key, states, sums:
                            round!($m, "a"), round!($m, "b"), round!($m, "c"), round!($m, "d"),
                            round!($m, "e"), round!($m, "f"), round!($m, "g"), round!($m, "h")
                        );
                        continue;
                    }
                    due -= turns;
                    on_registers!(
                        $class, $m, key, states, sums:
                        round!($m, "a"),
                        shuffle!($m),
                        product!($m, "0x00"),
                        round!($m, "b"),
                        sum!($m, $sum, $terms, "q"),
                        sum!($m, $sum, $terms, "r"),
                        round!($m, "c"),
                        product!($m, "0x01"),
                        round!($m, "d"),
                        sum!($m, $sum, $terms, "q"),
                        sum!($m, $sum, $terms, "r"),
                        round!($m, "e"),
                        product!($m, "0x10"),
                        round!($m, "f"),
                        sum!($m, $sum, $terms, "q"),
                        sum!($m, $sum, $terms, "r"),
                        round!($m, "g"),
                        product!($m, "0x11"),
                        round!($m, "h"),
                        sum!($m, $sum, $terms, "q")
                    );
                }
                for _ in woven..fours {
                    on_registers!(
                        $class, $m, key, states, sums:
                        product!($m, "0x00"), product!($m, "0x01"),
                        product!($m, "0x10"), product!($m, "0x11")
                    );
                }
                for _ in woven..eights {
                    on_registers!(
                        $class, $m, key, states, sums:
                        shuffle!($m),
                        sum!($m, $sum, $terms, "q"), sum!($m, $sum, $terms, "r"),
                        sum!($m, $sum, $terms, "q"), sum!($m, $sum, $terms, "r"),
                        sum!($m, $sum, $terms, "q"), sum!($m, $sum, $terms, "r"),
                        sum!($m, $sum, $terms, "q")
                    );
                }
                states.map(|state| _mm_cvtsi128_si64($low(state)).cast_unsigned())
            }
        };
    }

    of_width!(
        of_512_bits,
        "avx512f,avx512bw,vaes,vpclmulqdq",
        zmm_reg,
        "z",
        "vpternlogd",
        ", 0x96",
        _mm512_setzero_si512(),
        |state| _mm512_castsi512_si128(state)
    );
    of_width!(
        of_256_bits,
        "avx2,vaes,vpclmulqdq",
        ymm_reg,
        "y",
        "vpxor",
        "",
        _mm256_setzero_si256(),
        |state| { _mm256_castsi256_si128(state) }
    );
    of_width!(
        of_128_bits,
        "avx,aes,pclmulqdq",
        xmm_reg,
        "x",
        "vpxor",
        "",
        _mm_setzero_si128(),
        |state| state
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
            for (products, others) in [(0, 0), (8, 32), (100, 8), (8, 200)] {
                let load = Load { rounds: 8 * times, products, others };
                assert_eq!(ports.work(load), [u64::from_ne_bytes([byte; 8]); STATES], "{load:?}");
            }
        }
    }
}
