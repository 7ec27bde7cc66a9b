//! Which cores this process keeps to.

use rustix::thread::{CpuSet, sched_setaffinity};

/// Keeps the calling thread, and those it starts, to some cores; to those it has when there are none.
///
/// # Errors
/// The system refused.
pub fn keep(cores: &[usize]) -> Result<(), String> {
    if cores.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for core in cores {
        if *core >= CpuSet::MAX_CPU {
            return Err(format!("--cores {core}: right would be under {}", CpuSet::MAX_CPU));
        }
        set.set(*core);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| format!("--cores {cores:?}: {error}; name cores that this machine has"))
}
