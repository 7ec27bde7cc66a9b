//! The clock a core really runs at.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A 64-bit multiply takes 3 cycles and an exclusive or takes 1, on x86-64 processors since 2013.
const CYCLES_PER_LINK: f64 = 4.0;

/// The clock of the core that runs this, in GHz, or nothing where the chain's cycles aren't known.
///
/// Times a chain of multiplications, each of which needs the one before: neither the time-stamp
/// counter nor /proc/cpuinfo tell it on virtual machines. The best of ten windows of a millisecond
/// counts, because an interruption can only make a window slower.
#[must_use]
pub fn effective_clock_ghz() -> Option<f64> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    (0..WINDOWS).map(|_| LONG.ghz()).max_by(f64::total_cmp)
}

/// The same in 35 µs at 4 GHz, to be told beside a sample: the best of four short windows.
pub(crate) fn clock_ghz_now() -> Option<f64> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    (0..SHORT_WINDOWS).map(|_| SHORT.ghz()).max_by(f64::total_cmp)
}

/// A stretch of time in which links of the chain are counted.
struct Window {
    /// Links between two looks at the clock.
    links: u32,
    at_least: Duration,
}

impl Window {
    fn ghz(&self) -> f64 {
        let (factor, mask) =
            (black_box(0x9E37_79B9_7F4A_7C15_u64), black_box(0x5851_F42D_4C95_7F2D));
        let (mut value, mut links) = (black_box(1_u64), 0_u64);
        let start = Instant::now();
        loop {
            for _ in 0..self.links {
                value = value.wrapping_mul(factor) ^ mask;
            }
            value = black_box(value);
            links += u64::from(self.links);
            let elapsed = start.elapsed();
            if elapsed >= self.at_least {
                #[expect(clippy::cast_precision_loss, reason = "both are far under 2^52")]
                return links as f64 * CYCLES_PER_LINK / elapsed.as_nanos() as f64;
            }
        }
    }
}

const WINDOWS: usize = 10;
/// A look of 50 ns is nothing of a third of a millisecond, which the links take at 3 GHz.
const LONG: Window = Window { links: 262_144, at_least: Duration::from_millis(1) };
const SHORT_WINDOWS: usize = 4;
/// A look is 0.3 % of it, the same in every sample.
const SHORT: Window = Window { links: 8_192, at_least: Duration::ZERO };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_one_that_processors_have() {
        let Some(ghz) = effective_clock_ghz() else { return };
        assert!((0.3..10.0).contains(&ghz), "{ghz} GHz");
    }

    #[test]
    fn a_look_at_the_clock_is_less_than_a_thousandth_of_what_it_times() {
        let looks = 1_000;
        let start = Instant::now();
        for _ in 0..looks {
            black_box(Instant::now());
        }
        let look_ns = start.elapsed().as_secs_f64() * 1e9 / f64::from(looks);
        // At 10 GHz, which no processor reaches.
        let links_ns = f64::from(LONG.links) * CYCLES_PER_LINK / 10.0;
        // Virtual machines without a clock page take microseconds for a look.
        if look_ns < 100.0 {
            assert!(look_ns * 1_000.0 < links_ns, "{look_ns} ns of {links_ns}");
        }
    }

    #[test]
    fn the_short_reading_is_short_and_agrees_with_the_long_one() {
        let Some(long) = effective_clock_ghz() else { return };
        let close = |()| {
            let start = Instant::now();
            let short = clock_ghz_now().unwrap();
            (short / long - 1.0).abs() < 0.05 && start.elapsed() < Duration::from_micros(500)
        };
        // A neighbour may spoil one, not all of a hundred.
        assert!(std::iter::repeat_n((), 100).any(close));
    }

    #[test]
    fn two_readings_agree_within_a_fifth() {
        // A neighbour may spoil both for a while; that all of twenty pairs differ is no neighbour.
        let close = |()| {
            let (one, two) = (effective_clock_ghz()?, effective_clock_ghz()?);
            Some((one / two - 1.0).abs() < 0.2)
        };
        let mut pairs = std::iter::repeat_n((), 20).map(close);
        assert!(pairs.any(|close| close != Some(false)));
    }
}
