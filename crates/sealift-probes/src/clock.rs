//! The clock a core really runs at.

use std::hint::black_box;
use std::time::{Duration, Instant};

const WINDOWS: usize = 10;
const WINDOW: Duration = Duration::from_millis(1);
/// Links between two looks at the clock: a third of a millisecond at 3 GHz, of which a look of 50 ns
/// is nothing.
const LINKS: u32 = 262_144;
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
    (0..WINDOWS).map(|_| window_ghz()).max_by(f64::total_cmp)
}

fn window_ghz() -> f64 {
    let (factor, mask) = (black_box(0x9E37_79B9_7F4A_7C15_u64), black_box(0x5851_F42D_4C95_7F2D));
    let (mut value, mut links) = (black_box(1_u64), 0_u64);
    let start = Instant::now();
    loop {
        for _ in 0..LINKS {
            value = value.wrapping_mul(factor) ^ mask;
        }
        links += u64::from(LINKS);
        let elapsed = start.elapsed();
        if elapsed >= WINDOW {
            black_box(value);
            #[expect(clippy::cast_precision_loss, reason = "both are far under 2^52")]
            return links as f64 * CYCLES_PER_LINK / elapsed.as_nanos() as f64;
        }
    }
}

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
        let links_ns = f64::from(LINKS) * CYCLES_PER_LINK / 10.0;
        // Virtual machines without a clock page take microseconds for a look.
        if look_ns < 100.0 {
            assert!(look_ns * 1_000.0 < links_ns, "{look_ns} ns of {links_ns}");
        }
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
