//! What is refused before a device is asked, and that a device which computes wrong is caught.

use super::loaded::Loaded;
use super::*;
use crate::GpuError;
use crate::fake::Fake;
use crate::gpu::{Gpu, Room, Slab};
use crate::message::Operation;
use crate::variant::Tables;
use sealift_core::KeyLength;
use std::sync::Arc;

fn spec() -> BenchSpec {
    let shape = Shape {
        messages: 10,
        text_bytes: 128,
        aad_bytes: 0,
        key: KeyLength::Aes128,
        plan: Plan::All(Operation::Seal),
        own_keys: true,
    };
    BenchSpec {
        code: Code::Ours(Tables::None),
        mode: Mode::Partitioned,
        grid: None,
        shape,
        seed: 1,
    }
}

fn refusal(spec: &BenchSpec) -> String {
    let gpu: Arc<dyn Gpu> = Arc::new(Fake::new());
    match Bench::new(&gpu, spec).err() {
        Some(GpuError::NoSuchBench { reason }) => reason,
        other => panic!("{spec:?} gives {other:?}"),
    }
}

#[test]
fn what_no_kernel_can_do_is_refused_with_what_it_can() {
    let refused = refusal(&BenchSpec { mode: Mode::Replicated, ..spec() });
    assert!(refused.contains("only the code as published is worked replicated"), "{refused}");
    let grid = |groups, group_items| Some(Grid { groups, group_items });
    let refused = refusal(&BenchSpec { grid: grid(1, 33), ..spec() });
    assert!(refused.contains("a multiple of 32, and not of 33"), "{refused}");
    let refused = refusal(&BenchSpec { grid: grid(1, 288), ..spec() });
    assert!(refused.contains("1 to 256 work-items here, and not 288"), "{refused}");
    let refused = refusal(&BenchSpec { grid: grid(0, 32), ..spec() });
    assert!(refused.contains("groups, and not 0"), "{refused}");
    let none = Shape { messages: 0, ..spec().shape };
    assert!(refusal(&BenchSpec { shape: none, ..spec() }).contains("there are no messages"));
    let much = Shape { messages: 1 << 32, text_bytes: 1 << 20, ..spec().shape };
    let refused = refusal(&BenchSpec { shape: much, ..spec() });
    assert!(refused.contains("can't count the bytes"), "{refused}");
}

#[test]
fn a_device_that_computes_something_else_is_told_with_the_first_message() {
    let gpu: Arc<dyn Gpu> = Arc::new(Fake::new());
    let error = Bench::new(&gpu, &spec()).err().unwrap();
    assert!(matches!(error, GpuError::Wrong { .. }), "{error}");
    let error = error.to_string();
    assert!(error.starts_with("fake computes wrong: message 0 of 10 differs"), "{error}");
}

#[test]
fn programs_have_names_of_their_own_and_are_made_of_their_sources() {
    let programs: Vec<_> = LabProgram::all().collect();
    let names: Vec<_> = programs.iter().map(|program| program.name()).collect();
    assert_eq!(names[0], "lab-published-aes128");
    assert_eq!(names[7..], ["lab-types-mixed", "lab-units", "lab-bmma"]);
    for (program, number) in programs.into_iter().zip([4, 6, 8, 0, 1, 2, 3, 4, 8, 8]) {
        assert_eq!(program.defines()[1].1, number, "{program:?}");
        for kernel in program.kernels() {
            let name = kernel.name();
            let source = program.source();
            let is_there =
                source.contains(&format!(" {name}(")) || source.contains(&format!("({name},"));
            assert!(is_there, "{program:?} lacks {name}");
        }
    }
}

#[test]
fn what_was_looked_at_is_overwritten_once_and_not_again_by_the_run_behind() {
    let fake = Fake::new();
    let room = Room::default().with(Slab::Output, 64);
    let mut loaded = Loaded::new(&fake, vec![], (room, 16), |_| {}).unwrap();
    let mut writes = |work: fn(&mut Loaded)| {
        let before = fake.calls("write");
        work(&mut loaded);
        fake.calls("write") - before
    };
    let run = |loaded: &mut Loaded| loaded.run(1).map(drop).unwrap();
    assert_eq!([writes(run), writes(run)], [1, 0]);
    let look = |loaded: &mut Loaded| assert_eq!(loaded.output().unwrap(), (0, &[0xee; 64][..]));
    assert_eq!([writes(look), writes(|loaded| loaded.forget_output().unwrap())], [0, 1]);
    assert_eq!(writes(run), 0);
}
