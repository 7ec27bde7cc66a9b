//! What `make oclgrind` runs: every kernel of every program, in a simulator that looks for races.
//!
//! Oclgrind is a driver of OpenCL that interprets kernels. Each test starts itself again with that driver alone, and reads
//! what it wrote down.

use super::lanes::count_and_wipe;
use super::load::{bytes, device, in_rounds, seal_and_open, seal_and_open_all};
use sealift_core::KeyLength;
use sealift_gpu::gpu::{Gpu, KEY_BYTES, KeysAt, Launch, Room, Slab};
use sealift_gpu::message::{
    LANES, MANY_BYTES, MESSAGE_BYTES, Message, Operation, UNIT_BYTES, Verdict,
};
use sealift_gpu::variant::{Kernel, Tables, Variant};
use sealift_gpu::{Settings, Worker};
use std::path::Path;
use std::process::{Command, id};
use std::time::Duration;
use std::{env, fs, thread};

#[test]
#[ignore = "`make oclgrind` runs it"]
fn no_kernel_races() {
    if let Some(program) = watched() {
        return work(program);
    }
    let workers = thread::available_parallelism().map_or(1, Into::into);
    let watch = |first: usize| {
        for (program, variant) in Variant::all().enumerate().skip(first).step_by(workers) {
            let found = found(NO_KERNEL, program);
            assert!(found.is_empty(), "{}:\n{found}", variant.name());
        }
    };
    thread::scope(|scope| (0..workers).for_each(|first| _ = scope.spawn(move || watch(first))));
}

#[test]
#[ignore = "`make oclgrind` runs it"]
fn a_planted_race_is_found() {
    if watched().is_some() {
        return plant();
    }
    let found = found(PLANTED, 0);
    sealift_testing::ran("oclgrind");
    assert!(found.contains("data race"), "it said: {found:?}");
}

/// Seals, opens, verifies and counts with a program: lengths about each limit, one or several groups and pieces, tags
/// that are wrong, nonces of both kinds, an aad in pieces.
fn work(program: usize) {
    let variant = Variant::all().nth(program).unwrap();
    let device = device().unwrap();
    let worker = Worker::new("oclgrind".to_owned(), device.clone(), Settings::new(variant.tables));
    let slot = variant.key.bytes() / 8 - 2;
    seal_and_open(&in_rounds(&worker), &[1, 47, 170, MANY_BYTES + 1], &[slot], 12);
    seal_and_open(&in_rounds(&worker), &[33], &[slot], 60);
    seal_and_open_all(&in_rounds(&worker), &[(MANY_BYTES + 1, 20)], &[slot], 12);
    count_and_wipe(&device, variant, 100, false);
    count_and_wipe(&device, variant, 600, true);
}

/// Works two messages whose texts come out in one place.
fn plant() {
    let mut lane = device().unwrap().lane().unwrap();
    let message = |number: u32| Message {
        key: 0,
        nonce: number,
        aad: 0,
        text: 2,
        expected: 0,
        out: 0,
        result: 1 + 2 * number,
        operation: Operation::CounterMode,
        text_bytes: 16,
        aad_bytes: 0,
        nonce_bytes: 16,
        tag_bytes: 0,
        first_piece: 0,
        pieces: 0,
    };
    let units = [3, 1 + 2 * Verdict::UNITS];
    let room = Room::default()
        .with(Slab::Keys, KEY_BYTES)
        .with(Slab::Input, UNIT_BYTES * units[0])
        .with(Slab::Messages, 2 * MESSAGE_BYTES)
        .with(Slab::Output, UNIT_BYTES * units[1]);
    lane.reserve(&room).unwrap();
    let host = lane.host();
    host.input[..UNIT_BYTES * units[0]].copy_from_slice(&bytes(UNIT_BYTES * units[0], 2));
    let messages = [message(0).bytes(), message(1).bytes()].concat();
    host.messages[..messages.len()].copy_from_slice(&messages);
    lane.write(Slab::Keys, KEY_BYTES).unwrap();
    lane.write(Slab::Input, UNIT_BYTES * units[0]).unwrap();
    lane.write(Slab::Messages, messages.len()).unwrap();
    let launch = Launch {
        program: Variant { key: KeyLength::Aes128, tables: Tables::OneShared }.into(),
        kernel: Kernel::Many,
        keys: KeysAt::Lane,
        messages: 2,
        pieces: 0,
        groups: 1,
        group_items: LANES,
    };
    lane.launch(&launch).unwrap();
    lane.read(Slab::Output, room.of(Slab::Output)).unwrap();
    lane.flush().unwrap();
    lane.wait(Duration::from_secs(60)).unwrap();
}

/// What the test that was started again is to do.
fn watched() -> Option<usize> {
    env::var(WATCHED).ok()?.parse().ok()
}

/// Starts a test again, and gives what Oclgrind found.
fn found(test: &str, number: usize) -> String {
    assert!(Path::new(DRIVER).is_file(), "there is no {DRIVER}: apt-get install oclgrind");
    let log =
        env::temp_dir().join(format!("oclgrind-{}-{test}-{number}.log", id()).replace(':', "-"));
    let mut again = Command::new(env::current_exe().unwrap());
    let ended = again
        .args(["--ignored", "--exact", test])
        .env(WATCHED, number.to_string())
        .env("OCL_ICD_VENDORS", DRIVER)
        .env("OCLGRIND_DATA_RACES", "1")
        .env("OCLGRIND_CHECK_API", "1")
        // Rotations become calls that it does not know.
        .env("OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable")
        .env("OCLGRIND_LOCAL_MEM_SIZE", (128 << 10).to_string())
        .env("OCLGRIND_LOG", &log)
        .output()
        .unwrap();
    let found = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    assert!(ended.status.success(), "{ended:?}\n{found}");
    found
}

const NO_KERNEL: &str = "oclgrind::no_kernel_races";
const PLANTED: &str = "oclgrind::a_planted_race_is_found";
/// The driver, as Debian's package has it.
const DRIVER: &str = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
const WATCHED: &str = "SEALIFT_OCLGRIND_WATCHED";
