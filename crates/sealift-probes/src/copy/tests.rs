use super::*;
use std::io::Write;
use std::path::PathBuf;

fn spec(function: Function, bytes: usize) -> CopySpec {
    CopySpec {
        operation: Operation::Copy,
        function,
        bytes,
        threads: 1,
        source: Kind::Heap,
        target: Kind::Heap,
        state: State::Hot,
        buffers: Buffers::Private,
        offset: 0,
        beside: Beside::Nothing,
        content: Content::Seeded(7),
        folder: std::env::temp_dir(),
    }
}

fn prepare(spec: &CopySpec) -> Result<CopyArm, ArmError> {
    CopyArm::prepare_while(spec, &mut || true)
}

/// An arm, or nothing where this machine has no such function or memory; says so.
fn made(spec: &CopySpec) -> Option<CopyArm> {
    match prepare(spec) {
        Ok(arm) => Some(arm),
        Err(error @ ArmError::Absent { .. }) => {
            eprintln!("not tested here: {error}");
            None
        }
        Err(error) => panic!("{spec:?}: {error}"),
    }
}

fn run(spec: &CopySpec) {
    let Some(mut arm) = made(spec) else { return };
    for _ in 0..2 {
        let sample = arm.sample(0.000_2).unwrap();
        assert_eq!(sample.bytes, sample.operations * spec.bytes as u64);
        assert!(sample.operations >= spec.threads as u64, "{spec:?}");
    }
    assert!(arm.counts()[0].1 >= 3, "{spec:?}: {:?}", arm.counts());
}

#[test]
fn every_function_copies_every_kind_of_length_at_any_offset() {
    for function in Function::of(Operation::Copy) {
        // Those after ours need memory of their own kind.
        if function == Function::Pread {
            break;
        }
        for bytes in [1, 7, 8, 15, 16, 63, 64, 65, 127, 128, 255, 256, 257, 1_000, 4_096, 65_539] {
            for offset in [0, 12, 4_095] {
                run(&CopySpec { offset, ..spec(function, bytes) });
            }
        }
    }
}

#[test]
fn cold_copies_are_right_too_on_several_threads() {
    for (bytes, threads) in [(16, 1), (4_096, 2), (1 << 20, 3)] {
        run(&CopySpec { state: State::Cold, threads, ..spec(Function::Glibc, bytes) });
    }
}

#[test]
fn a_file_beyond_memory_is_copied_from_and_to_while_most_of_it_is_not_there() {
    let beyond = |function, source, target| CopySpec {
        state: State::Beyond,
        source,
        target,
        ..spec(function, 4_096)
    };
    for (function, source, target) in [
        (Function::Pread, Kind::File, Kind::Heap),
        (Function::Glibc, Kind::File, Kind::Heap),
        (Function::Pwrite, Kind::Heap, Kind::File),
        (Function::MapWrite, Kind::Heap, Kind::File),
    ] {
        let Some(mut arm) = made(&beyond(function, source, target)) else { return };
        for _ in 0..3 {
            let sample = arm.sample(0.01).unwrap();
            assert!((0.0..=1.0).contains(&sample.cpu_share));
        }
        let counts: Vec<_> = arm.counts().into_iter().map(|(_, count)| count).collect();
        let [compared, pages, there] = counts[..] else { panic!("{counts:?}") };
        assert!(compared == 4 && pages > 0, "{counts:?}");
        assert!(there <= pages / beyond::SHARE as u64, "{function}: {there} of {pages}");
    }
}

#[test]
fn reads_writes_and_fills_are_checked() {
    for operation in [Operation::Read, Operation::Write, Operation::Fill] {
        for function in Function::of(operation) {
            for (bytes, state) in
                [(16, State::Hot), (72, State::Hot), (65_536, State::Cold), (3 << 20, State::Hot)]
            {
                run(&CopySpec { operation, state, ..spec(function, bytes) });
            }
        }
    }
}

#[test]
fn every_kind_of_memory_is_copied_from_and_to() {
    for kind in [Kind::Small, Kind::Huge, Kind::Memfd, Kind::Shm, Kind::File, Kind::Hugetlb] {
        let from = CopySpec { source: kind.clone(), ..spec(Function::Words, 65_536) };
        let to = CopySpec { target: kind.clone(), ..spec(Function::Words, 65_536) };
        run(&from);
        run(&to);
        if kind.is_file() {
            for function in [Function::Pread, Function::MapRead] {
                run(&CopySpec { function, ..from.clone() });
            }
            for function in [Function::Pwrite, Function::MapWrite] {
                run(&CopySpec { function, ..to.clone() });
            }
        }
    }
    for function in [Function::FirstTouch, Function::Populated] {
        run(&CopySpec { target: Kind::Small, ..spec(function, 65_536) });
    }
}

#[test]
fn threads_share_buffers_and_a_neighbour_changes_nothing() {
    run(&CopySpec { threads: 4, buffers: Buffers::Shared, ..spec(Function::Words, 65_536) });
    for beside in [Beside::Spinner, Beside::Protector] {
        let mut arm = prepare(&CopySpec { beside, ..spec(Function::Glibc, 65_536) }).unwrap();
        let sample = arm.sample(0.002).unwrap();
        assert_eq!(sample.bytes, sample.operations * 65_536);
        assert!(arm.counts().iter().any(|(name, times)| *name == "times_beside" && *times > 0));
    }
}

