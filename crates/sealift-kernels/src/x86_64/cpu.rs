//! Proof that this processor has an instruction set.

macro_rules! proof {
    ($(#[$doc:meta])* $name:ident: $($flag:tt)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(());

        impl $name {
            /// Asks the processor.
            ///
            /// # Errors
            /// The flags that it lacks.
            pub fn check() -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(if !std::arch::is_x86_feature_detected!($flag) {
                    missing.push($flag);
                })+
                if missing.is_empty() { Ok(Self(())) } else { Err(missing) }
            }
        }
    };
}

proof! {
    /// Proof that this processor has the instructions of the 128-bit path.
    HaveAesNi: "ssse3" "sse4.1" "aes" "pclmulqdq"
}
proof! {
    /// Proof that this processor has the instructions of the 256-bit path.
    HaveVaes256: "ssse3" "sse4.1" "aes" "pclmulqdq" "avx" "avx2" "vaes" "vpclmulqdq"
}
proof! {
    /// Proof that this processor has the instructions of the 512-bit path.
    HaveVaes512: "ssse3" "sse4.1" "aes" "pclmulqdq" "avx" "avx2" "vaes" "vpclmulqdq" "avx512f"
        "avx512bw" "avx512dq" "avx512vl" "avx512vbmi"
}

impl From<HaveVaes256> for HaveAesNi {
    #[inline(always)]
    fn from(_more: HaveVaes256) -> HaveAesNi {
        HaveAesNi(())
    }
}

impl From<HaveVaes512> for HaveAesNi {
    #[inline(always)]
    fn from(_more: HaveVaes512) -> HaveAesNi {
        HaveAesNi(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_path_needs_all_that_a_narrower_one_needs() {
        let narrow = HaveAesNi::check().err().unwrap_or_default();
        for wide in [HaveVaes256::check().err(), HaveVaes512::check().err()] {
            let wide = wide.unwrap_or_default();
            assert!(narrow.iter().all(|flag| wide.contains(flag)), "{narrow:?} {wide:?}");
        }
    }
}
