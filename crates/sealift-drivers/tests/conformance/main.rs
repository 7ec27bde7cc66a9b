//! Every driver in the list, every instruction-set path this processor has, a card of a board and CUDA on a fake, under
//! the suite for devices.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod on_a_board;
mod on_a_fake;

use on_a_board::OnABoard;
use sealift_conformance::{Candidate, suite};
use sealift_core::Driver;
use sealift_drivers::DRIVERS;
use sealift_kernels::Path;
use std::env;
use std::process::Command;

/// Drivers that can't conform, and why.
const EXEMPT: &[(&str, &str)] =
    &[("null", "it encrypts nothing"), ("fault", "it wraps another and is wrong on order")];
/// It takes hours for the large numbers.
const SLOW: &str = "cpu:isa=model";

suite!(candidates());

#[test]
fn every_driver_is_in_the_suite_or_named_as_an_exception() {
    let specs: Vec<_> = candidates().iter().map(|device| device.spec().to_owned()).collect();
    let tested = |name| specs.iter().any(|spec| spec.split(':').next() == Some(name));
    for driver in DRIVERS {
        let exempt = EXEMPT.iter().any(|(name, _)| *name == driver.name());
        assert!(exempt != tested(driver.name()), "{} is neither tested nor exempt", driver.name());
    }
    for (name, reason) in EXEMPT {
        let known = DRIVERS.iter().any(|driver| driver.name() == *name);
        assert!(known, "{name} is exempt ({reason}) and no driver");
    }
    assert!(specs.iter().any(|spec| spec == SLOW), "{SLOW} is no device under test");
}

#[test]
fn every_device_and_every_instruction_set_can_be_required() {
    let devices = candidates().into_iter().map(|device| device.driver_name());
    for name in devices.chain(Path::NAMES) {
        let known = sealift_testing::names().any(|(_, known)| known == name);
        assert!(known, "{name} is missing in sealift-testing's names.txt");
    }
}

/// With AVX-512 AWS-LC reads each byte of ciphertext once, so that there nothing would show whether `library` copies
/// what others may write to. Its other code reads bytes again.
#[test]
fn a_byte_that_changes_opens_nothing_wrong_in_the_other_code_of_aws_lc_either() {
    // Bits that OPENSSL_ia32cap takes away: AVX-512 F, DQ, BW and VL; and those of AES and carry-less products.
    for (without, bits) in [("AVX-512", ":~0xC0030000"), ("AES-NI", "~0x200000200000000")] {
        let rereads = "a_byte_that_changes_after_it_was_read_changes_nothing";
        let mut tests = Command::new(env::current_exe().unwrap());
        let ran = tests.args([rereads, "--exact"]).env("OPENSSL_ia32cap", bits).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && said.contains("1 passed"), "without {without}: {said}");
    }
}

/// The devices that every driver gives, exempt drivers left out, and some that no driver does.
fn candidates() -> Vec<Candidate> {
    let exempt = |driver: &&&dyn Driver| EXEMPT.iter().any(|(name, _)| *name == driver.name());
    let given = DRIVERS.iter().filter(|driver| !exempt(driver)).flat_map(|one| devices_of(*one));
    // Computed by what `cards` computes with, so that a part is enough.
    let board = Candidate::new(&OnABoard, "board").slow().scale(0.05);
    given.chain([board, on_a_fake::device()]).collect()
}

/// One device a driver; of the processor's, one for each path, those that it lacks too.
fn devices_of(driver: &'static dyn Driver) -> Vec<Candidate> {
    match driver.name() {
        "cpu" => Path::NAMES.iter().map(|isa| path_of(driver, isa)).collect(),
        "cards" => {
            let card = Candidate::new(driver, "cards:tests/conformance/fast-card.toml");
            // It computes with the best path there is, which may be the slow one.
            vec![if Path::available().len() == 1 { card.slow() } else { card }]
        }
        // Some hundred thousand instructions a message, each of them simulated.
        "pim" => vec![Candidate::new(driver, "pim:dpus=4").slow().scale(0.1)],
        // Without a GPU the first device is a processor, for which a circuit takes three times as long.
        "opencl" => vec![
            Candidate::new(driver, "opencl:0"),
            Candidate::new(driver, "opencl:0,strict=on").scale(0.1),
        ],
        "cuda" => {
            vec![
                Candidate::new(driver, "cuda"),
                Candidate::new(driver, "cuda:strict=on").scale(0.1),
            ]
        }
        name => vec![Candidate::new(driver, name)],
    }
}

fn path_of(cpu: &'static dyn Driver, isa: &str) -> Candidate {
    let device = Candidate::new(cpu, format!("cpu:isa={isa}")).required_as(isa);
    if device.spec() == SLOW { device.slow() } else { device }
}
