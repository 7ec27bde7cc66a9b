//! The command `peers`: measures Sealift's kernels beside other libraries.

use sealift_peers::options::{self, Command, HELP, Options};
use sealift_peers::report::{Failure, Report};
use sealift_peers::{case, cores};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut out = io::stdout().lock();
    let ended = match options::read(std::env::args().skip(1)) {
        Err(reason) => return usage(&reason),
        Ok(Command::Help) => out.write_all(HELP.as_bytes()).map_err(Failure::from),
        Ok(Command::List) => Report::to(&mut out).peers(),
        Ok(Command::Measure(options)) => match ready(&options) {
            Err(reason) => return usage(&reason),
            Ok(case) => case.measure(&mut Report::to(&mut out)),
        },
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("peers: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the messages and keeps to the cores.
fn ready(options: &Options) -> Result<case::Case, String> {
    let text = io::read_to_string(io::stdin()).map_err(|error| format!("no messages: {error}"))?;
    let case = case::Case::new(options, options::messages(&text)?)?;
    cores::keep(&options.cores)?;
    Ok(case)
}

fn usage(reason: &str) -> ExitCode {
    eprintln!("peers: {reason}; peers --help says more");
    ExitCode::from(2)
}
