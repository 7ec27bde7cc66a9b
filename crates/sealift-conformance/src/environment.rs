//! What the variables of the environment ask for, and what is said past the test harness.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Says why something is not tested.
///
/// # Errors
/// `SEALIFT_REQUIRE` lists it.
pub(crate) fn skip(what: &str, reason: &str) -> Result<(), String> {
    let required = std::env::var("SEALIFT_REQUIRE").unwrap_or_default();
    if required.split(',').any(|name| name.trim() == what) {
        return Err(format!("{what} is required: {reason}"));
    }
    note(&format!("skipped: {what}: {reason}"));
    Ok(())
}

/// Reads what the variables ask for, before any check does.
///
/// # Errors
/// The first that is no number, or no scale.
pub fn check_environment() -> Result<(), String> {
    seed()?;
    scale().map(drop)
}

/// The seed of the random messages.
///
/// # Errors
/// `SEALIFT_SEED` is no number.
pub(crate) fn seed() -> Result<u64, String> {
    number("SEALIFT_SEED", 20_260_101)
}

/// How much of the large numbers is done: 1 for all.
///
/// # Errors
/// `SEALIFT_TEST_SCALE` is no scale.
pub(crate) fn scale() -> Result<f64, String> {
    let scale: f64 = number("SEALIFT_TEST_SCALE", 1.0)?;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(format!("SEALIFT_TEST_SCALE={scale}: give more than 0 and at most 1"));
    }
    if scale < 1.0 {
        note(&format!("SEALIFT_TEST_SCALE: {scale} of the large numbers, each kind at least once"));
    }
    Ok(scale)
}

fn number<T: std::str::FromStr>(variable: &str, default: T) -> Result<T, String> {
    match std::env::var(variable) {
        Err(_) => Ok(default),
        Ok(value) => value.parse().map_err(|_| format!("{variable}={value:?} is no number")),
    }
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
