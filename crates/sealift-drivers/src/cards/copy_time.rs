//! What this machine's processor takes to copy: as the lab measured it, else as it is timed here.

use crate::cache::Cache;
use crate::copying::CopyCost;
use sealift_kernels::copy::copy;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What copies cost here, and how that is known.
pub(super) struct Copying {
    pub(super) cost: CopyCost,
    pub(super) source: String,
}

/// From the cache, where the lab has left it; else timed, which takes some milliseconds once a process.
pub(super) fn of_this_machine(cache: &Cache) -> Copying {
    let kept = cache.read().unwrap_or_default();
    match kept.copies() {
        Some((cost, at)) => Copying { cost: cost.clone(), source: told(cost, at) },
        None => Copying { cost: CopyCost::even(timed_byte_ns()), source: TIMED.to_owned() },
    }
}

fn told(cost: &CopyCost, at: SystemTime) -> String {
    let lengths = match cost.times() {
        [(first, _), .., (last, _)] => format!("copies of {first} to {last} bytes from memory"),
        _ => "copies from memory".to_owned(),
    };
    format!(
        "measured here: 64 KiB among the {lengths} that `sealift lab run copy-by-length` timed on {} and \
         that are reckoned with by length",
        day(at)
    )
}

/// As 2026-11-23, in UTC.
fn day(at: SystemTime) -> String {
    let days = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    // Of a calendar whose years begin in March, so that leap days come last; 400 years are an era.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + next)
}

/// The first call measures; what it found stands until the process ends.
fn timed_byte_ns() -> f64 {
    static BYTE_NS: OnceLock<f64> = OnceLock::new();
    *BYTE_NS.get_or_init(time_byte_ns)
}

fn time_byte_ns() -> f64 {
    // Neither holds zeros: pages that nobody wrote are no memory yet.
    let (source, mut destination) = (vec![1_u8; BYTES], vec![2_u8; BYTES]);
    let once_ns = |_| {
        let begin = Instant::now();
        let pieces = destination.chunks_mut(PIECE_BYTES).zip(source.chunks(PIECE_BYTES));
        pieces.for_each(|(to, from)| copy(to, from));
        black_box(&mut destination);
        begin.elapsed().as_nanos().max(1)
    };
    let best_ns = (0..TRIES).map(once_ns).min().unwrap_or(1);
    best_ns as f64 / BYTES as f64
}

const TIMED: &str = "measured here: 16 MiB from memory to memory, 64 KiB at a time, the best of 3 tries; \
                     `sealift lab run copy-by-length` would leave a figure by length for it";
const BYTES: usize = 16 << 20;
const PIECE_BYTES: usize = 64 << 10;
const TRIES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_767_225_599, "2025-12-31"),
            (1_767_225_600, "2026-01-01"),
            (1_795_391_999, "2026-11-22"),
            (4_107_542_400, "2100-03-01"),
        ];
        for (seconds, expected) in days {
            assert_eq!(day(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
