//! Programs, right and wrong.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::{Dpu, FaultKind, Outcome, Region, Timing, assemble};

fn start(source: &str) -> Dpu {
    let program = assemble(source).unwrap_or_else(|error| panic!("{error}"));
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    dpu.boot();
    dpu
}

fn registers(source: &str) -> [u32; 24] {
    let mut dpu = start(source);
    assert_eq!(dpu.run(100_000), Outcome::Done);
    dpu.registers(0).unwrap()
}

fn fault(source: &str) -> (FaultKind, u16, u8) {
    match start(source).run(100_000) {
        Outcome::Fault(fault) => (fault.kind, fault.pc, fault.tasklet),
        other => panic!("{other:?}"),
    }
}

#[test]
fn pairs_have_the_upper_word_in_the_even_register() {
    let r = registers(
        "ld d0, zero, value
         sd zero, copy, d0
         lw r2, zero, copy
         lw !big, r3, zero, copy
         add.s d4, r1, -1
         swapd d6, d0
         stop
         .data
         value: .quad 0x1122334455667788
         .bss
         .p2align 3
         copy: .zero 8",
    );
    assert_eq!((r[0], r[1]), (0x1122_3344, 0x5566_7788));
    assert_eq!((r[2], r[3]), (0x5566_7788, 0x8877_6655));
    assert_eq!((r[4], r[5]), (0, 0x5566_7787));
    assert_eq!((r[6], r[7]), (0x5566_7788, 0x1122_3344));
}

#[test]
fn bytes_are_extracted_and_scaled_by_multiplying() {
    let r = registers(
        "move r0, 0x89abcdef
         move r1, 4
         mul_ul_ul r2, r0, r1
         mul_uh_ul r3, r0, r1
         mul_sl_sl r4, r0, r1
         lsl_add r5, r1, r0, 4
         rol r6, r0, 8
         cao r7, r0
         stop",
    );
    assert_eq!((r[2], r[3], r[4]), (0xef * 4, 0xcd * 4, (-0x11_i32 * 4).cast_unsigned()));
    assert_eq!((r[5], r[6], r[7]), (0x9abc_def4, 0xabcd_ef89, 20));
}

#[test]
fn sums_of_two_words_carry() {
    let r = registers(
        "move r0, -1
         add r1, r0, 1
         addc r2, zero, 5
         move r3, 0
         sub r4, r3, 1
         move r6, 9
         subc r5, r6, r3
         stop",
    );
    assert_eq!((r[1], r[2], r[4], r[5]), (0, 6, u32::MAX, 8));
}

#[test]
fn words_are_multiplied_and_divided_step_by_step() {
    let mut source = String::new();
    for (factors, product) in [("3, 7", "r10"), ("777, 1000", "r11"), ("0, 5", "r12")] {
        // The vendor's `__mulsi3`: the smaller factor is used up bit by bit, and zero ends it.
        let (small, large) = factors.split_once(", ").unwrap();
        source += &format!("move r0, {small}\nmove r2, {large}\nmove r1, 0\n");
        for step in 0..32 {
            source += &format!("mul_step d0, r2, d0, {step}, z, 1f\n");
        }
        source += &format!("1: move {product}, r1\n");
    }
    source +=
        "move r0, 6\nmove r1, 40\nmove r3, 1\nmul_step d2, r1, d0, 3\nmove r14, r2\nmove r15, r3\n";
    source += "move r5, 100000\nmove r4, 0\nmove r6, 7\n";
    for step in (0..29).rev() {
        source += &format!("div_step d4, r6, d4, {step}\n");
    }
    let r = registers(&(source + "stop"));
    assert_eq!((r[10], r[11], r[12]), (21, 777_000, 0));
    // A bit that is clear leaves the odd register of the destination alone.
    assert_eq!((r[14], r[15]), (3, 1));
    assert_eq!((r[4], r[5]), (100_000 / 7, 100_000 % 7));
}

#[test]
fn calls_come_back_behind_themselves() {
    let r = registers(
        "        move r0, 1
                 call r23, double
                 call r23, double
                 stop
         double: add r0, r0, r0
                 jump r23",
    );
    assert_eq!(r[0], 4);
}

#[test]
fn conditions_jump_and_set() {
    let r = registers(
        "        move r0, 5
                 sub r1, r0, 5, z
                 sub r2, r0, 6, ltu
                 xor r3, r0, 5, nz
                 jgts r0, -1, over
                 move r4, 1
         over:   add r5, r0, -5, z, end
                 move r4, 2
         end:    stop",
    );
    assert_eq!((r[1], r[2], r[3], r[4], r[5]), (1, 1, 0, 0, 0));
}

