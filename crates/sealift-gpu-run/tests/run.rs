//! The program from outside: on a GPU that is played, and on none.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use fake_cuda::Fake;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, process};

/// Starts the program with a libcuda, and with as little of the large numbers as there may be.
fn with(libcuda: impl AsRef<OsStr>, words: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealift-gpu"));
    command.args(words).arg("--out").arg(out);
    command.env("SEALIFT_LIBCUDA", libcuda).env("SEALIFT_TEST_SCALE", "0.001");
    command
}

fn run(libcuda: impl AsRef<OsStr>, words: &[&str], out: &Path) -> Output {
    with(libcuda, words, out).output().unwrap()
}

/// A folder that is not there.
fn place(name: &str) -> PathBuf {
    let place = env::temp_dir().join(format!("sealift-gpu-run-{}-{name}", process::id()));
    assert!(!place.exists(), "{} is in the way", place.display());
    place
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_machine_without_a_gpu_is_told_what_is_missing_and_gets_no_folder() {
    let out = place("none");
    let ended = run("libnowhere.so.1", &["--device", "cuda"], &out);
    let said = talk(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("cuda: libnowhere.so.1 is not on this machine"), "{said}");
    assert!(said.contains("there is no GPU to measure; install its driver"), "{said}");
    assert!(!out.exists());
}

#[test]
fn what_is_no_gpu_and_no_option_is_refused() {
    for words in [["--device", "cpu"], ["--fast", "1"], ["--budget", "0"]] {
        let out = place(words[0]);
        let ended = run("libnowhere.so.1", &words, &out);
        assert_eq!(ended.status.code(), Some(2), "{}", talk(&ended));
        assert!(!out.exists());
    }
}

#[test]
fn a_gpu_that_is_played_is_checked_and_no_time_of_it_is_kept() {
    let fake = Fake::new().unwrap();
    let out = place("fake");
    let ended = run(fake.path(), &["--device", "cuda:0", "--budget", "900"], &out);
    let said = talk(&ended);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert_eq!(String::from_utf8_lossy(&ended.stdout).trim(), out.display().to_string());
    assert_eq!(read(&out, "ending.json")["ending"], "complete");
    let machine = read(&out, "machine.json");
    assert_eq!(machine["devices"][0]["role"], "test only");
    for fact in ["conformance_of_cuda_0", "conformance_of_cuda_0_strict_on"] {
        let told = machine["facts"][fact]["value"].as_str().unwrap();
        let (passed, all) =
            told.strip_suffix(" checks passed").unwrap().split_once(" of ").unwrap();
        assert!(passed == all && all.parse::<usize>().unwrap() > 10, "{told}");
    }
    assert!(!out.join("samples.jsonl").exists(), "its times are no machine's");
    assert!(!out.join(".records").exists());
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_check_that_fails_is_told_and_the_others_go_on() {
    let fake = Fake::new().unwrap();
    let out = place("fails");
    let words = ["--device", "cuda", "--step", "conformance", "--budget", "900"];
    let ended =
        with(fake.path(), &words, &out).env("SEALIFT_VECTORS", "/nowhere").output().unwrap();
    let said = talk(&ended);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(read(&out, "ending.json")["ending"], "a part failed");
    let notes = fs::read_to_string(out.join("notes.jsonl")).unwrap();
    assert!(notes.contains("SEALIFT_VECTORS=/nowhere is no folder"), "{notes}");
    let told = read(&out, "machine.json")["facts"]["conformance_of_cuda"]["value"].to_string();
    let (passed, all) = told.trim_matches('"').split_once(" of ").unwrap();
    let all: usize = all.strip_suffix(" checks passed, 1 failed").unwrap().parse().unwrap();
    assert_eq!(passed.parse(), Ok(all - 1), "{told}");
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_device_that_was_named_and_is_absent_is_not_forgotten_beside_one_that_is_here() {
    let fake = Fake::new().unwrap();
    let out = place("absent");
    let words = ["--device", "cuda:99", "--device", "cuda:0", "--step", "copies", "--budget", "60"];
    let ended = run(fake.path(), &words, &out);
    let said = talk(&ended);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("not measured: cuda:99 (there is no device 99: "), "{said}");
    assert!(said.contains("No GPU: cuda:0 is simulated: checked, and not timed\n"), "{said}");
    let notes = fs::read_to_string(out.join("notes.jsonl")).unwrap();
    assert!(notes.contains("not measured: cuda:99"), "{notes}");
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_wrong_variable_and_a_folder_that_takes_nothing_are_told_before_anything_is_done() {
    let fake = Fake::new().unwrap();
    let out = place("early");
    let words = ["--device", "cuda:0"];
    let ended = with(fake.path(), &words, &out).env("SEALIFT_TEST_SCALE", "abc").output().unwrap();
    let said = talk(&ended);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("SEALIFT_TEST_SCALE=\"abc\" is no number"), "{said}");
    assert!(!out.exists());
    for taken in ["/dev/null/run", env!("CARGO_MANIFEST_DIR")] {
        let ended = run(fake.path(), &words, Path::new(taken));
        let said = talk(&ended);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(taken), "{said}");
    }
}

#[test]
fn the_version_is_told() {
    let ended = Command::new(env!("CARGO_BIN_EXE_sealift-gpu")).arg("--version").output().unwrap();
    let told = format!("sealift-gpu {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (String::from_utf8_lossy(&ended.stdout), ended.status.code()),
        (told.into(), Some(0))
    );
}
