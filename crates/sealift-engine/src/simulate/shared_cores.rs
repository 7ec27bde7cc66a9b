use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Cores that several machines work on. A job that starts while one of the others is busy takes twice as long, beside two of
/// them three times.
#[derive(Debug, Default)]
pub struct SharedCores {
    /// Until when each machine is busy, by its name.
    busy_until_ns: Mutex<HashMap<String, u64>>,
}

impl SharedCores {
    /// How many times as long a job of this machine takes that starts then.
    pub(super) fn slowed(&self, machine: &str, start_ns: u64) -> f64 {
        let busy = self.busy_until_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let others = busy.iter().filter(|(other, _)| *other != machine);
        1.0 + others.filter(|(_, until_ns)| **until_ns > start_ns).count() as f64
    }

    pub(super) fn occupy(&self, machine: &str, until_ns: u64) {
        let mut busy = self.busy_until_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let until = busy.entry(machine.to_owned()).or_default();
        *until = until_ns.max(*until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_slowed_by_the_others_while_they_are_busy() {
        let cores = SharedCores::default();
        cores.occupy("one", 100);
        cores.occupy("two", 50);
        let slowed = |machine| [10, 50, 100].map(|start_ns| cores.slowed(machine, start_ns));
        assert_eq!(slowed("one"), [2.0, 1.0, 1.0]);
        assert_eq!(slowed("two"), [2.0, 2.0, 1.0]);
        assert_eq!(slowed("three"), [3.0, 2.0, 1.0]);
    }
}
