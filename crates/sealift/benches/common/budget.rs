use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// What a benchmark is called with: `[FILE.csv] [--budget SECONDS] [WORDS]`.
pub(crate) struct Arguments {
    pub(crate) file: Option<String>,
    pub(crate) budget: Duration,
    pub(crate) words: Vec<String>,
}

impl Arguments {
    /// None where cargo only wants to see that the benchmark starts.
    pub(crate) fn read(budget: Duration) -> Option<Self> {
        let mut read = Self { file: None, budget, words: vec![] };
        let mut arguments = std::env::args().skip(1).filter(|one| one != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--test" => return None,
                "--budget" => {
                    let seconds = arguments.next().and_then(|seconds| seconds.parse().ok());
                    let seconds = seconds.expect("--budget takes a whole number of seconds");
                    read.budget = Duration::from_secs(seconds);
                }
                name if name.ends_with(".csv") => read.file = Some(argument),
                _ => read.words.push(argument),
            }
        }
        Some(read)
    }
}

/// Gives each cell an equal share of the time that is left, and shows on a terminal how much that is.
pub(crate) struct Clock {
    end: Instant,
    cells: usize,
}

impl Clock {
    pub(crate) fn new(budget: Duration, cells: usize) -> Self {
        Self { end: Instant::now() + budget, cells }
    }

    /// When the next cell has to be done.
    pub(crate) fn next_end(&mut self) -> Instant {
        let now = Instant::now();
        let left = self.end.saturating_duration_since(now);
        if io::stderr().is_terminal() {
            eprint!("\r{} cells left, about {} s   ", self.cells, left.as_secs());
        }
        let cells = u32::try_from(self.cells).unwrap_or(u32::MAX).max(1);
        self.cells = self.cells.saturating_sub(1);
        now + left / cells
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        if io::stderr().is_terminal() {
            eprint!("\r{:40}\r", "");
        }
    }
}
