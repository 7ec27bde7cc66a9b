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
    /// Its result is stored past them in whole lines, unless it is in its text's place, begins within a block, or is short and not of
    /// whole lines. Before anything else is done with it comes [`settle`], of which [`Texts::settling`] takes care.
    Passed,
}

/// Where texts are found.
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
    /// Texts of so many bytes, in a batch with so many in all.
    #[inline]
    pub(crate) fn of(path: Path, bytes: u64, whole_bytes: u64) -> Texts {
        if bytes.max(whole_bytes) <= NEAR_BYTES {
            return Texts::Near;
        }
        match finds_texts(path) {
            true if whole_bytes >= past_caches() => Texts::Passing,
            // Texts that are there take a twentieth longer if they are asked for.
            false if bytes > NEAR_BYTES => Texts::Far,
            _ => Texts::Near,
        }
    }

    /// What is done about one of them. `next` is where the next one is.
    pub(crate) fn caching(self, next: impl FnOnce() -> *const u8) -> Caching {
        match self {
            Texts::Near => Caching::Nothing,
            Texts::Far => Caching::Asked(next()),
            Texts::Passing => Caching::Passed,
        }
    }

    /// Comes before the first of them is worked: results are there for everyone once it is dropped.
    pub(crate) fn settling(self) -> Settling {
        Settling(self == Texts::Passing)
    }
}

/// Settles results when it is dropped, if they went past the caches.
pub(crate) struct Settling(bool);

impl Drop for Settling {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 {
            settle();
        }
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

/// From how many bytes of texts on results go past the caches.
fn past_caches() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    let largest = x86_64::copy::cache_bytes();
    #[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
    let largest = usize::MAX;
    past_caches_of(largest)
}

/// Where texts and results are three quarters of the largest cache.
// IMPLEMENTATION NOTE: a line that is stored past the caches is not read before. On one core of a Zen 4 with a cache of 32 MiB, texts of 16 KiB, 12
// to 64 MiB in all, took a quarter less time so, and a tenth less together with one who then reads the results. Of 8 MiB they took a
// twentieth longer, and a fifth with the reader. Two cores that shared the cache won as much. In pages of 4 KiB nothing was won or lost.
fn past_caches_of(largest: usize) -> u64 {
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
        assert_eq!(past_caches_of(32 << 20), 12 << 20);
        assert_eq!(Texts::of(Path::Model, NEAR_BYTES, u64::MAX), Texts::Near);
        assert_eq!(Texts::of(Path::Model, NEAR_BYTES + 1, u64::MAX), Texts::Far);
        if let Ok(token) = x86_64::cpu::HaveVaes512::check() {
            let path = Path::Vaes512(token);
            let past = past_caches();
            let [below, from] = [past - 1, past].map(|whole| Texts::of(path, 1, whole));
            let passes = finds_texts(path) && past > NEAR_BYTES;
            assert_eq!((below, from == Texts::Passing), (Texts::Near, passes));
        }
    }
}
