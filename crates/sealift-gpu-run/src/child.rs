//! A part in a process of its own.

use crate::part::Part;
use crate::vectors::Vectors;
use std::env;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Works a part, and ends it when it goes on for much longer than it may.
///
/// # Errors
/// How it ended, when not well.
pub(crate) fn work(part: &Part, vectors: Records<'_>) -> Result<(), String> {
    let program = env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(part.words());
    if let Records::At(vectors) = vectors {
        command.env("SEALIFT_VECTORS", vectors.folder());
    }
    if vectors != Records::WhereFound {
        command.env("SEALIFT_REQUIRE", "vectors");
    }
    let mut child = command.spawn().map_err(|error| format!("it did not start: {error}"))?;
    match wait(&mut child, part.time + GRACE)? {
        Some(status) if status.success() => Ok(()),
        Some(status) if status.code() == Some(1) => Err("it failed, see above".to_owned()),
        Some(status) => Err(format!("it crashed: {status}")),
        None => {
            Err(format!("it did not end in its {:.0} s and was stopped", part.time.as_secs_f64()))
        }
    }
}

/// Where the suite finds NIST's records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Records<'v> {
    /// They came with the program.
    At(&'v Vectors),
    /// Where they are on this machine, and there they have to be.
    Required,
    /// Where they are, if they are: for what plays a GPU.
    WhereFound,
}

/// How it ended; nothing when it had to be stopped.
fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>, String> {
    let began = Instant::now();
    let lost = |error: std::io::Error| format!("it is lost: {error}");
    while began.elapsed() < patience {
        if let Some(status) = child.try_wait().map_err(lost)? {
            return Ok(Some(status));
        }
        thread::sleep(BETWEEN);
    }
    child.kill().and_then(|()| child.wait()).map_err(lost)?;
    Ok(None)
}

/// A check or a sample that was begun ends in this time.
const GRACE: Duration = Duration::from_secs(10);
const BETWEEN: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_stopped() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(50)).unwrap(), None);
        let mut child = Command::new("false").spawn().unwrap();
        let status = wait(&mut child, Duration::from_secs(1_000)).unwrap().unwrap();
        assert_eq!(status.code(), Some(1));
    }
}
