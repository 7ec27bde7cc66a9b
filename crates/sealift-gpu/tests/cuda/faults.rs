//! What each kind of fault is told as.

use super::load::{KeyRing, gpu, impatient, raw_keys, seal_and_open, session, sessions, worker};
use fake_cuda::Fake;
use sealift_core::{Batch, Column, DeviceError, KeyLength, OwnedOutput, Work};
use sealift_gpu::gpu::{Gpu, KEY_BYTES, KEY_SLOTS, KeysAt, Lane, Launch, Room, Slab};
use sealift_gpu::variant::{Kernel, Tables, Variant};
use sealift_gpu::{GpuError, Settings, Worker};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

fn lane(fake: &Fake) -> (Arc<dyn Gpu>, Box<dyn Lane>) {
    let gpu = gpu(fake).unwrap();
    let lane = gpu.lane().unwrap();
    (gpu, lane)
}

/// A launch over one message of zeros: a seal of nothing, without a nonce.
fn launch() -> Launch {
    Launch {
        program: Variant { key: KeyLength::Aes128, tables: Tables::FourForEachLane }.into(),
        kernel: Kernel::Many,
        keys: KeysAt::Lane,
        messages: 1,
        pieces: 0,
        groups: 1,
        group_items: 32,
    }
}

/// Room for a message, which is all zeros but for its key.
fn room() -> Room {
    [Slab::Keys, Slab::Input, Slab::Messages, Slab::Output]
        .into_iter()
        .fold(Room::default(), |room, slab| room.with(slab, 4_096))
}

#[test]
fn memory_that_is_not_there_is_told_with_its_use_and_the_lane_keeps_what_it_had() {
    let fake = Fake::new().unwrap();
    fake.plan("memory=1000000");
    let (_gpu, mut lane) = lane(&fake);
    lane.reserve(&Room::default().with(Slab::Input, 100_000)).unwrap();
    lane.host().input[..3].copy_from_slice(b"abc");
    let error = lane.reserve(&Room::default().with(Slab::Input, 2_000_000)).unwrap_err();
    let GpuError::OutOfMemory { device, what: "input", bytes } = &error else { panic!("{error}") };
    assert_eq!(device, "fake");
    assert!(*bytes >= 2_000_000 && error.to_string().contains("split the batch"), "{error}");
    assert_eq!(lane.host().input[..3], *b"abc");
    lane.write(Slab::Input, 100_000).unwrap();
    lane.wait(MINUTE).unwrap();
    assert_eq!(fake.report().of("device_memories"), 2, "the table and the input");
}

#[test]
fn pinned_memory_that_is_not_there_is_told_the_same_way() {
    let fake = Fake::new().unwrap();
    let (_gpu, mut lane) = lane(&fake);
    fake.plan("cuMemHostAlloc@2=2");
    let error = lane.reserve(&room()).unwrap_err();
    assert!(matches!(error, GpuError::OutOfMemory { what: "input", .. }), "{error}");
    lane.reserve(&room()).unwrap();
}

#[test]
fn a_slab_that_grows_is_wiped_first_on_both_sides() {
    let fake = Fake::new().unwrap();
    let (_gpu, mut lane) = lane(&fake);
    lane.reserve(&Room::default().with(Slab::Input, 5_000)).unwrap();
    lane.host().input[..5_000].fill(0x77);
    lane.write(Slab::Input, 5_000).unwrap();
    lane.wait(MINUTE).unwrap();
    lane.reserve(&Room::default().with(Slab::Input, 5_000_000)).unwrap();
    let report = fake.report();
    assert_eq!((report.of("dirty_device_bytes"), report.of("dirty_pinned_bytes")), (0, 0));
    assert!(lane.host().input.len() >= 5_000_000);
    assert!(lane.host().input.iter().all(|byte| *byte == 0));
}

#[test]
fn wiping_leaves_zeros_on_both_sides() {
    let fake = Fake::new().unwrap();
    let (_gpu, mut lane) = lane(&fake);
    lane.reserve(&room()).unwrap();
    lane.host().input[..4_096].fill(0x77);
    lane.write(Slab::Input, 4_096).unwrap();
    lane.wait(MINUTE).unwrap();
    assert_eq!(fake.report().of("held_bytes"), 4_096);
    lane.wipe().unwrap();
    assert_eq!(fake.report().of("held_bytes"), 0);
    // What comes back now is what the device's side holds.
    lane.host().output.fill(0x77);
    lane.read(Slab::Input, 4_096).unwrap();
    lane.wait(MINUTE).unwrap();
    assert!(lane.host().input[..4_096].iter().all(|byte| *byte == 0));
}

#[test]
fn a_kernel_that_does_not_start_is_told_by_its_name_and_the_next_one_works() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    seal_and_open(&worker, &raw_keys()).unwrap();
    fake.plan("cuLaunchKernel@1=701");
    let error = seal_and_open(&worker, &raw_keys()).unwrap_err().to_string();
    assert!(error.contains("did not start kernel many"), "{error}");
    assert!(error.contains("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"), "{error}");
    assert_eq!(worker.broken(), None);
    seal_and_open(&worker, &raw_keys()).unwrap();
}

