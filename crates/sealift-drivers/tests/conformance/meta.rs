//! Tests of the suite itself.

use crate::broken::{Broken, Fault};
use crate::devices::open;
use crate::list::{EXEMPT, SLOW, specs};
use crate::subject::{Check, Effort, Subject};
use crate::{
    columns, differential, edges, flips, guards, nist, published, race, sessions, workers, wrap,
};
use sealift_drivers::DRIVERS;

/// Faults that each check has to notice.
const NOTICES: &[(&str, Check, &[Fault])] = &[
    (
        "nist",
        nist::check,
        &[
            Fault::WrongTagByte,
            Fault::LeavesFailedText,
            Fault::FlipsBitAt { text: 32 },
            Fault::AcceptsEverything,
            Fault::RefusesUnannounced,
        ],
    ),
    (
        "wycheproof",
        published::check,
        &[
            Fault::WrongTagByte,
            Fault::LeavesFailedText,
            Fault::AcceptsEverything,
            Fault::FlipsBitUnderNonceOf { bytes: 128 },
        ],
    ),
    (
        "differential",
        differential::check,
        &[Fault::WrongTagByte, Fault::LeavesFailedText, Fault::AcceptsEverything],
    ),
    ("flips", flips::check, &[Fault::LeavesFailedText, Fault::AcceptsEverything]),
    (
        "guards",
        guards::check,
        &[Fault::WrongTagByte, Fault::LeavesFailedText, Fault::FlipsBitAt { text: 32 }],
    ),
    ("race", race::check, &[Fault::ReadsTwice, Fault::LeavesFailedText, Fault::AcceptsEverything]),
    ("batch sizes", edges::batch_sizes, &[Fault::FlipsBitInBatchOf { messages: 1_025 }]),
    (
        "lengths",
        edges::lengths,
        &[Fault::WrongTagByte, Fault::LeavesFailedText, Fault::FlipsBitAt { text: 4_097 }],
    ),
    ("short inputs", edges::shorter_than_its_tag, &[Fault::AcceptsShortInputs]),
    ("tag columns", columns::tag_lengths, &[Fault::LeavesFailedText, Fault::AcceptsEverything]),
    ("limits", edges::limits, &[Fault::RefusesUnannounced, Fault::WrongTagByte]),
    ("counter wrap", wrap::check, &[Fault::FlipsBitUnderNonceOf { bytes: 16 }]),
    ("sessions", sessions::many, &[Fault::FlipsBitFromSlot { slot: 4_990 }]),
    ("retired", sessions::retired, &[Fault::HidesGoneKeys]),
    ("reused slots", sessions::reused_slots, &[Fault::TakesTheSlotForTheSession]),
    ("submitted", workers::submitted, &[Fault::SpoilsSubmittedWork]),
    ("threads", workers::threads, &[Fault::OneBatchAtATime]),
];

/// Every driver is tested or exempt, and every name in a list is somebody's.
pub(crate) fn check_coverage() {
    let tested = |name| specs().iter().any(|spec| spec.split(':').next() == Some(name));
    for driver in DRIVERS {
        let exempt = EXEMPT.iter().any(|(name, _)| *name == driver.name());
        assert!(exempt != tested(driver.name()), "{} is neither tested nor exempt", driver.name());
    }
    for (name, reason) in EXEMPT {
        let known = DRIVERS.iter().any(|driver| driver.name() == *name);
        assert!(known, "{name} is exempt ({reason}) and no driver");
    }
    SLOW.iter().for_each(|slow| assert!(specs().iter().any(|spec| spec == slow), "{slow}"));
}

/// Each check fails on each device with a fault that it is there for.
pub(crate) fn check_notices() {
    let spec = specs().into_iter().rfind(|spec| spec.starts_with("cpu") && open(spec).is_some());
    let spec = spec.expect("the model of the processor's driver is everywhere");
    let mut missed = vec![];
    for (name, check, faults) in NOTICES {
        if *name == "nist" && !nist::are_here() {
            continue;
        }
        for fault in *faults {
            match check(&wrong(&spec, *fault)) {
                Ok(summary) => missed.push(format!("{name} misses {fault:?}: {summary}")),
                Err(noticed) => eprintln!("{name} notices {fault:?}: {noticed:.200}"),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A small amount of work for a wrong device.
fn wrong(spec: &str, fault: Fault) -> Subject {
    let right = open(spec).expect("it was opened before");
    let device = Broken::new(right.device.clone(), fault);
    Subject { device, effort: Effort::Slow, share: 0.05, ..right }
}
