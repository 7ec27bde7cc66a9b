//! Which devices are tested: every driver in the list, and every instruction-set path.

use crate::bell::Bell;
use crate::subject::{Check, Effort, Subject};
use sealift_core::{Context, Device, Driver, Probe, SystemClock};
use sealift_drivers::DRIVERS;
use sealift_kernels::Path;
use std::collections::BTreeSet;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Drivers that can't conform, and why.
pub(crate) const EXEMPT: &[(&str, &str)] = &[("null", "it encrypts nothing")];

/// Devices that take hours for the large numbers.
pub(crate) const SLOW: &[&str] = &["cpu:isa=model"];

/// Drivers that are trusted to judge others, the better first. Nobody judges itself.
const ORACLES: [&str; 2] = ["library", "reference"];

/// Runs a check on every device; prints what each did, and fails when one of them did.
pub(crate) fn each(what: &str, check: Check) {
    let mut faults = vec![];
    for spec in specs() {
        let Some(subject) = open(&spec) else { continue };
        let begin = Instant::now();
        let verdict = catch_unwind(AssertUnwindSafe(|| check(&subject)))
            .unwrap_or_else(|_| Err("it panicked, see above".to_owned()));
        let spent = begin.elapsed().as_secs_f64();
        match verdict {
            Ok(summary) => eprintln!("{what}: {spec}: {summary} [{spent:.1} s]"),
            Err(fault) => faults.push(format!("{what}: {spec}: {fault} [seed {}]", subject.seed)),
        }
    }
    assert!(faults.is_empty(), "{} devices failed\n{}", faults.len(), faults.join("\n"));
}

/// The devices that every driver gives, exempt drivers left out.
pub(crate) fn specs() -> Vec<String> {
    let exempt = |driver: &&&dyn Driver| EXEMPT.iter().any(|(name, _)| *name == driver.name());
    DRIVERS.iter().filter(|driver| !exempt(driver)).flat_map(|driver| specs_of(*driver)).collect()
}

/// Opens a device with its oracle, unless its hardware is absent, which is said.
pub(crate) fn open(spec: &str) -> Option<Subject> {
    let bell = Arc::new(Bell::default());
    let device = open_device(spec, &bell)?;
    let driver = device.capabilities().driver;
    let judge = ORACLES.iter().find(|name| **name != driver);
    let oracle = judge.and_then(|name| open_device(name, &Arc::default()));
    let oracle = oracle.expect("library and reference are in every build");
    let effort = if SLOW.contains(&spec) { Effort::Slow } else { Effort::Full };
    Some(Subject { device, bell, oracle, effort, seed: seed(), share: share() })
}

/// Says why something was not tested.
///
/// # Panics
/// When `SEALIFT_REQUIRE` lists it.
pub(crate) fn skip(what: &str, reason: &str) {
    let required = std::env::var("SEALIFT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == what), "{what} is required: {reason}");
    note(&format!("skipped: {what}: {reason}"));
}

/// Prints a line once, past the test harness, which keeps what passing tests print to itself.
fn note(line: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(line.to_owned()) {
        let written = writeln!(std::io::stderr(), "{line}");
        assert!(written.is_ok(), "standard error is closed: {written:?}");
    }
}

/// One device a driver; of the processor's, one for each path, those that it lacks too.
fn specs_of(driver: &dyn Driver) -> Vec<String> {
    match driver.name() {
        "cpu" => Path::NAMES.iter().map(|isa| format!("cpu:isa={isa}")).collect(),
        name => vec![name.to_owned()],
    }
}

fn open_device(spec: &str, bell: &Arc<Bell>) -> Option<Arc<dyn Device>> {
    let driver = spec.split(':').next().unwrap_or_default();
    let context = Context { clock: Arc::new(SystemClock::new()), notify: bell.clone() };
    let isa = spec.split_once("isa=").map(|(_, isa)| isa);
    if let Some(Err(error)) = isa.map(Path::parse) {
        skip(isa.unwrap_or_default(), &error.to_string());
        return None;
    }
    let found = DRIVERS.iter().find(|known| known.name() == driver)?;
    if let (Probe::Absent { reason }, None) = (found.probe(), isa) {
        skip(driver, &reason);
        return None;
    }
    let parsed = spec.parse().expect("the suite writes specs that can be read");
    match sealift_drivers::open(&parsed, &context) {
        Ok(device) => Some(device),
        Err(error) => panic!("{spec} is present and does not open: {error}"),
    }
}

fn seed() -> u64 {
    number("SEALIFT_SEED", 20_260_101)
}

fn share() -> f64 {
    let share: f64 = number("SEALIFT_SHARE", 1.0);
    assert!(share > 0.0 && share <= 1.0, "SEALIFT_SHARE={share}: give more than 0 and at most 1");
    if share < 1.0 {
        note(&format!("SEALIFT_SHARE: {share} of the large numbers"));
    }
    share
}

fn number<T: std::str::FromStr>(variable: &str, default: T) -> T {
    match std::env::var(variable) {
        Err(_) => default,
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{variable}={value:?} is no number")),
    }
}