#[test]
fn a_kernel_that_fails_loses_the_device_for_good() {
    let fake = Fake::new().unwrap();
    let (gpu, mut lane) = lane(&fake);
    lane.reserve(&room()).unwrap();
    let descriptor = lane.host().messages;
    // Its text lies behind the input.
    descriptor[12..16].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    descriptor[32..36].copy_from_slice(&16_u32.to_le_bytes());
    for slab in [Slab::Keys, Slab::Input, Slab::Messages] {
        lane.write(slab, 4_096).unwrap();
    }
    lane.launch(&launch()).unwrap();
    let error = lane.wait(MINUTE).unwrap_err();
    assert!(error.is_loss() && matches!(error, GpuError::Lost { .. }), "{error}");
    let said = "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access";
    assert!(error.to_string().contains(said), "{error}");
    for again in [lane.wait(MINUTE).map(drop), lane.wipe(), gpu.lane().map(drop)] {
        assert_eq!(again.unwrap_err(), error, "the first loss explains all");
    }
    assert_eq!(gpu.write_keys(0, &[0; KEY_BYTES]).unwrap_err(), error);
    drop((lane, gpu));
    assert_eq!(fake.report().of("pinned_memories"), 0);
}

#[test]
fn a_lost_device_says_that_it_is_broken() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    seal_and_open(&worker, &sessions()).unwrap();
    fake.plan("cuEventQuery@2=214!");
    let error = seal_and_open(&worker, &sessions()).unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_ECC_UNCORRECTABLE (214)"), "{error}");
    assert_eq!(worker.broken(), Some(error.clone()));
    assert_eq!(seal_and_open(&worker, &raw_keys()).unwrap_err(), error);
}

#[test]
fn a_key_that_was_not_overwritten_is_tried_again() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    let held = || fake.report().of("held_device_bytes");
    seal_and_open(&worker, &raw_keys()).unwrap();
    worker.release();
    let table = held();
    let retire: fn(&Worker) = |worker| worker.retire(session(1));
    let release: fn(&Worker) = Worker::release;
    for (first, then) in [(retire, release), (release, retire)] {
        seal_and_open(&worker, &sessions()).unwrap();
        fake.plan("cuMemcpyHtoDAsync_v2@1=1");
        first(&worker);
        assert_eq!((fake.report().of("cuMemcpyHtoDAsync_v2"), worker.broken()), (1, None));
        assert!(held() > table);
        then(&worker);
        assert_eq!(held(), table);
    }
}

#[test]
fn a_device_that_is_lost_while_a_key_is_overwritten_says_that_it_is_broken() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    seal_and_open(&worker, &sessions()).unwrap();
    fake.plan("cuEventQuery@1=719!");
    worker.retire(session(1));
    let broken = worker.broken().unwrap();
    assert!(broken.to_string().contains("CUDA_ERROR_LAUNCH_FAILED (719)"), "{broken}");
    assert_eq!(seal_and_open(&worker, &raw_keys()).unwrap_err(), broken);
}

#[test]
fn a_program_that_the_driver_does_not_take_is_told_with_what_to_do() {
    for (plan, code, said) in [
        ("driver=11040", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", "install a newer driver"),
        ("cuModuleLoadDataEx@1=209", "CUDA_ERROR_NO_BINARY_FOR_GPU (209)", "for newer devices"),
        ("cuModuleLoadDataEx@1=218", "CUDA_ERROR_INVALID_PTX (218)", "says nothing more"),
        ("cuModuleLoadDataEx@1=221", "CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)", "ptxjitcompiler"),
    ] {
        let fake = Fake::new().unwrap();
        fake.plan(plan);
        let error = seal_and_open(&worker(gpu(&fake).unwrap()), &raw_keys()).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("does not take program aes"), "{error}");
        assert!(error.contains(code) && error.contains(said), "{error}");
    }
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let fake = Fake::new().unwrap();
    let (gpu, mut lane) = lane(&fake);
    lane.reserve(&room()).unwrap();
    let len = lane.host().input.len();
    let refused = [
        lane.write(Slab::Input, len + 1).unwrap_err(),
        lane.read(Slab::Output, 1 << 30).unwrap_err(),
        lane.write(Slab::Pieces, 1).unwrap_err(),
        gpu.write_keys(KEY_SLOTS - 1, &[1; 2 * KEY_BYTES]).unwrap_err(),
        gpu.write_keys(usize::MAX, &[1; KEY_BYTES]).unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error, GpuError::TooLong { .. }), "{error}");
    }
    let unmade = Launch { kernel: Kernel::LongPieces, ..launch() };
    let error = lane.launch(&unmade).unwrap_err().to_string();
    assert!(error.contains("a kernel needs pieces, for which there is no room"), "{error}");
    let keys = Launch { keys: KeysAt::Device, ..launch() };
    gpu.write_keys(KEY_SLOTS - 1, &[1; KEY_BYTES]).unwrap();
    lane.launch(&keys).unwrap();
}

