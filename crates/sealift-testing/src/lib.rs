//! What tests may require of a machine, and a report of what they ran and skipped.
//!
//! | variable | meaning |
//! |---|---|
//! | `SEALIFT_REQUIRE=cpu,vectors` | names that may not be skipped: those in `names.txt`, and of devices under test |
//! | `SEALIFT_TEST_REPORT=FILE` | where each process appends a line for each name it ran or skipped |

use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Kinds and names, as in `names.txt`.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("names.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' '))
}

/// Reports that something is tested.
///
/// # Panics
/// The report can't be written.
pub fn ran(name: &str) {
    report(&format!("ran\t{name}"));
}

/// Reports and prints why something is not tested.
///
/// # Errors
/// `SEALIFT_REQUIRE` lists it.
///
/// # Panics
/// The report can't be written.
pub fn skip(name: &str, reason: &str) -> Result<(), String> {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    report(&format!("skipped\t{name}\t{reason}"));
    if required().any(|required| required == name) {
        return Err(format!("{name} is required: {reason}"));
    }
    note(&format!("skipped: {name}: {reason}"));
    Ok(())
}

/// Checks that each name in `SEALIFT_REQUIRE` is in `names.txt` or among `more`.
///
/// # Errors
/// The first unknown name, with the nearest known one and all of them.
pub fn check_required<'a>(more: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let mut known: BTreeSet<_> = names().map(|(_, name)| name).collect();
    known.extend(more);
    check_names(required(), &known)
}

fn required() -> impl Iterator<Item = String> {
    let list = env::var("SEALIFT_REQUIRE").unwrap_or_default();
    let names: Vec<_> = list.split(',').map(|name| name.trim().to_owned()).collect();
    names.into_iter().filter(|name| !name.is_empty())
}

fn check_names(
    mut required: impl Iterator<Item = String>,
    known: &BTreeSet<&str>,
) -> Result<(), String> {
    let Some(unknown) = required.find(|name| !known.contains(name.as_str())) else {
        return Ok(());
    };
    let nearest = known.iter().min_by_key(|name| distance(name, &unknown)).copied();
    let nearest = nearest.filter(|name| distance(name, &unknown) <= unknown.len().div_ceil(2));
    let meant = nearest.map_or(String::new(), |name| format!("; did you mean {name:?}?"));
    let known = known.iter().copied().collect::<Vec<_>>().join(", ");
    Err(format!("SEALIFT_REQUIRE names {unknown:?}, which no test knows{meant} (known: {known})"))
}

/// Characters to insert, delete or replace until two words are equal.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<_> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// Prints a line once, past the test harness, which keeps what passing tests print to itself.
///
/// # Panics
/// Standard error is closed.
pub fn note(line: &str) {
    if is_first(line) {
        let written = writeln!(std::io::stderr(), "{line}");
        assert!(written.is_ok(), "standard error is closed: {written:?}");
    }
}

fn report(line: &str) {
    let Some(path) = env::var_os("SEALIFT_TEST_REPORT").filter(|path| !path.is_empty()) else {
        return;
    };
    if !is_first(line) {
        return;
    }
    // One write of a whole line, so that processes at the same time don't mix theirs.
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    assert!(written.is_ok(), "SEALIFT_TEST_REPORT={}: {written:?}", path.display());
}

/// Whether this process meets a line for the first time.
fn is_first(line: &str) -> bool {
    static MET: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    MET.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(required: &[&str]) -> Result<(), String> {
        let known: BTreeSet<_> = names().map(|(_, name)| name).chain(["mine"]).collect();
        check_names(required.iter().map(|name| (*name).to_owned()), &known)
    }

    #[test]
    fn an_unknown_name_is_an_error_that_suggests_the_nearest_and_lists_all() {
        assert_eq!(check(&["cpu", "vectors", "mine"]), Ok(()));
        let error = check(&["cpu", "vektors"]).unwrap_err();
        let told = "SEALIFT_REQUIRE names \"vektors\", which no test knows; did you mean \"vectors\"? (known: aesni, ";
        assert!(error.starts_with(told) && error.ends_with("wycheproof)"), "{error}");
        let error = check(&["quantum-computer"]).unwrap_err();
        assert!(error.contains("which no test knows (known: aesni"), "{error}");
    }

    #[test]
    fn each_name_stands_once() {
        let mut met = BTreeSet::new();
        for (kind, name) in names() {
            assert!(met.insert(name), "{name}");
            let kinds = ["device", "instruction-set", "library", "suite", "tool"];
            assert!(kinds.contains(&kind) && !name.contains([' ', ',']), "{kind} {name}");
        }
        assert!(met.len() > 20);
    }

    #[test]
    fn the_distance_of_words_counts_their_edits() {
        for (one, other, edits) in
            [("", "cpu", 3), ("cpu", "cpu", 0), ("cpu", "gpu", 1), ("opencl", "openssl", 2)]
        {
            assert_eq!((distance(one, other), distance(other, one)), (edits, edits));
        }
    }
}
