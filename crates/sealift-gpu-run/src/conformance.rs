//! The suite for devices, with tables and without.

use crate::device::Device;
use crate::folder::{CONFORMANCE, Folder};
use sealift_conformance::{Candidate, check, checks};
use sealift_drivers::driver;
use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};
use std::time::Instant;

/// Runs every check on a device; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(
    device: &Device,
    folder: &Folder,
    until: Instant,
) -> Result<Vec<String>, String> {
    device.found.clone()?;
    let ways = ways(&device.spec);
    let mut failures = vec![];
    for (done, way) in ways.iter().enumerate() {
        let left = u32::try_from(ways.len() - done).unwrap_or(1);
        let now = Instant::now();
        let share = until.saturating_duration_since(now) / left;
        failures.extend(all_checks(device, way, folder, now + share)?);
    }
    Ok(failures)
}

/// A device as it is named, and without tables.
fn ways(spec: &str) -> Vec<String> {
    if spec.contains("strict=") {
        return vec![spec.to_owned()];
    }
    let between = if spec.contains(':') { ',' } else { ':' };
    vec![spec.to_owned(), format!("{spec}{between}strict=on")]
}

fn all_checks(
    device: &Device,
    way: &str,
    folder: &Folder,
    until: Instant,
) -> Result<Vec<String>, String> {
    let candidate = candidate(device, way)?;
    let (mut failures, names) = (vec![], checks());
    for (done, name) in names.iter().enumerate() {
        let began = Instant::now();
        if began >= until {
            // That is told at the end of the run, and says nothing of the device.
            eprintln!("  {way}: the time was up with {} checks left", names.len() - done);
            break;
        }
        let verdict = check(name, &candidate);
        let seconds = began.elapsed().as_secs_f64();
        let (passed, said) = match verdict {
            Ok(Some(said)) => (true, said),
            Ok(None) => (false, "it is absent".to_owned()),
            Err(fault) => (false, fault),
        };
        eprintln!("  {way}: {}: {said} [{seconds:.1} s]", name.replace('_', " "));
        let line = json!({
            "device": way, "check": name, "passed": passed, "said": said, "seconds": seconds
        });
        folder.add(CONFORMANCE, &[line])?;
        if !passed {
            failures.push(format!("{way}: {}: {said}", name.replace('_', " ")));
        }
    }
    Ok(failures)
}

/// What became of all checks on a device, as it was opened.
#[derive(Debug, PartialEq)]
pub(crate) struct Tally {
    /// The spec that opened it.
    pub(crate) way: String,
    passed: usize,
    failed: usize,
    all: usize,
}

impl Tally {
    /// Those of each way to open a device, by what was noted.
    ///
    /// # Errors
    /// The folder can't be read.
    pub(crate) fn of(folder: &Folder, device: &Device) -> Result<Vec<Self>, String> {
        let lines = folder.lines(CONFORMANCE)?;
        let tally = |way: String| {
            let count = |passed| {
                let is_such = |line: &&Value| line["device"] == *way && line["passed"] == passed;
                lines.iter().filter(is_such).count()
            };
            Self { passed: count(true), failed: count(false), all: checks().len(), way }
        };
        Ok(ways(&device.spec).into_iter().map(tally).collect())
    }

    /// What is to be said of a device of which nothing is known to be right.
    pub(crate) fn nothing_passed(&self) -> Option<String> {
        (self.passed == 0).then(|| format!("conformance on {}: {self}", self.way))
    }

    /// Checks that there was no time for, or that the step ended before.
    pub(crate) fn unreached(&self) -> usize {
        self.all.saturating_sub(self.passed + self.failed)
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} checks passed", self.passed, self.all)?;
        for (count, how) in [(self.failed, "failed"), (self.unreached(), "not reached")] {
            if count > 0 {
                write!(f, ", {count} {how}")?;
            }
        }
        Ok(())
    }
}

/// With as much of the large numbers as there is time for.
fn candidate(device: &Device, way: &str) -> Result<Candidate, String> {
    let driver = driver(way.split(':').next().unwrap_or(way)).map_err(|error| error.to_string())?;
    let candidate = Candidate::new(driver, way);
    Ok(if device.is_real() {
        candidate.scale(REAL_SCALE)
    } else {
        candidate.slow().scale(TEST_SCALE)
    })
}

const REAL_SCALE: f64 = 0.2;
/// A processor takes longer to launch than to work most batches.
const TEST_SCALE: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_were_not_reached_are_told_beside_those_that_passed_and_failed() {
        let tally = |passed, failed| Tally { way: "cuda".to_owned(), passed, failed, all: 9 };
        assert_eq!(tally(9, 0).to_string(), "9 of 9 checks passed");
        assert_eq!(tally(5, 0).to_string(), "5 of 9 checks passed, 4 not reached");
        assert_eq!(tally(5, 1).to_string(), "5 of 9 checks passed, 1 failed, 3 not reached");
        let nothing = tally(0, 0).nothing_passed();
        assert_eq!(
            nothing.as_deref(),
            Some("conformance on cuda: 0 of 9 checks passed, 9 not reached")
        );
        assert_eq!(tally(1, 0).nothing_passed(), None);
    }

    #[test]
    fn each_device_is_checked_with_tables_and_without() {
        assert_eq!(ways("cuda"), ["cuda", "cuda:strict=on"]);
        assert_eq!(ways("opencl:1"), ["opencl:1", "opencl:1,strict=on"]);
        assert_eq!(ways("cuda:1,strict=off"), ["cuda:1,strict=off"]);
    }
}
