//! One case: the messages, who takes part, and how long.

use crate::cipher::Assignment;
use crate::measure::{Time, blocks};
use crate::messages::{PreparedMessages, Truth};
use crate::options::Options;
use crate::report::{Failure, Report};
use crate::roster::{ArmConfig, Unfit};
use sealift_probes::{Arm, ArmSpec, Columns};

/// What is measured.
pub struct Case {
    arms: Vec<ArmConfig>,
    spec: ArmSpec,
    time: Time,
}

impl Case {
    /// Checks what was asked for.
    ///
    /// # Errors
    /// The first thing that isn't right.
    pub fn new(options: &Options, columns: Columns) -> Result<Self, String> {
        let spec = options.spec(columns);
        spec.check().map_err(|error| error.to_string())?;
        let arm = |name: &String| ArmConfig::parse(name, spec.batch);
        let arms = options.arms.iter().map(arm).collect::<Result<_, _>>()?;
        let (seconds, sample_seconds) = (options.seconds, options.sample_ms / 1e3);
        Ok(Self { arms, spec, time: Time { seconds, sample_seconds, seed: options.seed } })
    }

    /// Prepares and checks every arm, and takes samples of those that are here.
    ///
    /// # Errors
    /// An arm failed or gave something wrong; a line couldn't be written.
    pub fn measure(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        let messages = PreparedMessages::all(&self.spec, &Truth::open()?)?;
        let (keys, _) = self.spec.installed();
        let work = Assignment { messages: &messages, keys: &keys, threads: 1 };
        let benches = self.arms.iter().map(|arm| arm.benches(&work));
        let mut benches = benches.collect::<Result<Vec<_>, _>>()?;
        let mut arms: Vec<Box<dyn Arm + '_>> = vec![];
        for (config, benches) in self.arms.iter().zip(&mut benches) {
            match config.arm(&self.spec, &work, benches) {
                Ok(arm) => {
                    report.arm(config, &*arm)?;
                    arms.push(arm);
                }
                Err(Unfit::Absent(reason)) => report.absent(&config.name, &reason)?,
                Err(Unfit::Failed(error)) => return Err(error.into()),
            }
        }
        blocks(&mut arms, self.time, report)
    }
}
