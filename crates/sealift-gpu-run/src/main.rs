//! Checks and measures GPUs on a machine that has nothing but their driver, and leaves a folder for the lab's page.
//!
//! The program works each part, a step on a device, in a process of its own: it calls itself. So a part that crashes or
//! hangs is told and ends, and the others go on.

mod arm;
mod child;
mod clock;
mod conformance;
mod copies;
mod cores;
mod device;
mod folder;
mod gcm;
mod grids;
mod host;
mod limits;
mod machine;
mod measure;
mod nvml;
mod options;
mod part;
mod plan;
mod rates;
mod run;
mod sensors;
mod trouble;
mod vectors;

use options::Asked;
use std::process::ExitCode;

fn main() -> ExitCode {
    match options::read(std::env::args().skip(1)) {
        Ok(Asked::Help) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Ok(Asked::Version) => {
            println!("sealift-gpu {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Ok(Asked::Run(options)) => run::run(&options),
        Ok(Asked::Part(part)) => part::work(&part),
        Err(reason) => {
            eprintln!("sealift-gpu: {reason}; sealift-gpu --help says more");
            ExitCode::from(2)
        }
    }
}
