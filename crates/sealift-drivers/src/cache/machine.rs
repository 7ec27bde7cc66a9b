//! Which machine this is.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::thread;

/// What tells machines apart that share a home folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) processor: String,
    pub(super) cores: usize,
}

impl Machine {
    pub(super) fn this() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { processor: processor().unwrap_or_else(|| env::consts::ARCH.to_owned()), cores }
    }
}

/// As the processor names itself.
fn processor() -> Option<String> {
    // The kernel writes this file as it is read, core by core: the first one will do.
    let lines = BufReader::new(File::open("/proc/cpuinfo").ok()?).lines().take(CPUINFO_LINES_MAX);
    let lines = lines.map_while(Result::ok);
    let names = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "model name").then(|| value.trim().replace(char::is_control, " "))
    });
    names.filter(|name| !name.is_empty()).take(1).last()
}

/// The name stands in one of the first lines.
const CPUINFO_LINES_MAX: usize = 64;
