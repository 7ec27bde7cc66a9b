//! The host's side.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::host::{DpuSet, HostError, Launch, Push};
use dpu_sim::{Preset, assemble, elf};

/// Doubles each of eight words in MRAM.
const DOUBLE: &str = "
        move r2, buffer
        move r3, words
        ldma r2, r3, 7
        move r4, 16
    again:
        lw r0, r2, 0
        add r0, r0, r0
        sw r2, 0, r0
        add r2, r2, 4
        add r4, r4, -1
        jneq r4, 0, again
        move r2, buffer
        sdma r2, r3, 7
        move r0, greeting
        tell r0, 1
        tell r4, 0
        stop
    .data
    greeting: .asciz \"done\\n\"
    .p2align 3
    factor: .long 2, 0
    .bss
    .p2align 3
    buffer: .zero 64
    .section .mram
    words: .zero 64
";

fn set(dpus: usize) -> DpuSet {
    let preset = Preset::named("upmem-640-266").unwrap();
    let mut set = DpuSet::alloc(dpus, &preset).unwrap();
    set.load_from_memory(&elf::write(&assemble(DOUBLE).unwrap())).unwrap();
    set
}

#[test]
fn each_dpu_works_on_what_was_pushed_to_it() {
    let mut set = set(19);
    for dpu in 0..19 {
        let words = (0..16_u8).flat_map(|word| [word, u8::try_from(dpu).unwrap(), 0, 0]).collect();
        set.prepare_xfer(dpu, words).unwrap();
    }
    let sent = set.push_xfer(Push::ToDpus, "words", 0, 64).unwrap();
    assert_eq!(sent.bytes, 19 * 64);
    assert!(sent.copy_seconds > 0.0);
    let bus_seconds = set.preset().transfers.seconds(Push::ToDpus, 19, 19 * 64);
    assert!((sent.bus_seconds / bus_seconds - 1.0).abs() < 1e-9);
    set.launch(Launch::Asynchronous).unwrap();
    set.sync().unwrap();
    assert!(set.status().done);
    assert_eq!(set.ended(), 19);
    set.push_xfer(Push::FromDpus, "words", 0, 64).unwrap();
    for dpu in 0..19 {
        let words = set.take_xfer(dpu).unwrap();
        for (word, bytes) in words.chunks(4).enumerate() {
            assert_eq!(usize::from(bytes[0]), 2 * word);
            assert_eq!(usize::from(bytes[1]), 2 * dpu);
        }
    }
    assert_eq!(set.log_read(18).unwrap(), "done\ntasklet 0: 0 (0x0)\n");
    assert!(set.simulated_seconds().unwrap() > 0.0);
}

#[test]
fn broadcast_and_copies_reach_what_they_name() {
    let mut set = set(3);
    set.broadcast_to("words", 8, &[7; 16]).unwrap();
    set.copy_to(1, "words", 8, &[9; 8]).unwrap();
    let mut out = [0; 24];
    set.copy_from(1, "words", 0, &mut out).unwrap();
    assert_eq!(out[..8], [0; 8]);
    assert_eq!(out[8..16], [9; 8]);
    assert_eq!(out[16..], [7; 8]);
}

#[test]
fn what_a_host_does_wrong_is_refused_before_anything_is_done() {
    let preset = Preset::named("upmem-640-267").unwrap();
    for dpus in [0, 641] {
        assert!(matches!(DpuSet::alloc(dpus, &preset), Err(HostError::Allocation { .. })));
    }
    let mut empty = DpuSet::alloc_ranks(1, &preset).unwrap();
    assert_eq!((empty.dpus(), empty.ranks()), (64, 1));
    assert_eq!(empty.launch(Launch::Synchronous), Err(HostError::NotLoaded));
    let mut set = set(2);
    let error = |error: Result<(), HostError>| error.unwrap_err().to_string();
    assert_eq!(error(set.copy_to(2, "words", 0, &[0; 8])), "there is no DPU 2; the set has 2");
    assert_eq!(error(set.copy_to(0, "word", 0, &[0; 8])), "the program has no symbol word");
    assert_eq!(error(set.copy_to(0, "words", 60, &[0; 8])), "8 bytes at 60 of words, which has 64");
    assert!(error(set.copy_to(0, "words", 4, &[0; 8])).contains("multiples of 8"));
    let nothing = set.push_xfer(Push::ToDpus, "words", 0, 64);
    assert_eq!(nothing, Err(HostError::NothingPrepared));
    set.prepare_xfer(1, vec![0; 8]).unwrap();
    let short = set.push_xfer(Push::ToDpus, "words", 0, 64);
    assert_eq!(short, Err(HostError::Prepared { dpu: 1, prepared: 8, length: 64 }));
}

