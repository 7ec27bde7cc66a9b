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
use sealift_conformance::check_environment;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

/// Does what was asked for. Talk goes to stderr, the folder's name to stdout.
pub(crate) fn run(options: &Options) -> ExitCode {
    let began = Instant::now();
    let is_checked = options.steps.contains(&Step::Conformance);
    let environment = if is_checked { check_environment() } else { Ok(()) };
    let devices = match environment.and_then(|()| device::look(&options.devices)) {
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
    let order = order(&options.steps, &chosen);
    if order.is_empty() {
        return said(NOTHING_TO_DO, NOTHING_RAN);
    }
    let begun = match begin(options, &devices, &chosen) {
        Ok(begun) => begun,
        Err(reason) => return said(&reason, USAGE),
    };
    let (folder, load) = (begun.folder.clone(), begun.machine.load_1min());
    match all(options, &chosen, &order, begun, began) {
        Ok(failures) => {
            closing(&folder, &chosen, load, began);
            ended(&folder, failures, &unmeasured(options, &devices, &order))
        }
        Err(reason) => said(&reason, FAILED),
    }
}

fn found(devices: &[Device]) -> Vec<&Device> {
    devices.iter().filter(|device| device.found.is_ok()).collect()
}

/// Each step on each device, but what a device has nothing of by its nature, which is told.
fn order<'d>(steps: &[Step], chosen: &[&'d Device]) -> Vec<(Step, &'d Device)> {
    let all = steps.iter().flat_map(|step| chosen.iter().map(|device| (*step, *device)));
    let is_there = |(step, device): &(Step, &Device)| {
        let left_out = step.left_out(device);
        if let Some(why) = left_out {
            eprintln!("{} on {}: {why}; left out", step.title(), device.spec);
        }
        left_out.is_none()
    };
    all.filter(is_there).collect()
}

/// Devices that were asked for by name and of which nothing was done.
fn unmeasured(options: &Options, devices: &[Device], order: &[(Step, &Device)]) -> Vec<String> {
    let nothing = |device: &Device| {
        let why = match &device.found {
            Err(reason) => reason,
            Ok(_) if order.iter().any(|(_, of)| of.spec == device.spec) => return None,
            Ok(_) => "none of these steps is for it",
        };
        Some(format!("{} ({why})", device.spec))
    };
    if options.devices.is_empty() { vec![] } else { devices.iter().filter_map(nothing).collect() }
}

/// A run whose plan is written.
struct Begun {
    folder: Folder,
    machine: Machine,
    nvml: Result<Nvml, String>,
}

fn begin(options: &Options, devices: &[Device], chosen: &[&Device]) -> Result<Begun, String> {
    let now = date(SystemTime::now());
    let place = || PathBuf::from(format!("sealift-gpu-{}", now.replace(':', "")));
    let folder = Folder::create(&options.out.clone().unwrap_or_else(place))?;
    let nvml = Nvml::open();
    let machine = Machine {
        facts: machine::facts(&nvml),
        devices: devices.iter().map(Device::as_json).collect(),
        sensors: sensors::look(&nvml),
    };
    // The plan comes last: with it the folder is that of a run.
    folder.write(folder::MACHINE, &machine.as_json())?;
    folder.write(folder::PLAN, &plan::plan(options, chosen, &now))?;
    Ok(Begun { folder, machine, nvml })
}

/// What failed.
fn all(
    options: &Options,
    chosen: &[&Device],
    order: &[(Step, &Device)],
    begun: Begun,
    began: Instant,
) -> Result<Vec<String>, String> {
    let Begun { folder, mut machine, nvml } = begun;
    let sensors = Sensors::begin(nvml, &folder);
    let mut failures = parts(options, order, &folder, began)?;
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
    Ok(failures)
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
    order: &[(Step, &Device)],
    folder: &Folder,
    began: Instant,
) -> Result<Vec<String>, String> {
    let vectors = Vectors::unpack(folder.path())?;
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

    fn load_1min(&self) -> f64 {
        self.facts["load_1min"]["value"].as_f64().unwrap_or(0.0)
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

/// What the lines above are worth, and what makes more of them.
fn closing(folder: &Folder, chosen: &[&Device], load: f64, began: Instant) {
    eprintln!();
    for line in chosen.iter().filter_map(|device| device.no_gpu()).chain(busy(load)) {
        eprintln!("{line}");
    }
    eprintln!(
        "Done in {:.0} s. The lines above are medians, disturbed samples among them; intervals and verdicts are on its page. \
         Make that where Sealift is: sealift lab report {}",
        began.elapsed().as_secs_f64(),
        folder.path().display()
    );
}

fn busy(load: f64) -> Option<String> {
    (load >= BUSY_LOAD).then(|| {
        format!(
            "The machine was busy before this began (load {load:.1}): measure again when it is idle"
        )
    })
}

fn ended(folder: &Folder, failures: Vec<String>, unmeasured: &[String]) -> ExitCode {
    println!("{}", folder.path().display());
    let mut wrong = failures;
    for device in unmeasured {
        let note = format!("not measured: {device}");
        if let Err(error) = folder.note(&note) {
            wrong.push(error);
        }
        wrong.push(note);
    }
    if wrong.is_empty() {
        return ExitCode::SUCCESS;
    }
    said(&wrong.join("; "), FAILED)
}

fn said(reason: &str, status: u8) -> ExitCode {
    eprintln!("sealift-gpu: {reason}");
    ExitCode::from(status)
}

const NO_GPU: &str = "there is no GPU to measure; install its driver, or name a device that is for tests only, as in \
     --device opencl:0";
const NOTHING_TO_DO: &str = "nothing is left to be measured; name other steps or devices";
/// A core had no time for anything else.
const BUSY_LOAD: f64 = 1.0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOTHING_RAN: u8 = 3;
/// So that what is there can at least begin.
const LEAST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_whose_cores_have_work_already_is_called_busy() {
        assert_eq!(busy(0.9), None);
        assert!(busy(3.04).is_some_and(|said| said.contains("(load 3.0)")));
    }
}
