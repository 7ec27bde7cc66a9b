//! What a processor takes to copy, by length.

use crate::cache::{Cache, CacheError, Measured};
use std::path::PathBuf;
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

    /// The same nanoseconds a byte for all lengths.
    #[must_use]
    pub fn even(byte_ns: f64) -> Self {
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

    /// Nanoseconds a byte of a copy of 64 KiB.
    #[must_use]
    pub fn byte_ns(&self) -> f64 {
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

const PIECE_BYTES: usize = 64 << 10;
/// More than anybody measures.
pub const LENGTHS_MAX: usize = 64;
/// A million gigabits a second, and a kilobit: as of a card's description.
const BYTE_NS_MIN: f64 = 8e-6;
const BYTE_NS_MAX: f64 = 8e6;

#[cfg(test)]
mod tests {
    use super::*;

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
}
