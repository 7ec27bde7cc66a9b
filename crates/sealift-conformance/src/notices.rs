//! The suite's own test: each check fails on the wrong devices that it is there for.

use crate::broken::{Broken, Fault, Kind};
use crate::candidate::Candidate;
use crate::nist;
use crate::subject::{Effort, Subject};
use crate::suite::CHECKS;
use sealift_core::Op;
use sealift_drivers::cpu::Cpu;

#[test]
fn every_check_notices_a_wrong_device() {
    let mut missed = vec![];
    for entry in CHECKS.iter().filter(|entry| entry.what != "NIST" || nist::are_here().unwrap()) {
        for fault in faults(entry.what) {
            match (entry.check)(&wrong(*fault)) {
                Ok(summary) => missed.push(format!("{} misses {fault:?}: {summary}", entry.what)),
                Err(noticed) => eprintln!("{} notices {fault:?}: {noticed:.200}", entry.what),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Faults that a check has to notice.
fn faults(what: &str) -> &'static [Fault] {
    match what {
        "NIST" => &[
            Fault::WrongTagByte,
            Fault::LeavesFailedText,
            Fault::FlipsBitAt { text: 32 },
            Fault::AcceptsEverything,
            Fault::RefusesUnannounced,
        ],
        "Wycheproof" | "vectors" => &[
            Fault::WrongTagByte,
            Fault::LeavesFailedText,
            Fault::AcceptsEverything,
            Fault::FlipsBitUnderNonceOf { bytes: 128 },
        ],
        "random" => &[
            Fault::WrongTagByte,
            Fault::LeavesFailedText,
            Fault::AcceptsEverything,
            Fault::Accepts(Op::Open),
            Fault::Accepts(Op::Verify),
            Fault::LeavesOut(Kind::OutOfPlace),
            Fault::LeavesOut(Kind::InPlace),
            Fault::LeavesOut(Kind::Detached),
            Fault::LeavesOut(Kind::Appended),
            Fault::LeavesOut(Kind::Sessions),
            Fault::LeavesOut(Kind::RawKeys),
            Fault::LeavesOut(Kind::Frozen),
            Fault::LeavesOut(Kind::Shared),
            Fault::LeavesOut(Kind::Of(Op::Seal)),
            Fault::LeavesOut(Kind::Of(Op::Open)),
            Fault::LeavesOut(Kind::Of(Op::Verify)),
            Fault::LeavesOut(Kind::OpenInPlaceSharedRaw),
        ],
        "flips" => &[
            Fault::LeavesFailedText,
            Fault::AcceptsEverything,
            Fault::Accepts(Op::Verify),
            Fault::LeavesOut(Kind::OpenInPlaceSharedRaw),
        ],
        "guard pages" => {
            &[Fault::WrongTagByte, Fault::LeavesFailedText, Fault::FlipsBitAt { text: 32 }]
        }
        "race" => &[Fault::ReadsTwice, Fault::LeavesFailedText, Fault::AcceptsEverything],
        "rereads" => &[Fault::ReadsTwice, Fault::LeavesFailedText, Fault::AcceptsEverything],
        "batch sizes" => &[
            Fault::FlipsBitInBatchOf { messages: 1_025 },
            Fault::LeavesOut(Kind::OpenInPlaceSharedRaw),
        ],
        "lengths" => {
            &[Fault::WrongTagByte, Fault::LeavesFailedText, Fault::FlipsBitAt { text: 4_097 }]
        }
        "short inputs" => &[Fault::AcceptsShortInputs],
        "tag columns" => &[Fault::LeavesFailedText, Fault::AcceptsEverything],
        "limits" => &[Fault::RefusesUnannounced, Fault::WrongTagByte],
        "counter wrap" => &[Fault::FlipsBitUnderNonceOf { bytes: 16 }],
        "sessions" => &[Fault::FlipsBitFromSlot { slot: 4_990 }],
        "retired" => &[Fault::HidesGoneKeys],
        "reused slots" => &[Fault::TakesTheSlotForTheSession],
        "submitted" => &[Fault::SpoilsSubmittedWork, Fault::LeavesSubmittedText],
        "threads" => &[Fault::OneBatchAtATime],
        other => panic!("{other} has no fault that it must notice: give it one"),
    }
}

/// As little work as there can be for a wrong device.
fn wrong(fault: Fault) -> Subject {
    // A build without kernels has the model only.
    let mut found = ["cpu", "cpu:isa=model"].into_iter().map(|spec| Candidate::new(&Cpu, spec));
    let right = found.find_map(|candidate| candidate.subject().unwrap()).unwrap();
    let device = Broken::new(right.device.clone(), fault);
    Subject { device, effort: Effort::Slow, scale: f64::MIN_POSITIVE, ..right }
}
