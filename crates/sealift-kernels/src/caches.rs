//! What is done about the caches where texts come from memory.

use crate::Path;
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64;

/// What is done about the caches while a text is worked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Caching {
    /// Nothing: they hold it, or the processor finds it in time.
    Nothing,
    /// They are asked for it ahead, and then for what is at an address.
    Asked(*const u8),
    /// Its result is stored past them, where it begins with a cache line. Then [`settle`] comes before anything else is done with it.
    Passed,
}

/// How texts are met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Texts {
    /// The caches hold them, or the processor finds them in time.
    Near,
    /// They come from memory, and have to be asked for.
    Far,
    /// They come from memory, and their results go there.
    Passing,
}

impl Texts {
    /// Texts of so many bytes in all.
    pub(crate) fn of(path: Path, bytes: u64) -> Texts {
        // Texts that are there take a twentieth longer if they are asked for.
        if bytes <= NEAR_BYTES { Texts::Near } else { Texts::from_memory(path, bytes) }
    }

    /// Texts of so many bytes that no cache holds.
    pub(crate) fn from_memory(path: Path, bytes: u64) -> Texts {
        match finds_texts(path) {
            false => Texts::Far,
            true if bytes >= past_caches() => Texts::Passing,
            true => Texts::Near,
        }
    }

    /// The same for one of them, and the address of the next.
    pub(crate) fn caching(self, next: impl FnOnce() -> *const u8) -> Caching {
        match self {
            Texts::Near => Caching::Nothing,
            Texts::Far => Caching::Asked(next()),
            Texts::Passing => Caching::Passed,
        }
    }

    /// Comes after the last of them.
    #[inline(always)]
    pub(crate) fn settle(self) {
        if self == Texts::Passing {
            settle();
        }
    }
}

impl Caching {
    /// They are asked for what is at an address, if it is one.
    pub(crate) fn asked(next: Option<*const u8>) -> Caching {
        next.map_or(Caching::Nothing, Caching::Asked)
    }
}

/// Whether the processor finds texts sooner where nobody asks for them, on a path.
// IMPLEMENTATION NOTE: Intel has no SSE4a. On Zen 4 texts of 16 KiB from memory took an eighth to a fifth longer if they were asked
// for; on Intel's processors they took less when asking was added. What AMD made later is taken for such, and narrower paths were
// not measured there.
pub(crate) fn finds_texts(path: Path) -> bool {
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(_) => std::arch::is_x86_feature_detected!("sse4a"),
        _ => false,
    }
}

/// From how many bytes of texts on results go past the caches: where both are three quarters of the largest.
// IMPLEMENTATION NOTE: a line that is stored past the caches is not read before. On Zen 4, whose largest cache has 32 MiB, texts of 16 KiB, 12
// to 64 MiB in all, took a quarter less time so, and a tenth less together with one who then reads the results. Of 8 MiB they took a
// twentieth longer, and a fifth with the reader.
fn past_caches() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    let largest = x86_64::copy::cache_bytes();
    #[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
    let largest = usize::MAX;
    largest as u64 / 8 * 3
}

/// Lets other threads, and what comes later here, see what was stored past the caches.
#[inline(always)]
pub(crate) fn settle() {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    x86_64::copy::fence();
}

/// Texts of as many bytes and their results stay in the second cache.
const NEAR_BYTES: u64 = 512 << 10;

#[cfg(all(test, target_arch = "x86_64", not(sealift_portable)))]
mod tests {
    use super::*;

    #[test]
    fn results_pass_the_caches_where_they_are_large_and_texts_are_found() {
        assert_eq!(Texts::of(Path::Model, NEAR_BYTES), Texts::Near);
        assert_eq!(Texts::of(Path::Model, u64::MAX), Texts::Far);
        assert_eq!(Texts::from_memory(Path::Model, 1), Texts::Far);
        assert!((1 << 20..=u64::MAX / 8 * 3).contains(&past_caches()));
        if let Ok(token) = x86_64::cpu::HaveVaes512::check() {
            let path = Path::Vaes512(token);
            let large = if finds_texts(path) { Texts::Passing } else { Texts::Far };
            assert_eq!(Texts::of(path, u64::MAX), large);
            assert_eq!(Texts::of(path, NEAR_BYTES), Texts::Near);
        }
    }
}
