//! Which faults a device has, and what they make of each of its jobs.

use sealift_core::Spec;

/// The faults of a device. None of them is the device as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Each so many-th batch fails.
    pub(super) fail: Option<u64>,
    /// Each so many-th batch has a flipped bit.
    pub(super) wrong: Option<u64>,
    /// Decides which bit.
    pub(super) seed: u64,
    /// Each so many-th batch is late, and by how many nanoseconds.
    pub(super) late: Option<(u64, u64)>,
    /// The job that never completes.
    pub(super) hang: Option<u64>,
    /// After so many batches the device is dead.
    pub(super) die: Option<u64>,
    /// Each so many-th job is refused as if there were no slot.
    pub(super) full: Option<u64>,
}

/// What becomes of one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) fails: bool,
    /// The number that decides which bit is flipped.
    pub(super) flips: Option<u64>,
    pub(super) late_ns: Option<u64>,
}

impl Plan {
    /// Reads the settings.
    ///
    /// # Errors
    /// The first that is wrong, and what would be right.
    pub(super) fn of(spec: &Spec) -> Result<Self, String> {
        let at_least_1 = |name| number(spec, name, 1, u64::MAX);
        let late_ms = number(spec, "late-ms", 1, LATE_MS_MAX)?;
        let late = match (at_least_1("late")?, late_ms) {
            (Some(every), Some(ms)) => Some((every, ms * NS_PER_MS)),
            (None, None) => None,
            (Some(every), None) => {
                return Err(format!(
                    "late={every} and no late-ms=: say by how much, late={every},late-ms=50"
                ));
            }
            (None, Some(ms)) => {
                return Err(format!("late-ms={ms} and no late=: say which, late=7,late-ms={ms}"));
            }
        };
        let (wrong, seed) = (at_least_1("wrong")?, number(spec, "seed", 0, u64::MAX)?);
        if let (None, Some(seed)) = (wrong, seed) {
            return Err(format!("seed={seed} and no wrong=: it decides which bit wrong= flips"));
        }
        let (fail, hang) = (at_least_1("fail")?, at_least_1("hang")?);
        let (die, full) = (at_least_1("die")?, at_least_1("full")?);
        Ok(Self { fail, wrong, seed: seed.unwrap_or_default(), late, hang, die, full })
    }

    /// The fate of a batch by its number, from 1.
    pub(super) fn fate(&self, batch: u64) -> Fate {
        let flips = hits(self.wrong, batch).then(|| mixed(self.seed ^ mixed(batch)));
        let late = self.late.filter(|(every, _)| batch.is_multiple_of(*every));
        Fate { fails: hits(self.fail, batch), flips, late_ns: late.map(|(_, ns)| ns) }
    }
}

/// Whether each so many-th is this one.
pub(super) fn hits(every: Option<u64>, number: u64) -> bool {
    every.is_some_and(|every| number.is_multiple_of(every))
}

fn number(spec: &Spec, name: &str, min: u64, max: u64) -> Result<Option<u64>, String> {
    let Some(text) = spec.setting(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(Some(number)),
        _ => Err(format!("{name}={text}: give a whole number from {min} to {max}")),
    }
}

/// SplitMix64's finish: neighbouring numbers give numbers that have nothing to do with each other.
fn mixed(number: u64) -> u64 {
    let word = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// All there are.
pub(super) const SETTINGS: [&str; 8] =
    ["fail", "wrong", "seed", "late", "late-ms", "hang", "die", "full"];

const NS_PER_MS: u64 = 1_000_000;
/// An hour: nobody waits longer for a test.
const LATE_MS_MAX: u64 = 3_600_000;
