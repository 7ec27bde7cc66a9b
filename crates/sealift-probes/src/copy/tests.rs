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
fn prepare_or_skip(spec: &CopySpec) -> Option<CopyArm> {
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
    let Some(mut arm) = prepare_or_skip(spec) else { return };
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
    let out_of_core = |function, source, target| CopySpec {
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
        let Some(mut arm) = prepare_or_skip(&out_of_core(function, source, target)) else { return };
        for _ in 0..3 {
            let sample = arm.sample(0.01).unwrap();
            assert!((0.0..=1.0).contains(&sample.cpu_share));
        }
        let counts: Vec<_> = arm.counts().into_iter().map(|(_, count)| count).collect();
        let [compared, pages, there] = counts[..] else { panic!("{counts:?}") };
        assert!(compared == 4 && pages > 0, "{counts:?}");
        assert!(there <= pages / out_of_core::SHARE as u64, "{function}: {there} of {pages}");
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
fn pages_that_a_neighbour_takes_away_are_copied_all_the_same() {
    let evicted = CopySpec { beside: Beside::Evictor, ..spec(Function::Glibc, 65_536) };
    assert!(prepare(&evicted).err().unwrap().to_string().contains("neither side is a file"));
    let evicted = CopySpec { target: Kind::Shm, threads: 2, ..evicted };
    for (buffers, places) in [(Buffers::Private, 2), (Buffers::Shared, 1)] {
        let Some(arm) = prepare_or_skip(&CopySpec { buffers, ..evicted.clone() }) else { return };
        let taken = arm.hands.iter().find_map(|hand| match hand {
            Hand::Neighbour(neighbour) => Some(neighbour.mapped.len()),
            Hand::Lane(_) => None,
        });
        assert_eq!(taken, Some(places), "{buffers}");
    }
    let Some(mut arm) = prepare_or_skip(&evicted) else { return };
    let sample = arm.sample(0.002).unwrap();
    assert_eq!(sample.bytes, sample.operations * 65_536);
    assert!(arm.counts().iter().any(|(name, times)| *name == "times_beside" && *times > 0));
}

#[test]
fn a_function_that_copies_nothing_is_noticed() {
    for operation in [Operation::Copy, Operation::Read, Operation::Write, Operation::Fill] {
        for state in [State::Hot, State::Cold] {
            let function = Function::of(operation).next().unwrap();
            let Some(mut arm) =
                prepare_or_skip(&CopySpec { operation, state, ..spec(function, 4_096) })
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
        assert!(error(&read).contains("words, avx512"), "{}", error(&read));
    }
    let shared = CopySpec { buffers: Buffers::Shared, function: Function::Ours, ..good.clone() };
    assert!(error(&shared).contains("private for ours"));
    assert!(error(&CopySpec { function: Function::Pread, ..good.clone() }).contains("file, memfd"));
    let stopped = CopyArm::prepare_while(&good, &mut || false);
    assert!(matches!(stopped.err(), Some(ArmError::Stopped { .. })));
    assert!(Function::parse("gilbc").unwrap_err().to_string().contains("glibc, words"));
}

/// What gives `1`, as a call of the system that was short does, and copies nothing.
unsafe fn short(_: &route::Route, _: usize, _: usize) -> u64 {
    1
}

#[test]
fn what_any_thread_of_shared_buffers_gives_is_looked_at() {
    for (operation, told) in [(Operation::Copy, "calls of the system"), (Operation::Read, "sum up")]
    {
        let function = Function::of(operation).next().unwrap();
        let shared =
            CopySpec { operation, threads: 3, buffers: Buffers::Shared, ..spec(function, 4_096) };
        let Some(mut arm) = prepare_or_skip(&shared) else { continue };
        arm.sample(0.000_2).unwrap();
        let Some(Hand::Lane(last)) = arm.hands.last_mut() else { panic!("three lanes") };
        assert!(!last.is_owner);
        last.lap = short;
        let error = arm.sample(0.000_2).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// Starts itself again: whether there are huge pages can be said to a whole process only.
#[test]
fn memory_that_is_not_huge_is_not_called_so() {
    const YES: libc::c_ulong = 1;
    const NO: libc::c_ulong = 0;
    let setting = "SEALIFT_TEST_NO_HUGE_PAGES";
    let huge = CopySpec { target: Kind::Huge, ..spec(Function::Glibc, 3 << 20) };
    if std::env::var_os(setting).is_none() {
        let name = "copy::tests::memory_that_is_not_huge_is_not_called_so";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", name, "--nocapture"]).env(setting, "1");
        let ended = child.output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains("1 passed"), "{ended:?}");
        return;
    }
    // SAFETY: the call takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, YES, NO, NO, NO) };
    let refused = prepare(&huge).err();
    assert!(matches!(&refused, Some(ArmError::Absent { .. })), "{refused:?}");
}

#[test]
fn memory_is_called_huge_where_it_is() {
    let huge = CopySpec { target: Kind::Huge, ..spec(Function::Glibc, 3 << 20) };
    let Some(arm) = prepare_or_skip(&huge) else { return };
    let Some(Hand::Lane(lane)) = arm.hands.first() else { panic!("a lane") };
    assert_eq!(crate::smaps::check_huge(lane.route.to, 3 << 20), Ok(()));
}

#[test]
fn who_maps_pages_anew_has_them_for_itself() {
    let target = |function| {
        let arm = prepare(&CopySpec { target: Kind::Small, ..spec(function, 65_536) }).unwrap();
        let Some(Hand::Lane(lane)) = arm.hands.first() else { panic!("a lane") };
        (lane.route.to, arm)
    };
    let arms = [Function::Glibc, Function::Ours, Function::FirstTouch, Function::Populated];
    let [(glibc, _one), (ours, _two), (touched, _three), (populated, _four)] = arms.map(target);
    assert!(glibc == ours && touched != glibc && populated != glibc && populated != touched);
}

#[test]
fn whole_pages_are_those_of_the_system() {
    let mapped = spec(Function::FirstTouch, 65_536);
    assert_eq!(mapped.check_pages(65_536), Ok(()));
    let short = CopySpec { bytes: 4_096, ..mapped.clone() };
    assert_eq!(short.check_pages(4_096), Ok(()));
    let absent = short.check_pages(65_536).unwrap_err();
    assert!(matches!(&absent, ArmError::Absent { .. }), "{absent}");
    assert!(absent.to_string().contains("pages of 65536 bytes"), "{absent}");
    let part = CopySpec { bytes: 100, ..mapped };
    assert!(matches!(part.check_pages(65_536), Err(ArmError::Spec { .. })));
}

/// An ordinary file that stands for a device's memory.
pub(super) struct Stand(pub(super) PathBuf);

impl Stand {
    pub(super) fn of(name: &str, bytes: &[u8]) -> Self {
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

fn published(threads: usize, runs: usize) -> PublishedSpec {
    PublishedSpec {
        function: 0,
        bytes: 4_096,
        before: vec![64],
        runs,
        threads,
        source: Kind::Heap,
        target: Kind::Heap,
        content: Content::Seeded(7),
        folder: std::env::temp_dir(),
    }
}

// One of the published functions is written for this processor alone.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
#[test]
fn a_panic_of_who_asks_leaves_no_copy_under_way() {
    let mut arm = PublishedArm::prepare(&published(2, 5_000)).unwrap();
    let asks = || arm.sample_while(0.0, &mut || panic!("asked"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(asks)).is_err());
    // Its pool is empty and works on.
    let sample = arm.sample(0.0).unwrap();
    assert_eq!(sample.operations, 5_000);
}

#[test]
fn a_length_of_nothing_before_is_refused() {
    let error = PublishedArm::prepare(&PublishedSpec { before: vec![64, 0], ..published(0, 5) });
    let told = error.err().unwrap().to_string();
    assert!(told.contains("bytes before of 0: right would be 1 to 4096"), "{told}");
}
