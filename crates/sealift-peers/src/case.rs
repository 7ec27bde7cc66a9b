//! One case: the messages, who takes part, and how long.

use crate::cipher::Assignment;
use crate::lot::{Lot, Truth};
use crate::measure::{Time, blocks};
use crate::options::Options;
use crate::report::{Failure, Report};
use crate::roster::{Contender, Unfit};
use sealift_probes::{Arm, ArmSpec, Columns, Planned};

/// What is measured.
pub struct Case {
    contenders: Vec<Contender>,
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
        let contender = |name: &String| Contender::parse(name, spec.batch);
        let contenders = options.arms.iter().map(contender).collect::<Result<_, _>>()?;
        let (seconds, sample_seconds) = (options.seconds, options.sample_ms / 1e3);
        Ok(Self { contenders, spec, time: Time { seconds, sample_seconds, seed: options.seed } })
    }

    /// Prepares and checks every arm, and takes samples of those that are here.
    ///
    /// # Errors
    /// An arm failed or gave something wrong; a line couldn't be written.
    pub fn measure(&self, report: &mut Report<'_>) -> Result<(), Failure> {
        let (truth, sealing) = (Truth::open()?, sealing(&self.spec));
        let lots = Lot::all(&self.spec, &truth)?;
        let is_sealed = self.contenders.iter().any(|each| each.is_sealing);
        let sealed = if is_sealed { Lot::all(&sealing, &truth)? } else { vec![] };
        let (keys, _) = self.spec.installed();
        let work = Assignment { lots: &lots, keys: &keys, threads: 1 };
        let to_seal = Assignment { lots: &sealed, ..work };
        let of = |each: &Contender| if each.is_sealing { &to_seal } else { &work };
        let benches = self.contenders.iter().map(|each| each.benches(of(each)));
        let mut benches = benches.collect::<Result<Vec<_>, _>>()?;
        let mut arms: Vec<Box<dyn Arm + '_>> = vec![];
        for (contender, benches) in self.contenders.iter().zip(&mut benches) {
            match contender.arm(&self.spec, of(contender), benches) {
                Ok(arm) => {
                    report.arm(contender, &*arm)?;
                    arms.push(arm);
                }
                Err(Unfit::Absent(reason)) => report.absent(&contender.name, &reason)?,
                Err(Unfit::Failed(error)) => return Err(error.into()),
            }
        }
        blocks(&mut arms, self.time, report)
    }
}

/// The same messages, all of them to be sealed.
fn sealing(spec: &ArmSpec) -> ArmSpec {
    let planned = vec![Planned::Seal; spec.columns.len()];
    ArmSpec { columns: Columns { planned, ..spec.columns.clone() }, ..spec.clone() }
}