#[test]
fn a_function_that_copies_nothing_is_noticed() {
    for operation in [Operation::Copy, Operation::Read, Operation::Write, Operation::Fill] {
        for state in [State::Hot, State::Cold] {
            let function = Function::of(operation).next().unwrap();
            let Some(mut arm) = made(&CopySpec { operation, state, ..spec(function, 4_096) })
            else {
                continue;
            };
            for hand in &mut arm.hands {
                let Hand::Lane(lane) = hand else { continue };
                lane.lap = NOTHING;
            }
            assert!(
                matches!(arm.sample(0.001), Err(ArmError::Wrong { .. })),
                "{operation} {state}"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = |spec: &CopySpec| prepare(spec).err().unwrap().to_string();
    let good = spec(Function::Glibc, 64);
    assert!(error(&CopySpec { threads: 0, ..good.clone() }).starts_with("threads of 0"));
    assert!(error(&CopySpec { bytes: 0, ..good.clone() }).starts_with("bytes of a copy of 0"));
    assert!(error(&CopySpec { offset: 4_096, ..good.clone() }).contains("0 to 4095"));
    let beyond = CopySpec { state: State::Beyond, ..good.clone() };
    assert!(error(&beyond).contains("state of beyond memory: right would be hot or cold"));
    assert!(error(&CopySpec { source: Kind::File, threads: 2, ..beyond }).contains("one thread"));
    let read = CopySpec { operation: Operation::Read, ..good.clone() };
    if cfg!(all(target_arch = "x86_64", not(sealift_portable))) {
        assert!(error(&read).contains("words, avx2, avx512"), "{}", error(&read));
    }
    let shared = CopySpec { buffers: Buffers::Shared, function: Function::Ours, ..good.clone() };
    assert!(error(&shared).contains("private for ours"));
    assert!(error(&CopySpec { function: Function::Pread, ..good.clone() }).contains("file, memfd"));
    let stopped = CopyArm::prepare_while(&good, &mut || false);
    assert!(matches!(stopped.err(), Some(ArmError::Stopped { .. })));
    assert!(Function::parse("gilbc").unwrap_err().to_string().contains("glibc, words"));
}

/// An ordinary file that stands for a device's memory.
struct Stand(PathBuf);

impl Stand {
    fn of(name: &str, bytes: &[u8]) -> Self {
        let path =
            std::env::temp_dir().join(format!("sealift-region-{}-{name}", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
        Self(path)
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
#[test]
fn a_region_is_read_and_written_where_it_was_named_and_nowhere_else() {
    let stand = Stand::of("used", &[0; 4 * 4_096]);
    let region = Region::find(&stand.0, 4_096, 8_192).unwrap();
    let write = CopySpec {
        target: Kind::Region(region.clone()),
        content: Content::Counting(3),
        ..spec(Function::Words, 4_096)
    };
    run(&write);
    let held = std::fs::read(&stand.0).unwrap();
    let expected: Vec<u8> = (0..=255_u8).cycle().map(|at| at.wrapping_add(3)).take(4_096).collect();
    assert!(
        held[..4_096] == [0; 4_096]
            && held[4_096..8_192] == expected
            && held[8_192..] == [0; 8_192]
    );
    let found = CopySpec {
        source: Kind::Region(region.clone()),
        content: Content::Found(3),
        ..spec(Function::Words, 4_096)
    };
    run(&found);
    assert_eq!(std::fs::read(&stand.0).unwrap(), held, "left as it was found");
    let other = CopySpec { content: Content::Found(4), ..found };
    assert!(prepare(&other).err().unwrap().to_string().contains("byte 0 is not"));
    let long = CopySpec { bytes: 8_193, ..write };
    assert!(prepare(&long).err().unwrap().to_string().contains("8192 bytes"));
}

#[test]
fn a_region_that_can_not_be_is_refused_before_it_is_touched() {
    let stand = Stand::of("refused", &[7; 8_192]);
    let error = |offset, bytes| Region::find(&stand.0, offset, bytes).unwrap_err().to_string();
    assert!(error(0, 12_288).contains("8192 bytes, and 12288 are needed"));
    assert!(error(1, 4_096).contains("multiple of a page"));
    assert!(error(0, 100).contains("multiple of a page"));
    assert!(error(0, 0).contains("length"));
    assert!(error(u64::MAX - 4_095, 8_192).contains("length"));
    let gone = Region::find(&stand.0.with_extension("gone"), 0, 4_096).unwrap_err();
    assert!(gone.to_string().contains("No such file"));
    let folder = Region::find(&std::env::temp_dir(), 0, 4_096).unwrap_err();
    assert!(folder.to_string().contains("neither a file"));
    assert_eq!(std::fs::read(&stand.0).unwrap(), [7; 8_192]);
}

#[test]
fn the_published_way_is_timed_with_and_without_its_pool() {
    for (function, threads) in [(0, 0), (1, 2), (2, 3)] {
        let spec = PublishedSpec {
            function,
            bytes: 65_536,
            before: vec![16, 4_096],
            runs: 5,
            threads,
            seed: 1,
        };
        let mut arm = match PublishedArm::prepare(&spec) {
            Err(error @ ArmError::Absent { .. }) => return eprintln!("not tested here: {error}"),
            made => made.unwrap(),
        };
        let sample = arm.sample(0.000_1).unwrap();
        assert_eq!(sample.bytes, sample.operations * 65_536);
        assert!(sample.operations.is_multiple_of(5) && sample.operations > 0);
    }
    let none =
        PublishedSpec { function: 3, bytes: 1, before: vec![], runs: 5, threads: 0, seed: 1 };
    assert!(PublishedArm::prepare(&none).is_err());
}
