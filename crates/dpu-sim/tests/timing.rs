//! What takes how long.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::{Counters, Dpu, Outcome, Region, Timing, assemble};
use std::fmt::Write;

fn run(source: &str, timing: Timing) -> Dpu {
    let program = assemble(source).unwrap();
    let mut dpu = Dpu::new(timing);
    dpu.load(&program);
    dpu.boot();
    assert_eq!(dpu.run(10_000_000), Outcome::Done);
    dpu
}

/// Boots so many tasklets, each of which does a loop of 100 times 50 instructions.
fn loops(tasklets: u32) -> Counters {
    let mut source = format!(
        "jeq id, {last}, work
         boot id, 1
         work: move r0, 100
         again:
        ",
        last = tasklets - 1
    );
    for _ in 0..48 {
        source.push_str("xor r2, r3, r4\n");
    }
    source.push_str("add r0, r0, -1\njneq r0, 0, again\nstop\n");
    run(&source, Timing::default()).counters()
}

#[test]
fn one_tasklet_issues_every_eleventh_cycle() {
    let counters = loops(1);
    let expected = (counters.instructions - 1) * 11 + 1;
    assert_eq!(counters.cycles, expected);
    assert_eq!(counters.idle.revolver, (counters.instructions - 1) * 10);
}

#[test]
fn eleven_tasklets_and_more_issue_one_instruction_a_cycle() {
    for tasklets in 2..=24 {
        let counters = loops(tasklets);
        let cycles = u64::from(11_u32.div_ceil(1).max(tasklets));
        let best = counters.instructions * cycles / u64::from(tasklets);
        // Booting, one tasklet after the other, takes a little.
        let slack = 400;
        assert!(counters.cycles >= best - slack, "{tasklets}: {counters:?}");
        assert!(counters.cycles <= best + slack, "{tasklets}: {counters:?}");
        assert_eq!(counters.cycles, counters.instructions + counters.idle.total());
    }
}

/// Times a transfer as document 000 did: between two readings of the timer, with five instructions of its runtime.
fn timed_transfer(mnemonic: &str, bytes: u32, granularity: u32) -> u32 {
    let source = format!(
        "        move r1, 3
                 time_cfg r1
                 move r2, buffer
                 move r3, table
                 time r4
                 nop
                 nop
                 {mnemonic} r2, r3, {words}
                 nop
                 nop
                 nop
                 time r5
                 sub r5, r5, r4
                 stop
         .bss
         buffer: .zero 2048
         .section .mram
         table:  .zero 2048",
        words = bytes / 8 - 1
    );
    let timing = Timing { timer_granularity: granularity, ..Timing::default() };
    run(&source, timing).registers(0).unwrap()[5] * granularity
}

#[test]
fn transfers_take_as_long_as_document_000_timed() {
    for (bytes, cycles) in [(256, 271), (512, 399), (1024, 655), (2048, 1199)] {
        assert_eq!(timed_transfer("ldma", bytes, 1), cycles);
        assert_eq!(timed_transfer("sdma", bytes, 1), cycles - 16);
    }
}

#[test]
fn the_timer_counts_in_sixteens() {
    for (bytes, published) in [(256, 272_i64), (512, 400), (1024, 656), (2048, 1200)] {
        let timed = i64::from(timed_transfer("ldma", bytes, 16));
        assert_eq!(timed % 16, 0);
        assert!((timed - published).abs() <= 16, "{bytes}: {timed}");
    }
}

#[test]
fn transfers_wait_for_each_other_and_other_tasklets_go_on() {
    let source = "
            jeq id, 3, work
            boot id, 1
        work:
            jeq id, 3, compute
            move r2, buffer
            move r3, table
            ldma r2, r3, 255
            stop
        compute:
            move r0, 200
        again:
            add r0, r0, -1
            jneq r0, 0, again
            stop
        .bss
        buffer: .zero 2048
        .section .mram
        table: .zero 2048
    ";
    let counters = run(source, Timing::default()).counters();
    assert_eq!((counters.transfers, counters.mram_read_bytes), (3, 3 * 2048));
    // Three transfers of 1,133 cycles, one after the other; the loop of 400 instructions ends later.
    assert!((4400..4600).contains(&counters.cycles), "{counters:?}");
    assert!(counters.idle.dma > 2500, "{counters:?}");
}

#[test]
fn the_hazard_costs_a_cycle_where_registers_meet_in_a_bank() {
    let cycles = |body: &str| {
        let mut source = String::new();
        for _ in 0..100 {
            let _ = writeln!(source, "{body}");
        }
        source.push_str("stop\n");
        let timing = |hazard| Timing { hazard, ..Timing::default() };
        let plain = run(&source, timing(false)).counters();
        let with = run(&source, timing(true)).counters();
        assert_eq!(plain.instructions, with.instructions);
        with.idle.hazard
    };
    assert_eq!(cycles("xor r1, r2, r3"), 99);
    assert_eq!(cycles("xor r1, r2, r4"), 100);
    assert_eq!(cycles("add r1, r2, 5"), 0);
}

#[test]
fn what_was_executed_is_counted_by_mnemonic() {
    let dpu = run("move r0, 3\nagain: add r0, r0, -1\njneq r0, 0, again\nstop", Timing::default());
    let counted = dpu.counters().mnemonics;
    let named = |name: &str| counted.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((named("add"), named("jnz"), named("stop")), (3, 3, 1));
    let mut nothing = [0; 8];
    dpu.read(Region::Mram, 0, &mut nothing).unwrap();
}