#[test]
fn a_program_of_tests_alone_is_not_made_for_cuda_devices() {
    let fake = Fake::new().unwrap();
    let (_gpu, mut lane) = lane(&fake);
    let program = Variant { key: KeyLength::Aes128, tables: Tables::OneShared }.into();
    let error = lane.launch(&Launch { program, ..launch() }).unwrap_err().to_string();
    assert!(error.contains("aes128-tables1-copies1 is not made for CUDA devices"), "{error}");
}

#[test]
fn every_program_that_is_shipped_is_given_what_it_needs() {
    for tables in [Tables::None, Tables::OneForEachLane, Tables::FourForEachLane] {
        let fake = Fake::new().unwrap();
        let gpu = gpu(&fake).unwrap();
        let worker = Worker::new("cuda".to_owned(), gpu, Settings::new(tables));
        seal_and_open(&worker, &sessions()).unwrap();
        assert_eq!(fake.report().of("cuModuleLoadDataEx"), 3, "a program for each key length");
    }
}

#[test]
fn a_batch_whose_rounds_find_memory_for_one_lane_alone_is_worked_in_it() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    let texts: Vec<_> = (0..96).map(|message| vec![message; 64 << 10]).collect();
    let column = Column::Scattered(texts.iter().map(|text| text[..].into()).collect());
    let batch = Batch::seal(96, session(0), Column::Same((&[1; 12]).into()), column);
    let [made, expected] = [7_000_000, u64::MAX].map(|bytes: u64| {
        fake.plan(&format!("memory={bytes}"));
        let mut output = OwnedOutput::for_batch(&batch).unwrap();
        worker.run(&mut Work::new(&batch, output.as_output(), &KeyRing).unwrap()).unwrap();
        (fake.report().of("streams"), output)
    });
    assert_eq!((made.0, expected.0), (2, 4), "lanes, and the queue that fills what they share");
    for message in 0..96 {
        assert!(made.1.text_of(message) == expected.1.text_of(message), "message {message}");
        assert_eq!(made.1.tag_of(message), expected.1.tag_of(message));
    }
}

#[test]
fn batches_that_find_no_memory_beside_each_other_are_worked_one_after_the_other() {
    let fake = Fake::new().unwrap();
    let worker = impatient(gpu(&fake).unwrap(), Duration::from_secs(600));
    worker.prepare().unwrap();
    fake.plan("memory=12000000");
    let seal = |bytes| seal_one(&worker, &vec![7; bytes]);
    thread::scope(|scope| {
        let all: Vec<_> = (0..6).map(|_| scope.spawn(|| seal(3 << 20))).collect();
        all.into_iter().for_each(|one| one.join().unwrap().unwrap());
    });
    let lanes = fake.report().of("cuStreamCreate");
    assert!(lanes < 60, "{lanes} lanes were made for six batches");
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !ends.load(Relaxed) {
                    seal(1_000).unwrap()
                }
            });
        }
        let began = Instant::now();
        let error = seal(12 << 20).unwrap_err();
        ends.store(true, Relaxed);
        assert!(error.to_string().contains("split the batch"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    });
}

#[test]
fn a_batch_to_hold_gets_the_memory_of_lanes_that_nobody_uses() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    worker.prepare().unwrap();
    fake.plan("memory=12000000");
    let text = vec![7; 3 << 20];
    seal_one(&worker, &text).unwrap();
    let batch = one(&text);
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    let mut work = Work::new(&batch, output.as_output(), &KeyRing).unwrap();
    worker.hold(&mut work).unwrap().read().unwrap();
}

fn one(text: &[u8]) -> Batch<'_> {
    Batch::seal(1, session(0), Column::Same((&[1; 12]).into()), Column::Same(text.into()))
}

fn seal_one(worker: &Worker, text: &[u8]) -> Result<(), DeviceError> {
    let batch = one(text);
    let mut output = OwnedOutput::for_batch(&batch).unwrap();
    worker.run(&mut Work::new(&batch, output.as_output(), &KeyRing).unwrap()).map(drop)
}

#[test]
fn programs_are_built_ahead_once_and_one_that_does_not_build_is_told() {
    let fake = Fake::new().unwrap();
    let worker = worker(gpu(&fake).unwrap());
    fake.plan("cuModuleLoadDataEx@2=218");
    let error = worker.prepare().unwrap_err().to_string();
    assert!(error.contains("does not take program aes"), "{error}");
    fake.plan("");
    worker.prepare().unwrap();
    assert_eq!(fake.report().of("cuModuleLoadDataEx"), 1, "the others were built");
    fake.plan("");
    seal_and_open(&worker, &raw_keys()).unwrap();
    assert_eq!(fake.report().of("cuModuleLoadDataEx"), 0);
}