#[test]
fn tasklets_boot_stop_resume_and_exclude_each_other() {
    let source = "
                jeq id, 23, work
                boot id, 1
        work:   move r0, 100
        again:  acquire zero, 7, nz, .
                lw r1, zero, sum
                add r1, r1, 1
                sw zero, sum, r1
                release zero, 7, nz, .+1
                add r0, r0, -1
                jneq r0, 0, again
                jneq id, 0, sleep
                move r3, 2400
        await:  lw r1, zero, sum
                jneq r1, r3, await
                move r2, 23
        wake:   resume r2, 0
                add r2, r2, -1
                jneq r2, 0, wake
                stop
        sleep:  stop
                sw id4, marks, 1
                stop
        .bss
        sum:    .zero 4
        marks:  .zero 96
    ";
    let mut dpu = start(source);
    assert_eq!(dpu.run(1_000_000), Outcome::Done);
    let mut bytes = [0; 100];
    dpu.read(Region::Wram, 0, &mut bytes).unwrap();
    assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()), 2400);
    for tasklet in 1..24 {
        assert_eq!(bytes[4 + 4 * tasklet], 1, "tasklet {tasklet}");
    }
}

#[test]
fn faults_say_what_where_and_who() {
    let (misaligned, pc, tasklet) = fault("move r0, 6\nlw r1, r0, 0\nstop");
    assert_eq!(misaligned, FaultKind::Misaligned { address: 6, width: 4 });
    assert_eq!((pc, tasklet), (1, 0));
    let move_16 = |value: u32| format!("move r0, {value}\n");
    for (source, expected) in [
        (move_16(65536) + "lw r1, r0, 0", FaultKind::OutOfBounds { address: 65536, width: 4 }),
        (move_16(65532) + "ld d2, r0, 0", FaultKind::Misaligned { address: 65532, width: 8 }),
        ("bkp".to_owned(), FaultKind::Breakpoint),
        ("fault 9".to_owned(), FaultKind::Raised { number: 9 }),
        ("nop".to_owned(), FaultKind::Invalid { word: 0 }),
        (move_16(4) + "move r1, 0\nldma r0, r1, 0", FaultKind::DmaMisaligned { local: 4, mram: 0 }),
        (
            move_16(65528) + "move r1, 0\nldma r0, r1, 1",
            FaultKind::DmaOutOfBounds { local: 65528, mram: 0, length: 16 },
        ),
        (
            "move r1, 0x0c000000\nldma r0, r1, 0".to_owned(),
            FaultKind::DmaOutOfBounds { local: 0, mram: 0x0c00_0000, length: 8 },
        ),
        (
            "move r1, 0x0bfffff8\nldma r0, r1, 1".to_owned(),
            FaultKind::DmaOutOfBounds { local: 0, mram: 0x0bff_fff8, length: 16 },
        ),
        (
            move_16(0x0100_0000) + "move r1, 0\nsdma r0, r1, 255",
            FaultKind::DmaLength { length: 2056 },
        ),
    ] {
        assert_eq!(fault(&source).0, expected, "{source}");
    }
    let mut dpu = start("jeq id, 2, bad\nboot id, 1\nstop\nbad: move r5, 77\nlw r0, one, 0\n");
    let Outcome::Fault(fault) = dpu.run(1000) else { panic!("no fault") };
    assert_eq!((fault.tasklet, fault.pc, fault.registers[5]), (2, 4, 77));
    assert!(fault.to_string().starts_with("tasklet 2 at instruction 4: 4 bytes at 0x1"));
}

#[test]
fn a_transfer_that_can_not_be_is_told_by_the_programs_addresses_and_which_is_wrong() {
    for (local, mram, told) in [
        (4, 0x0800_0008, "the local address 0x4 and 0x8000008 in MRAM: the local one is not"),
        (8, 0x0800_0004, "the local address 0x8 and 0x8000004 in MRAM: the one in MRAM is not"),
        (4, 4, "the local address 0x4 and 0x4 in MRAM: neither is a multiple of 8"),
        (0, 0x0c00_0000, "16 bytes at 0xc000000, beyond MRAM, which is 0x8000000 to 0xbffffff"),
        (0, 0x0bff_fff8, "16 bytes at 0xbfffff8, beyond MRAM, which is 0x8000000 to 0xbffffff"),
        (65_528, 0x0800_0000, "16 bytes at the local address 0xfff8, beyond the end of that"),
    ] {
        let kind = fault(&format!("move r0, {local}\nmove r1, {mram}\nldma r0, r1, 1\nstop")).0;
        assert!(kind.to_string().contains(told), "{kind}");
    }
}