#[test]
fn a_fault_and_an_endless_program_are_told_with_the_dpu() {
    let preset = Preset::named("upmem-2560-350").unwrap();
    let mut set = DpuSet::alloc(4, &preset).unwrap();
    let program = "lw r0, zero, which\njeq r0, 1, bad\nagain: jeq r0, 0, again\nstop\nbad: lw r1, one, 0\n.data\nwhich: .long 5";
    set.load(&assemble(program).unwrap()).unwrap();
    set.copy_to(2, "which", 0, &1_u32.to_le_bytes()).unwrap();
    let error = set.launch(Launch::Synchronous).unwrap_err();
    assert!(error.to_string().starts_with("DPU 2: tasklet 0 at instruction 4"), "{error}");
    assert_eq!(set.status().faults.len(), 1);
    set.copy_to(2, "which", 0, &5_u32.to_le_bytes()).unwrap();
    set.copy_to(3, "which", 0, &0_u32.to_le_bytes()).unwrap();
    set.set_instructions_max(10_000);
    let error = set.launch(Launch::Synchronous).unwrap_err();
    assert_eq!(error, HostError::Endless { dpu: 3, instructions: 10_000 });
    set.set_instructions_max(u64::MAX);
    set.launch(Launch::Asynchronous).unwrap();
    assert_eq!(set.load(&assemble("stop").unwrap()), Err(HostError::Running));
    set.cancel();
    assert_eq!(set.sync(), Err(HostError::Cancelled));
}

#[test]
fn launches_add_up_and_their_faults_are_seen_before_sync() {
    let preset = Preset::named("upmem-640-266").unwrap();
    let mut set = DpuSet::alloc(2, &preset).unwrap();
    set.set_threads(1_000_000);
    let source = "lw r0, zero, turns\n1: add r0, r0, -1\njgts r0, 0, 1b\njeq r0, 0, 1f\nbkp\n1: stop\n.data\nturns: .long 1";
    set.load(&assemble(source).unwrap()).unwrap();
    let mut took = 0.0;
    for (first, second) in [(1000_u32, 1_u32), (1, 1000)] {
        set.copy_to(0, "turns", 0, &first.to_le_bytes()).unwrap();
        set.copy_to(1, "turns", 0, &second.to_le_bytes()).unwrap();
        set.launch(Launch::Synchronous).unwrap();
        let before = took;
        took = set.simulated_seconds().unwrap();
        assert!((took - before) * 266e6 > 20_000.0);
    }
    set.copy_to(1, "turns", 0, &(-5_i32).to_le_bytes()).unwrap();
    set.launch(Launch::Asynchronous).unwrap();
    while !set.status().done {
        std::thread::yield_now();
    }
    assert_eq!(set.status().faults.len(), 1);
    assert!(set.sync().is_err());
}

#[test]
fn transfers_of_odd_lengths_reach_wram_and_a_wiped_dpu_holds_nothing() {
    let preset = Preset::named("upmem-640-266").unwrap();
    let program = assemble("stop\n.bss\nroom: .zero 9000").unwrap();
    let mut set = DpuSet::alloc(11, &preset).unwrap();
    set.load(&program).unwrap();
    let bytes = |dpu: usize| -> Vec<u8> {
        (0..8204).map(|at: usize| (at * 3 + dpu).to_le_bytes()[0]).collect()
    };
    for dpu in [0, 9] {
        set.prepare_xfer(dpu, bytes(dpu)).unwrap();
    }
    let sent = set.push_xfer(Push::ToDpus, "room", 4, 8204).unwrap();
    assert_eq!(sent.bytes, 2 * 8204);
    let mut out = vec![0; 8204];
    for dpu in [0, 9] {
        set.copy_from(dpu, "room", 4, &mut out).unwrap();
        assert_eq!(out, bytes(dpu));
        set.wipe(dpu, &program).unwrap();
        set.copy_from(dpu, "room", 4, &mut out).unwrap();
        assert!(out.iter().all(|byte| *byte == 0));
    }
    set.copy_from(5, "room", 4, &mut out).unwrap();
    assert!(out.iter().all(|byte| *byte == 0));
}

/// Starts itself again: how large a thread's stack is can be said to a whole process only.
#[test]
fn dpus_that_get_no_thread_stay_as_they_are() {
    let setting = ("RUST_MIN_STACK", (1_u64 << 48).to_string());
    if std::env::var(setting.0).as_ref() != Ok(&setting.1) {
        let name = "dpus_that_get_no_thread_stay_as_they_are";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", name, "--nocapture"]).env(setting.0, setting.1);
        let ended = child.output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains("1 passed"), "{ended:?}");
        return;
    }
    let mut set = set(3);
    set.copy_to(2, "factor", 0, &[7; 8]).unwrap();
    for _ in 0..2 {
        let refused = set.launch(Launch::Synchronous).unwrap_err();
        assert!(matches!(refused, HostError::NoThread { .. }), "{refused}");
    }
    let mut kept = [0; 8];
    set.copy_from(2, "factor", 0, &mut kept).unwrap();
    assert_eq!(kept, [7; 8]);
}
