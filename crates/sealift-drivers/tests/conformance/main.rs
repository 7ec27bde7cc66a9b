//! Every driver in the list, every instruction-set path this processor has, a card of a board and CUDA on a fake, under
//! the suite for devices.

mod on_a_board;
mod on_a_fake;

use on_a_board::OnABoard;
use sealift_conformance::{Candidate, check, suite};
use sealift_core::Driver;
use sealift_drivers::DRIVERS;
use sealift_drivers::library::Library;
use sealift_kernels::Path;

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

/// Without wide instructions AWS-LC decrypts long after it has hashed, so that a write comes between the two. Starts itself
/// again, because the library reads the variable once.
#[test]
fn a_buffer_that_is_rewritten_opens_right_or_not_at_all_in_aws_lc_without_wide_instructions() {
    const NONE: &str = "0:0";
    if std::env::var("OPENSSL_ia32cap").as_deref() == Ok(NONE) {
        let race = "a_buffer_that_is_rewritten_opens_right_or_not_at_all";
        check(race, &Candidate::new(&Library, "library")).unwrap();
        return;
    }
    let name =
        "a_buffer_that_is_rewritten_opens_right_or_not_at_all_in_aws_lc_without_wide_instructions";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let ended = child.args(["--exact", name]).env("OPENSSL_ia32cap", NONE).output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
}

/// The devices that every driver gives, exempt drivers left out, and some that no driver does.
fn candidates() -> Vec<Candidate> {
    let exempt = |driver: &&&dyn Driver| EXEMPT.iter().any(|(name, _)| *name == driver.name());
    let given = DRIVERS.iter().filter(|driver| !exempt(driver)).flat_map(|one| devices_of(*one));
    // Computed by what `cards` computes with, so that a part is enough.
    let board = Candidate::new(&OnABoard, "board").slow().share(0.05);
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
        "pim" => vec![Candidate::new(driver, "pim:dpus=4").slow().share(0.1)],
        // Without a GPU the first device is a processor, for which a circuit takes three times as long.
        "opencl" => vec![
            Candidate::new(driver, "opencl:0"),
            Candidate::new(driver, "opencl:0,strict=on").share(0.1),
        ],
        name => vec![Candidate::new(driver, name)],
    }
}

fn path_of(cpu: &'static dyn Driver, isa: &str) -> Candidate {
    let device = Candidate::new(cpu, format!("cpu:isa={isa}")).required_as(isa);
    if device.spec() == SLOW { device.slow() } else { device }
}
