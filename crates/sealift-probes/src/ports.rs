//! How fast the processor executes the vector instructions of AES-GCM alone.
#![allow(unsafe_code)]

/// The vector instructions of AES-GCM, on the widest registers there are, worked for nothing: without memory, and with
/// enough of them in flight that only the units' rate counts.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    run: fn(Load) -> [u64; STATES],
    /// Blocks of 16 bytes in a register.
    pub lanes: usize,
    /// What hashing a register takes: four products and their sums, two of which AVX-512 adds at a time; on registers of one
    /// block three products, as Karatsuba has them.
    pub hashed: Load,
    /// The instructions, for people.
    pub detail: &'static str,
}

/// So many instructions, each on a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Rounds of AES.
    pub rounds: u64,
    /// Carry-less multiplications.
    pub products: u64,
    /// Sums of any kind.
    pub sums: u64,
    /// Shuffles of bytes.
    pub shuffles: u64,
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
        let hashed = |products, sums, shuffles| Load { rounds: 0, products, sums, shuffles };
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
        {
            // SAFETY: the processor was asked for these instructions just above.
            let run = |load| unsafe { of_512_bits(load) };
            let detail = "VAES and VPCLMULQDQ on 512 bits";
            return Some(Ports { run, lanes: 4, hashed: hashed(4, 2, 1), detail });
        }
        if is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq") {
            // SAFETY: as above; with them come registers of 256 bits.
            let run = |load| unsafe { of_256_bits(load) };
            let detail = "VAES and VPCLMULQDQ on 256 bits";
            return Some(Ports { run, lanes: 2, hashed: hashed(4, 4, 1), detail });
        }
        if is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
        {
            // SAFETY: the processor was asked for AVX, AES-NI and PCLMULQDQ just above.
            let run = |load| unsafe { of_128_bits(load) };
            let detail = "AES-NI and PCLMULQDQ on 128 bits";
            return Some(Ports { run, lanes: 1, hashed: hashed(3, 4, 2), detail });
        }
        None
    }

    /// So many of a loop's turns, evenly among all.
    struct Share {
        of: u64,
        all: u64,
        due: u64,
    }

    impl Share {
        fn is_due(&mut self) -> bool {
            self.due += self.of;
            let is_due = self.due >= self.all;
            self.due -= if is_due { self.all } else { 0 };
            is_due
        }
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

    /// Of two terms or three, as the instruction has them.
    macro_rules! sum {
        ($m:literal, $sum:literal, $terms:literal, $to:literal) => {
            concat!($sum, " {", $to, ":", $m, "}, {", $to, ":", $m, "}, {key:", $m, "}", $terms)
        };
    }

    /// Eight rounds, four products, four sums or a shuffle, as often as there are so many, evenly in the same turns.
    macro_rules! of_width {
        (
            $name:ident, $features:literal, $class:ident, $m:literal, $sum:literal, $terms:literal,
            $zero:expr, $low:expr
        ) => {
            #[target_feature(enable = $features)]
            fn $name(load: Load) -> [u64; STATES] {
                let Load { rounds, products, sums, shuffles } = load;
                let shares = [rounds / 8, products / 4, sums / 4, shuffles];
                let all = shares.into_iter().fold(0, u64::max);
                let [mut rounds, mut products, mut sums, mut shuffles] =
                    shares.map(|of| Share { of, all, due: 0 });
                let (key, mut states, mut added) = ($zero, [$zero; STATES], [$zero; 4]);
                for _ in 0..all {
                    if rounds.is_due() {
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
                    }
                    if products.is_due() {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                product!($m, "0x00"),
                                product!($m, "0x01"),
                                product!($m, "0x10"),
                                product!($m, "0x11"),
                                key = in($class) key,
                                p = out($class) _,
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    }
                    if sums.is_due() {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                sum!($m, $sum, $terms, "a"),
                                sum!($m, $sum, $terms, "b"),
                                sum!($m, $sum, $terms, "c"),
                                sum!($m, $sum, $terms, "d"),
                                key = in($class) key,
                                a = inout($class) added[0],
                                b = inout($class) added[1],
                                c = inout($class) added[2],
                                d = inout($class) added[3],
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    }
                    if shuffles.is_due() {
                        // SAFETY: registers only.
                        unsafe {
                            asm!(
                                concat!("vpshufb {p:", $m, "}, {key:", $m, "}, {key:", $m, "}"),
                                key = in($class) key,
                                p = out($class) _,
                                options(nomem, nostack, preserves_flags),
                            )
                        }
                    }
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
            for (products, sums, shuffles) in [(0, 0, 0), (8, 32, 2), (100, 8, 1), (8, 200, 70)] {
                let load = Load { rounds: 8 * times, products, sums, shuffles };
                assert_eq!(ports.work(load), [u64::from_ne_bytes([byte; 8]); STATES], "{load:?}");
            }
        }
    }
}
