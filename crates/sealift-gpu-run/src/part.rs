//! A step on a device: what one process is started for.

use crate::device::Device;
use crate::folder::Folder;
use crate::measure::{Measuring, measured};
use crate::plan::Experiment;
use crate::{conformance, copies, cores, gcm, grids, host, rates};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What is done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The suite for devices.
    Conformance,
    /// What the units of a multiprocessor do.
    Rates,
    /// Copies to the device and back.
    Copies,
    /// AES-GCM in the device's memory.
    Messages,
    /// AES-GCM from the host's memory and back.
    Host,
    /// Cores of this machine beside the device.
    Cores,
    /// Document 003's grids and data types.
    Grids,
}

impl Step {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Conformance,
        Self::Rates,
        Self::Copies,
        Self::Messages,
        Self::Host,
        Self::Cores,
        Self::Grids,
    ];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::Rates => "rates",
            Self::Copies => "copies",
            Self::Messages => "messages",
            Self::Host => "host",
            Self::Cores => "cores",
            Self::Grids => "grids",
        }
    }

    /// What it is, for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Conformance => "The suite for devices",
            Self::Rates => "Rates of instructions",
            Self::Copies => "Copies",
            Self::Messages => "AES-GCM in the device's memory",
            Self::Host => "AES-GCM from host memory and back",
            Self::Cores => "CPU cores beside the device",
            Self::Grids => "Document 003's grids",
        }
    }

    /// Its share of the time, beside those of others.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Conformance => 0.4,
            Self::Rates => 0.05,
            Self::Copies | Self::Host => 0.1,
            Self::Messages | Self::Cores => 0.15,
            Self::Grids => 0.2,
        }
    }

    /// What it measures of a device.
    pub(crate) fn experiments(self, device: &Device) -> Vec<Experiment> {
        match self {
            Self::Conformance => vec![],
            _ if self.left_out(device).is_some() => vec![],
            Self::Rates => vec![rates::experiment(device)],
            Self::Copies => vec![copies::experiment(device)],
            Self::Messages => vec![gcm::experiment(device)],
            Self::Host => vec![host::experiment(device)],
            Self::Cores => cores::experiments(device),
            Self::Grids => grids::experiments(device),
        }
    }

    /// Why a device has nothing of it by its nature, where that is so.
    pub(crate) fn left_out(self, device: &Device) -> Option<&'static str> {
        (self == Self::Rates && !device.is_cuda()).then_some(OF_NVIDIA)
    }

    /// The step of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|step| step.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name} is no step; there are {names}")
        })
    }
}

/// A step on a device.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    /// What is done.
    pub(crate) step: Step,
    /// The spec that opens the device.
    pub(crate) device: String,
    /// Where results go.
    pub(crate) folder: PathBuf,
    /// How long it may take.
    pub(crate) time: Duration,
    /// Of everything that is drawn.
    pub(crate) seed: u64,
}

impl Part {
    /// What the process that works it is started with.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let (seconds, seed) = (self.time.as_secs_f64().to_string(), self.seed.to_string());
        let words = [
            "--part",
            self.step.name(),
            "--device",
            &self.device,
            "--budget",
            &seconds,
            "--seed",
            &seed,
        ];
        let out = ["--out".into(), self.folder.clone().into_os_string()];
        words.into_iter().map(OsString::from).chain(out).collect()
    }
}

/// Works a part, and notes what failed.
pub(crate) fn work(part: &Part) -> ExitCode {
    let folder = Folder::of(&part.folder);
    let failures = failures(part, &folder).unwrap_or_else(|failure| vec![failure]);
    for failure in &failures {
        eprintln!("  {failure}");
        let note = format!("{} on {}: {failure}", part.step.name(), part.device);
        if let Err(error) = folder.note(&note) {
            eprintln!("{error}");
        }
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn failures(part: &Part, folder: &Folder) -> Result<Vec<String>, String> {
    let until = Instant::now() + part.time;
    let device = Device::look(&part.device)?;
    let measuring = Measuring { folder, until, seed: part.seed, untimed: device.untimed() };
    let mut failures = match part.step {
        Step::Conformance => conformance::work(&device, folder, until),
        Step::Rates => rates::work(&device, &measuring),
        Step::Copies => copies::work(&device, &measuring),
        Step::Messages => gcm::work(&device, &measuring),
        Step::Host => host::work(&device, &measuring),
        Step::Cores => cores::work(&device, &measuring),
        Step::Grids => grids::work(&device, &measuring),
    }?;
    let names: Vec<_> = part.step.experiments(&device).iter().map(|each| each.name).collect();
    let is_timed = !names.is_empty() && device.untimed().is_none();
    if is_timed && is_empty(folder, &names, &device.label())? {
        failures.push(NOTHING.to_owned());
    }
    Ok(failures)
}

/// Whether a folder has no sample of some experiments, of which each reason alone may be no fault.
fn is_empty(folder: &Folder, names: &[&str], device: &str) -> Result<bool, String> {
    for name in names {
        if !measured(folder, name, device)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

const OF_NVIDIA: &str = "these are instructions of NVIDIA's GPUs, opened as cuda";
const NOTHING: &str = "nothing at all could be measured, for the reasons above";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{PLAN, SAMPLES};
    use serde_json::json;
    use std::{env, fs, process};

    #[test]
    fn a_part_is_empty_as_long_as_none_of_its_experiments_has_a_sample_of_the_device() {
        let path = env::temp_dir().join(format!("sealift-gpu-part-{}", process::id()));
        let folder = Folder::create(&path).unwrap();
        let planned = |name: &str| json!({"name": name, "groups": [[{"device": "cuda"}]]});
        let plan = json!({"experiments": [planned("one"), planned("other"), planned("third")]});
        folder.write(PLAN, &plan).unwrap();
        let sample = |name: &str| json!({"experiment": name, "group": 0, "arm": 0, "ns": 1, "operations": 1, "bytes": 1});
        folder.add(SAMPLES, &[sample("third")]).unwrap();
        assert!(is_empty(&folder, &["one", "other"], "cuda").unwrap());
        folder.add(SAMPLES, &[sample("other")]).unwrap();
        assert!(!is_empty(&folder, &["one", "other"], "cuda").unwrap());
        assert!(is_empty(&folder, &["one", "other"], "opencl").unwrap());
        fs::remove_dir_all(path).unwrap();
    }
}
