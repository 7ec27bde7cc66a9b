//! Which cores measuring threads keep to.

use crate::ArmError;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::HashMap;
use std::fs;

/// The cores of an arm, one for each thread; none where its threads run anywhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores(Vec<usize>);

impl Cores {
    /// One core for each thread out of those this process may use. None when there are too few, or
    /// when the system lets no thread be kept to one.
    ///
    /// A second thread of a physical core comes after all first ones.
    pub(crate) fn of(threads: usize) -> Self {
        let Ok(allowed) = sched_getaffinity(None) else { return Self::default() };
        let usable: Vec<_> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        let mut cores = firsts_first(&usable, physical_core);
        if cores.len() < threads {
            return Self::default();
        }
        cores.truncate(threads);
        let cores = Self(cores);
        if cores.keep(0).is_ok() { cores } else { Self::default() }
    }

    /// This one, for a thread that was told which; none for any.
    pub(crate) fn one(core: Option<usize>) -> Self {
        Self(core.into_iter().collect())
    }

    /// Their numbers, in the order of the threads.
    pub(crate) fn numbers(&self) -> &[usize] {
        &self.0
    }

    /// Keeps the calling thread to the core of a thread of the arm until the guard is dropped.
    pub(crate) fn keep(&self, thread: usize) -> Result<Kept, ArmError> {
        let Some(&core) = self.0.get(thread) else { return Ok(Kept(None)) };
        let fail = |error: rustix::io::Errno| ArmError::Core { core, reason: error.to_string() };
        let before = sched_getaffinity(None).map_err(fail)?;
        let mut own = CpuSet::new();
        own.set(core);
        sched_setaffinity(None, &own).map_err(fail)?;
        Ok(Kept(Some(before)))
    }
}

/// A thread that is kept to a core; dropping it gives the thread back what it had before.
pub(crate) struct Kept(Option<CpuSet>);

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The mask was this thread's own, so only a change from outside can make it wrong now; then
            // the outside has the say.
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// The same cores, those first that are the first of their physical core.
fn firsts_first(cores: &[usize], physical_core: impl Fn(usize) -> String) -> Vec<usize> {
    let mut met: HashMap<String, usize> = HashMap::new();
    let turn = |core: &usize| {
        let before = met.entry(physical_core(*core)).or_default();
        *before += 1;
        (*before, *core)
    };
    let mut ranked: Vec<_> = cores.iter().map(turn).collect();
    ranked.sort_by_key(|(turn, _)| *turn);
    ranked.into_iter().map(|(_, core)| core).collect()
}

/// A name that the hardware threads of a physical core have in common.
fn physical_core(core: usize) -> String {
    let siblings = format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list");
    fs::read_to_string(siblings).unwrap_or_else(|_| core.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usable() -> Vec<usize> {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect()
    }

    #[test]
    fn physical_cores_come_before_their_second_threads() {
        let neighbours = |core: usize| (core / 2).to_string();
        assert_eq!(firsts_first(&[0, 1, 2, 3, 5], neighbours), [0, 2, 5, 1, 3]);
        assert_eq!(firsts_first(&[0, 1, 2, 3], |core| (core % 2).to_string()), [0, 1, 2, 3]);
    }

    #[test]
    fn a_thread_keeps_to_its_core_until_the_guard_is_dropped() {
        let before = usable();
        let cores = Cores::of(1);
        assert_eq!(cores.numbers().len(), 1);
        let kept = cores.keep(0).unwrap();
        assert_eq!(usable(), cores.numbers());
        drop(kept);
        assert_eq!(usable(), before);
    }

    #[test]
    fn more_threads_than_cores_run_anywhere() {
        let before = usable();
        let cores = Cores::of(before.len() + 1);
        assert!(cores.numbers().is_empty());
        let _kept = cores.keep(0).unwrap();
        assert_eq!(usable(), before);
    }
}
