//! All of it: a part after the other, with what time there is.

use crate::child::{self, Records};
use crate::clock::date;
use crate::conformance::Tally;
use crate::device::{self, Device};
use crate::folder::{self, Folder};
use crate::machine::{self, Facts, fact};
use crate::measure;
use crate::nvml::Nvml;
use crate::options::Options;
use crate::part::{Part, Step};
use crate::plan;
use crate::sensors::{self, Sensors};
use crate::vectors::Vectors;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

/// Does what was asked for. Talk goes to stderr, the folder's name to stdout.
pub(crate) fn run(options: &Options) -> ExitCode {
    let began = Instant::now();
    let devices = match device::look(&options.devices) {
        Ok(devices) => devices,
        Err(reason) => return said(&reason, USAGE),
    };
    for device in &devices {
        eprintln!("{}", device.told());
    }
    let chosen = if options.devices.is_empty() {
        device::each_gpu_once(&devices, Device::name)
    } else {
        found(&devices)
    };
    if chosen.is_empty() {
        return said(NO_GPU, NOTHING_RAN);
    }
    match all(options, &devices, &chosen, began) {
        Ok((folder, failures)) => ended(&folder, &failures, began),
        Err(reason) => said(&reason, FAILED),
    }
}

fn found(devices: &[Device]) -> Vec<&Device> {
    devices.iter().filter(|device| device.found.is_ok()).collect()
}

fn all(
    options: &Options,
    devices: &[Device],
    chosen: &[&Device],
    began: Instant,
) -> Result<(Folder, Vec<String>), String> {
    let now = date(SystemTime::now());
    let place = || PathBuf::from(format!("sealift-gpu-{}", now.replace(':', "")));
    let folder = Folder::create(&options.out.clone().unwrap_or_else(place))?;
    let nvml = Nvml::open();
    let mut machine = Machine {
        facts: machine::facts(&nvml),
        devices: devices.iter().map(Device::as_json).collect(),
        sensors: sensors::look(&nvml),
    };
    // The plan comes last: with it the folder is that of a run.
    folder.write(folder::MACHINE, &machine.as_json())?;
    folder.write(folder::PLAN, &plan::plan(options, chosen, &now))?;
    let sensors = Sensors::begin(nvml, &folder);
    let mut failures = parts(options, chosen, &folder, began)?;
    drop(sensors);
    let mut unreached = 0;
    if options.steps.contains(&Step::Conformance) {
        let tallies = tallies(&folder, chosen)?;
        failures.extend(tallies.iter().filter_map(Tally::nothing_passed));
        unreached = tallies.iter().map(Tally::unreached).sum();
        machine.facts.extend(conformance(&folder, &tallies)?);
    }
    folder.write(folder::MACHINE, &machine.as_json())?;
    folder.write(folder::ENDING, &ending(&folder, options, &failures, unreached)?)?;
    Ok((folder, failures))
}

/// How the run ended, as the lab calls it, and why so.
fn ending(
    folder: &Folder,
    options: &Options,
    failures: &[String],
    unreached: usize,
) -> Result<Value, String> {
    let (missing, all) = measure::missing(folder)?;
    let budget_s = options.budget.as_secs_f64();
    let (how, why) = match (failures, missing) {
        ([], 0) if unreached == 0 => ("complete", String::new()),
        ([], 0) => {
            let why = format!("{budget_s} s were too short for {unreached} checks of the suite");
            ("time was up", why)
        }
        ([], _) => {
            ("time was up", format!("{budget_s} s were too short for {missing} of {all} blocks"))
        }
        _ => ("a part failed", failures.join("; ")),
    };
    Ok(json!({"ending": how, "reason": why}))
}

/// Works all parts; those that failed. What one does not use of its time, those behind it have.
fn parts(
    options: &Options,
    chosen: &[&Device],
    folder: &Folder,
    began: Instant,
) -> Result<Vec<String>, String> {
    let vectors = Vectors::unpack(folder.path())?;
    let order: Vec<_> = options
        .steps
        .iter()
        .flat_map(|step| chosen.iter().map(|device| (*step, *device)))
        .collect();
    let mut failures = vec![];
    for (done, (step, device)) in order.iter().enumerate() {
        let left = options.budget.saturating_sub(began.elapsed());
        let weights: f64 = order[done..].iter().map(|(step, _)| step.weight()).sum();
        let time = left.mul_f64(step.weight() / weights).max(LEAST);
        eprintln!(
            "\n[{:.0} s, about {:.0} s left] {} on {}, up to {:.0} s",
            began.elapsed().as_secs_f64(),
            left.as_secs_f64(),
            step.title(),
            device.spec,
            time.as_secs_f64(),
        );
        let part = Part {
            step: *step,
            device: device.spec.clone(),
            folder: folder.path().to_owned(),
            time,
            seed: options.seed,
        };
        let records = match &vectors {
            Some(vectors) => Records::At(vectors),
            None if device.is_real() => Records::Required,
            None => Records::WhereFound,
        };
        if let Err(how) = child::work(&part, records) {
            let failure = format!("{} on {}: {how}", step.name(), device.spec);
            folder.note(&failure)?;
            failures.push(failure);
        }
    }
    Ok(failures)
}

/// machine.json.
struct Machine {
    facts: Facts,
    devices: Vec<Value>,
    sensors: Facts,
}

impl Machine {
    fn as_json(&self) -> Value {
        json!({"facts": self.facts, "devices": self.devices, "sensors": self.sensors})
    }
}

/// What the suite did on each device, as facts. Checks that were not reached are noted, too: no device failed them, and none
/// passed them.
fn conformance(folder: &Folder, tallies: &[Tally]) -> Result<Facts, String> {
    let mut facts = Facts::new();
    for tally in tallies {
        if tally.unreached() > 0 {
            let note = format!("conformance on {}: {tally}", tally.way);
            eprintln!("\n{note}; a longer --budget reaches more");
            folder.note(&note)?;
        }
        let simple = |c: char| if c.is_alphanumeric() { c } else { '_' };
        let name: String = tally.way.chars().map(simple).collect();
        facts.insert(format!("conformance_of_{name}"), fact(Ok(tally.to_string())));
    }
    Ok(facts)
}

fn tallies(folder: &Folder, chosen: &[&Device]) -> Result<Vec<Tally>, String> {
    let all: Result<Vec<_>, _> = chosen.iter().map(|device| Tally::of(folder, device)).collect();
    Ok(all?.into_iter().flatten().collect())
}

fn ended(folder: &Folder, failures: &[String], began: Instant) -> ExitCode {
    let path = folder.path().display();
    eprintln!(
        "\nDone in {:.0} s. Make its page, where Sealift is: sealift lab report {path}",
        began.elapsed().as_secs_f64()
    );
    println!("{path}");
    if failures.is_empty() {
        return ExitCode::SUCCESS;
    }
    said(&format!("{} failed: {}", failures.len(), failures.join("; ")), FAILED)
}

fn said(reason: &str, status: u8) -> ExitCode {
    eprintln!("sealift-gpu: {reason}");
    ExitCode::from(status)
}

const NO_GPU: &str = "there is no GPU to measure; install its driver, or name a device that is for tests only, as in \
     --device opencl:0";
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOTHING_RAN: u8 = 3;
/// So that what is there can at least begin.
const LEAST: Duration = Duration::from_secs(1);