#[test]
fn tasklets_that_do_not_exist_or_run_already_are_not_booted() {
    for (source, expected, pc, tasklet) in [
        ("boot id, 40\nstop", FaultKind::NoTasklet { number: 40 }, 0, 0),
        ("boot zero, 24\nstop", FaultKind::NoTasklet { number: 24 }, 0, 0),
        ("move r0, 1\nboot id, 0\nstop", FaultKind::Booted { number: 0 }, 1, 0),
        ("jeq id, 1, .+3\nboot id, 1\njump .\nboot zero, 0", FaultKind::Booted { number: 0 }, 3, 1),
        ("boot id, 0, true, 1\nstop", FaultKind::Booted { number: 0 }, 0, 0),
        ("boot id, 0, sz, 1\nstop", FaultKind::Booted { number: 0 }, 0, 0),
        ("boot id, 0, snz, 1\nstop", FaultKind::Booted { number: 0 }, 0, 0),
        ("boot id, 0, spl, 1\nstop", FaultKind::Booted { number: 0 }, 0, 0),
        ("boot id, 0, smi, 1\nstop", FaultKind::Booted { number: 0 }, 0, 0),
        ("move r0, 64\nresume r0, 0\nstop", FaultKind::RunBit { number: 64 }, 1, 0),
        ("move r0, 200\nread_run r0, 0, z, 2\nstop", FaultKind::RunBit { number: 200 }, 1, 0),
    ] {
        assert_eq!(fault(source), (expected, pc, tasklet), "{source}");
    }
    let told = FaultKind::Booted { number: 3 }.to_string();
    assert!(told.starts_with("it boots tasklet 3, which runs already"));
}

#[test]
fn programs_may_ask_who_runs_and_notify_by_bits_that_no_tasklet_has() {
    let r = registers(
        "      boot id, 0, nz, 2
               move r0, 1
               resume id, 0
               resume zero, 40, z, 5
               move r1, 1
               read_run zero, 40, nz, 7
               move r2, 1
               clr_run zero, 40, nz, 9
               move r3, 1
               read_run zero, 40, z, 11
               move r4, 1
               stop",
    );
    assert_eq!(r[..5], [0; 5]);
}

#[test]
fn instructions_out_of_mram_are_executed() {
    // The word of `move r3, 9`, put into IRAM behind a jump.
    let word = assemble("move r3, 9\nstop").unwrap();
    let [first, second] = [word.instructions()[0], word.instructions()[1]];
    let r = registers(&format!(
        "move r0, 80
         move r1, code
         ldmai r0, r1, 1
         jump 10
         .section .mram
         code: .quad {first}, {second}"
    ));
    assert_eq!(r[3], 9);
}

#[test]
fn a_run_that_is_limited_goes_on() {
    let mut dpu = start("again: add r0, r0, 1\njump again");
    assert_eq!(dpu.run(1000), Outcome::Limit);
    assert_eq!(dpu.run(1000), Outcome::Limit);
    assert_eq!(dpu.registers(0).unwrap()[0], 1000);
}

#[test]
fn a_fault_stays_until_the_dpu_is_booted() {
    let mut dpu = start("lw r0, zero, which\njeq r0, 1, 1f\nbkp\n1: stop\n.data\nwhich: .long 0");
    let fault = dpu.run(100);
    assert!(matches!(fault, Outcome::Fault(_)));
    assert_eq!(dpu.run(100), fault);
    dpu.write(Region::Wram, 0, &[1]).unwrap();
    dpu.boot();
    assert_eq!(dpu.run(100), Outcome::Done);
    assert!(!dpu.runs(0) && dpu.next_instruction(0) == Some(4));
}

#[test]
fn what_printf_wrote_is_read() {
    // What the vendor's `printf("%d of %s\\n", 5, "six")` leaves, and `puts("end")`.
    let dpu = start(
        "stop
         .data
         __stdout_buffer_state: .long 48, 0
         .section .mram
         __stdout_buffer: .asciz \"%d%s%s%s\"
         .long 5
         .asciz \" of \", \"six\", \"\\n\"
         .p2align 3
         .asciz \"%s\", \"end\\n\"
         .zero 64",
    );
    assert_eq!(dpu.log().unwrap(), "5 of six\nend\n");
    let full = start(
        "stop\n.data\n__stdout_buffer_state: .long 8, 1\n.section .mram\n__stdout_buffer: .zero 16",
    );
    assert!(full.log().unwrap_err().to_string().contains("the 16 bytes of __stdout_buffer"));
    let wrong = start(
        "stop\n.data\n__stdout_buffer_state: .long 24, 0\n.section .mram\n__stdout_buffer: .zero 16",
    );
    assert!(wrong.log().is_err());
}
