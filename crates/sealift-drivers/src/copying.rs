//! What this machine's processor takes to copy: as the lab measured it, else as it is timed here.

use crate::cache::{Cache, CacheError, Measured};
use sealift_kernels::copy::copy;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// What one thread takes to copy from memory to memory, by length.
///
/// ```
/// use sealift_drivers::copying::CopyCost;
/// let cost = CopyCost::new(vec![(16, 20.0), (1_024, 272.0)])?;
/// assert_eq!(cost.of(520.0), 146.0);
/// # Ok::<(), sealift_drivers::copying::CopyCostError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CopyCost {
    times: Vec<(u64, f64)>,
}

/// Times that no copies take.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CopyCostError {
    /// No length, or far too many.
    #[error("copies of {lengths} lengths: give 1 to {}", LENGTHS_MAX)]
    Lengths {
        /// How many were given.
        lengths: usize,
    },
    /// A length that is no longer than the one before it.
    #[error(
        "a copy of {bytes} bytes behind one of {before}: give lengths in ascending order, from 1 on"
    )]
    Order {
        /// The length.
        bytes: u64,
        /// The one before; 0 of the first.
        before: u64,
    },
    /// A time that can't be.
    #[error(
        "a copy of {bytes} bytes takes {ns} ns: give {} to {} ns a byte",
        BYTE_NS_MIN,
        BYTE_NS_MAX
    )]
    Time {
        /// The length.
        bytes: u64,
        /// What was given for it.
        ns: f64,
    },
}

impl CopyCost {
    /// A cost by lengths in bytes, ascending, each with the nanoseconds that such a copy takes. One that
    /// takes less than a shorter one counts as taking as long: measured times have noise.
    ///
    /// # Errors
    /// No length, more than [`LENGTHS_MAX`], lengths out of order, a time that is no copy's.
    pub fn new(mut times: Vec<(u64, f64)>) -> Result<Self, CopyCostError> {
        if !(1..=LENGTHS_MAX).contains(&times.len()) {
            return Err(CopyCostError::Lengths { lengths: times.len() });
        }
        let (mut before, mut least_ns) = (0, 0.0);
        for (bytes, ns) in &mut times {
            if *bytes <= before {
                return Err(CopyCostError::Order { bytes: *bytes, before });
            }
            if !(BYTE_NS_MIN..=BYTE_NS_MAX).contains(&(*ns / *bytes as f64)) {
                return Err(CopyCostError::Time { bytes: *bytes, ns: *ns });
            }
            *ns = ns.max(least_ns);
            (before, least_ns) = (*bytes, *ns);
        }
        Ok(Self { times })
    }

    /// The same rate for all lengths.
    pub(crate) fn even(byte_ns: f64) -> Self {
        Self { times: vec![(1, byte_ns)] }
    }

    /// Its lengths in bytes, each with its nanoseconds.
    #[must_use]
    pub fn times(&self) -> &[(u64, f64)] {
        &self.times
    }

    /// Nanoseconds for a copy: between two lengths on the straight line through both, and before the
    /// first and beyond the last at the rate of that one.
    #[must_use]
    pub fn of(&self, bytes: f64) -> f64 {
        let longer = self.times.partition_point(|time| (time.0 as f64) < bytes);
        let at = |at: usize| self.times.get(at).map(|(bytes, ns)| (*bytes as f64, *ns));
        let shorter = longer.checked_sub(1).and_then(at);
        match (shorter, at(longer)) {
            (Some((from, from_ns)), Some((to, to_ns))) => {
                from_ns + (to_ns - from_ns) / (to - from) * (bytes - from)
            }
            (Some((whole, ns)), None) | (None, Some((whole, ns))) => ns / whole * bytes,
            (None, None) => 0.0,
        }
    }

    /// Nanoseconds a byte of a copy of [`PIECE_BYTES`].
    pub(crate) fn byte_ns(&self) -> f64 {
        self.of(PIECE_BYTES as f64) / PIECE_BYTES as f64
    }

    /// Leaves it in the user's cache as what copies cost on this machine, for cards whose descriptions
    /// leave that out; returns the file.
    ///
    /// # Errors
    /// There is no place for the file, or it can't be written.
    pub fn keep(self) -> Result<PathBuf, CacheError> {
        let cache = Cache::of_user();
        cache.keep(cache.read().unwrap_or_default(), vec![Measured::Copies(self)])
    }
}

/// What copies cost here, and how that is known.
pub(crate) struct Copying {
    pub(crate) cost: CopyCost,
    pub(crate) source: String,
}

/// From the cache, where the lab has left it; else timed, which takes some milliseconds once a process.
pub(crate) fn of_this_machine(cache: &Cache) -> Copying {
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
/// More than anybody measures.
pub const LENGTHS_MAX: usize = 64;
/// A million gigabits a second, and a kilobit: as of a card's description.
const BYTE_NS_MIN: f64 = 8e-6;
const BYTE_NS_MAX: f64 = 8e6;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_copy_takes_what_lies_between_its_neighbours() {
        let cost = CopyCost::new(vec![(16, 20.0), (256, 80.0), (65_536, 8_000.0)]).unwrap();
        let expected = [
            (0.0, 0.0),
            (8.0, 10.0),
            (16.0, 20.0),
            (136.0, 50.0),
            (256.0, 80.0),
            (65_536.0, 8_000.0),
            (131_072.0, 16_000.0),
        ];
        for (bytes, ns) in expected {
            assert!((cost.of(bytes) - ns).abs() < 1e-9, "{bytes} bytes: {}", cost.of(bytes));
        }
        assert_eq!(cost.byte_ns(), 8_000.0 / 65_536.0);
        let even = CopyCost::even(0.25);
        assert_eq!([1.0, 100.0, 1e9].map(|bytes| even.of(bytes)), [0.25, 25.0, 0.25e9]);
        assert_eq!((CopyCost::even(0.0).of(5.0), even.byte_ns()), (0.0, 0.25));
    }

    #[test]
    fn a_copy_that_takes_less_than_a_shorter_one_counts_as_taking_as_long() {
        let cost = CopyCost::new(vec![(16, 20.0), (256, 15.0), (1_024, 100.0)]).unwrap();
        assert_eq!(cost.times(), [(16, 20.0), (256, 20.0), (1_024, 100.0)]);
    }

    #[test]
    fn times_that_no_copies_take_are_refused_with_what_would_be_right() {
        let refused = |times: &[(u64, f64)]| CopyCost::new(times.to_vec()).unwrap_err().to_string();
        assert_eq!(refused(&[]), "copies of 0 lengths: give 1 to 64");
        let many: Vec<_> = (1..=65).map(|bytes| (bytes, bytes as f64)).collect();
        assert_eq!(refused(&many), "copies of 65 lengths: give 1 to 64");
        let order =
            "a copy of 16 bytes behind one of 16: give lengths in ascending order, from 1 on";
        assert_eq!(refused(&[(16, 20.0), (16, 20.0)]), order);
        assert!(refused(&[(0, 1.0)]).starts_with("a copy of 0 bytes behind one of 0: "));
        for ns in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9, 1e-9] {
            let said = refused(&[(16, ns)]);
            assert!(
                said.starts_with(&format!("a copy of 16 bytes takes {ns} ns: give ")),
                "{said}"
            );
        }
    }

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
