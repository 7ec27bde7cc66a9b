//! How many workers a device has and which cores they keep to.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use sealift_core::{OpenError, Spec};
use std::ops::RangeInclusive;
use std::thread::available_parallelism;

/// The workers of a device, from its settings `workers=` and `cores=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crew {
    /// How many there are.
    pub(super) workers: usize,
    /// The cores they keep to in turn; none lets them run anywhere.
    pub(super) cores: Vec<usize>,
}

impl Crew {
    /// Reads `workers=4` and `cores=0-3` or `cores=0-1+4`.
    ///
    /// Without `workers`, one for each core that is named; without both, as many as this process's
    /// affinity mask and control group let run at a time.
    ///
    /// # Errors
    /// A number or a list that is none, and a core this process may not use.
    pub fn of(spec: &Spec) -> Result<Self, OpenError> {
        let fail = |reason| OpenError::Setting { device: spec.to_string(), reason };
        let cores = spec.setting("cores").map_or(Ok(vec![]), cores).map_err(fail)?;
        let workers = match spec.setting("workers") {
            Some(number) => workers(number).map_err(fail)?,
            None if cores.is_empty() => available_parallelism().map_or(1, Into::into),
            None => cores.len(),
        };
        Ok(Self { workers: workers.min(WORKERS_MAX), cores })
    }

    /// One worker, which may run anywhere.
    #[must_use]
    pub fn single() -> Self {
        Self::of_size(1)
    }

    /// So many workers, which may run anywhere.
    #[must_use]
    pub fn of_size(workers: usize) -> Self {
        Self { workers, cores: vec![] }
    }

    /// Keeps the calling thread, which is that worker, to its core if cores were named.
    ///
    /// # Errors
    /// The system refuses: why, for people.
    pub(super) fn pin(&self, worker: usize) -> Result<(), String> {
        if self.cores.is_empty() {
            return Ok(());
        }
        let core = self.cores[worker % self.cores.len()];
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(None, &set)
            .map_err(|error| format!("worker {worker} can't be kept to core {core}: {error}"))
    }
}

fn workers(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| (1..=WORKERS_MAX).contains(number)).ok_or_else(|| {
        format!("workers={text} is no number of workers: give one from 1 to {WORKERS_MAX}")
    })
}

fn cores(list: &str) -> Result<Vec<usize>, String> {
    let allowed = sched_getaffinity(None)
        .map_err(|error| format!("cores={list}: the system does not tell its cores: {error}"))?;
    let may_use = |core: usize| core < CpuSet::MAX_CPU && allowed.is_set(core);
    let mut cores = vec![];
    for part in list.split('+') {
        let range = range(part).ok_or_else(|| {
            format!("cores={list} is no list of cores: write 0-3, or 0-1+4 for 0, 1 and 4")
        })?;
        for core in range {
            if !may_use(core) {
                let usable = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core));
                let usable: Vec<_> = usable.map(|core| core.to_string()).collect();
                let usable = usable.join("+");
                return Err(format!("cores={list}: this process may use {usable}, not {core}"));
            }
            if cores.contains(&core) {
                return Err(format!("cores={list} names core {core} twice"));
            }
            cores.push(core);
        }
    }
    Ok(cores)
}

fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(first..=last)
}

/// More than any machine has cores; guards against a slip of the pen.
const WORKERS_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn crew(spec: &str) -> Result<Crew, OpenError> {
        Crew::of(&spec.parse().unwrap())
    }

    fn usable() -> Vec<usize> {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect()
    }

    #[test]
    fn without_settings_there_are_as_many_workers_as_may_run() {
        let expected = available_parallelism().unwrap().get();
        assert_eq!(crew("cpu").unwrap(), Crew { workers: expected, cores: vec![] });
    }

    #[test]
    fn a_list_of_cores_gives_one_worker_each_unless_told_otherwise() {
        let first = usable()[0];
        let one = Crew { workers: 1, cores: vec![first] };
        assert_eq!(crew(&format!("cpu:cores={first}")).unwrap(), one);
        assert_eq!(crew(&format!("cpu:cores={first}-{first}")).unwrap(), one);
        let three = Crew { workers: 3, ..one };
        assert_eq!(crew(&format!("cpu:cores={first},workers=3")).unwrap(), three);
    }

    #[test]
    fn lists_are_ranges_joined_by_plus() {
        let read = |text: &str| -> Option<Vec<usize>> {
            let ranges: Option<Vec<_>> = text.split('+').map(range).collect();
            Some(ranges?.into_iter().flatten().collect())
        };
        assert_eq!(read("0-1+4"), Some(vec![0, 1, 4]));
        for wrong in ["", "a", "3-1", "1-", "-", "1++2", "1-2-3"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_setting_is_named_with_what_would_be_right() {
        let error = |spec: &str| crew(spec).unwrap_err().to_string();
        for number in ["0", "-1", "4097", "two"] {
            let error = error(&format!("cpu:workers={number}"));
            assert!(error.contains(&format!("workers={number}")), "{error}");
            assert!(error.contains("1 to 4096"), "{error}");
        }
        assert!(error("cpu:cores=x").contains("write 0-3"));
        assert!(error("cpu:cores=99999").contains("may use"));
        assert!(error("cpu:cores=0-99999").contains("may use"));
        let first = usable()[0];
        assert!(error(&format!("cpu:cores={first}+{first}")).contains("twice"));
    }

    #[test]
    fn a_pinned_worker_runs_on_its_core_only() {
        let core = *usable().last().unwrap();
        let crew = crew(&format!("cpu:cores={core}")).unwrap();
        std::thread::spawn(move || {
            crew.pin(0).unwrap();
            assert_eq!(usable(), [core]);
        })
        .join()
        .unwrap();
    }
}
