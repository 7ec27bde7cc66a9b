//! What instructions do, one line each.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::{Dpu, Outcome, Timing, assemble};

/// r0 and r1 are set, the line is run, and r2 is looked at.
fn result(r0: u32, r1: u32, line: &str) -> u32 {
    let source = format!("move r0, {r0}\nmove r1, {r1}\nmove r2, 0\n{line}\nstop");
    let program = assemble(&source).unwrap_or_else(|error| panic!("{line}: {error}"));
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    dpu.boot();
    assert_eq!(dpu.run(1000), Outcome::Done, "{line}");
    dpu.registers(0).unwrap()[2]
}

#[test]
fn results_are_those_of_the_vendor() {
    let (a, b) = (0x1234_5678_u32, 0x8765_4321_u32);
    for (r0, r1, line, expected) in [
        (a, b, "nand r2, r0, r1", !(a & b)),
        (a, b, "nor r2, r0, r1", !(a | b)),
        (a, b, "nxor r2, r0, r1", !(a ^ b)),
        (a, b, "orn r2, r0, r1", !a | b),
        (a, b, "andn r2, r0, r1", !a & b),
        (a, b, "not r2, r0", !a),
        (a, b, "neg r2, r0", a.wrapping_neg()),
        (a, b, "rsub r2, r0, r1", b.wrapping_sub(a)),
        (a, b, "sub r2, 10, r0", 10_u32.wrapping_sub(a)),
        (a, 4, "asr r2, r0, r1", a >> 4),
        (b, 4, "asr r2, r0, r1", 0xf876_5432),
        (b, 36, "lsl r2, r0, r1", b << 4),
        (b, 4, "lsl1 r2, r0, r1", b << 4 | 15),
        (b, 4, "lsr1 r2, r0, r1", b >> 4 | 0xf000_0000),
        (b, 4, "lslx r2, r0, r1", 8),
        (b, 4, "lsl1x r2, r0, r1", 0xffff_fff8),
        (b, 4, "lsrx r2, r0, r1", 1 << 28),
        (b, 4, "lsr1x r2, r0, r1", 0x1fff_ffff),
        (b, 0, "lslx r2, r0, r1", 0),
        (b, 4, "rol r2, r0, r1", b.rotate_left(4)),
        (b, 4, "ror r2, r0, r1", b.rotate_right(4)),
        (a, b, "lsl_add r2, r1, r0, 3", b.wrapping_add(a << 3)),
        (a, b, "lsl_sub r2, r1, r0, 3", b.wrapping_sub(a << 3)),
        (a, b, "lsr_add r2, r1, r0, 3", b.wrapping_add(a >> 3)),
        (b, a, "rol_add r2, r1, r0, 3", a.wrapping_add(b.rotate_left(3))),
        (a, 0, "cao r2, r0", a.count_ones()),
        (a, 0, "clz r2, r0", 3),
        (!a, 0, "clo r2, r0", 3),
        (a, 0, "cls r2, r0", 2),
        (0, 0, "cls r2, r0", 31),
        (b, 0, "extsb r2, r0", 0x21),
        (0x80, 0, "extsb r2, r0", 0xffff_ff80),
        (0x8000, 0, "extsh r2, r0", 0xffff_8000),
        (b, 0, "extub r2, r0", 0x21),
        (b, 0, "extuh r2, r0", 0x4321),
        (b, 0, "sats r2, r0", 0x7fff_ffff),
        (a, 0, "sats r2, r0", 0x8000_0000),
        (a, 0x1034_5679, "cmpb4 r2, r0, r1", 0x0001_0100),
        (a, 0x10, "hash r2, r0, r1", 0x54),
        (a, 0, "hash r2, r0, 0", 0x54),
        (0xfe, 0x02fd, "mul_sl_sl r2, r0, r1", 6),
        (0xfe, 0x02fd, "mul_sl_uh r2, r0, r1", (-4_i32).cast_unsigned()),
        (0xfe, 0x02fd, "mul_sl_sh r2, r0, r1", (-4_i32).cast_unsigned()),
        (0xfe00, 0x02fd, "mul_sh_sl r2, r0, r1", 6),
        (0xfe00, 0x02fd, "mul_sh_ul r2, r0, r1", (-2_i32 * 0xfd).cast_unsigned()),
        (0xfe00, 0x02fd, "mul_sh_sh r2, r0, r1", (-4_i32).cast_unsigned()),
        (0xfe00, 0x02fd, "mul_sh_uh r2, r0, r1", (-4_i32).cast_unsigned()),
        (0xfe, 0x02fd, "mul_sl_ul r2, r0, r1", (-2_i32 * 0xfd).cast_unsigned()),
        (0xfe, 0x02fd, "mul_ul_ul r2, r0, r1", 0xfe * 0xfd),
        (0xfe, 0x02fd, "mul_ul_uh r2, r0, r1", 0xfe * 2),
        (0xfe01, 0x02fd, "mul_uh_ul r2, r0, r1", 0xfe * 0xfd),
        (0xfe01, 0x02fd, "mul_uh_uh r2, r0, r1", 0xfe * 2),
        (a, b, "add.u d2, r0, r1", 0),
        (b, 1, "add.s d2, r0, r1", u32::MAX),
        (a, b, "movd d2, d0", a),
        (a, b, "swapd d2, d0", b),
        (a, b, "movd d2, d0, true, l\nmove r2, 1\nl:", a),
        (5, 0, "sub r2, r0, 5, z", 1),
        (5, 0, "sub r2, r0, 5, ?34", 1),
        (5, 0, "sub r2, r0, 5, ?35", 0),
        (5, 0, "xor r2, r0, 5, nz", 0),
    ] {
        assert_eq!(result(r0, r1, line), expected, "{line} of {r0:#x}, {r1:#x}");
    }
}

/// Runs a line that may jump over what sets r2.
fn jumps(r0: u32, r1: u32, line: &str) -> bool {
    result(r0, r1, &format!("{line}\nmove r2, 1\nl:")) == 0
}

#[test]
fn conditions_are_those_of_the_vendor() {
    for (r0, r1, line, expected) in [
        (0x10003, 5, "mul_ul_ul zero, r0, r1, small, l", true),
        (0x103, 5, "mul_ul_ul zero, r0, r1, small, l", false),
        (0x103, 5, "mul_ul_ul zero, r0, r1, large, l", true),
        (1, 32, "lsl zero, r0, r1, sh32, l", true),
        (1, 31, "lsl zero, r0, r1, nsh32, l", true),
        (3, 1, "lsr zero, r0, 1, o, l", true),
        (3, 1, "lsr zero, r0, 1, so, l", true),
        (3, 1, "lsr zero, r0, 1, e, l", false),
        (0, 1, "clz zero, r0, max, l", true),
        (1, 1, "clz zero, r0, nmax, l", true),
        (1, 1, "cls zero, r0, max, l", false),
        (0, 1, "cls zero, r0, max, l", true),
        (0x7fff_ffff, 1, "add zero, r0, r1, ov, l", true),
        (u32::MAX, 1, "add zero, r0, r1, c, l", true),
        (u32::MAX, 1, "add zero, r0, r1, nov, l", true),
        (0x1f, 1, "add zero, r0, r1, nc5, l", false),
        (0x1e, 1, "add zero, r0, r1, nc5, l", true),
        (0x3fff, 1, "add zero, r0, r1, nc14, l", false),
        (0x1fff, 1, "add zero, r0, r1, nc14, l", true),
        (5, 0, "and zero, r0, 2, z, l", true),
        (5, 0, "lsl_add r3, r0, r1, 2, sz, l", true),
        (5, 1, "lsl_add zero, r0, r1, 2, true, l", true),
        (5, 1, "lsl_sub r3, r0, r1, 2, smi, l", false),
        (5, 1, "div_step d4, r1, d0, 0, true, l", true),
        (5, 1, "jgtu r0, r1, l", true),
        (5, 5, "jgeu r0, r1, l", true),
        (u32::MAX, 5, "jlts r0, r1, l", true),
        (u32::MAX, 5, "jles r0, r1, l", true),
        (5, 5, "jneq r0, r1, l", false),
    ] {
        assert_eq!(jumps(r0, r1, line), expected, "{line} of {r0:#x}, {r1:#x}");
    }
}

#[test]
fn words_of_64_bits_are_compared_by_two_instructions() {
    let values = [0, 1, 1 << 31, 1 << 32, (1 << 32) | 1, 1 << 63, u64::MAX, u64::MAX - 1];
    let half = |value: u64, shift: u32| u32::try_from(value >> shift & 0xffff_ffff).unwrap();
    for a in values {
        for b in values {
            let (signed_a, signed_b) = (a.cast_signed(), b.cast_signed());
            for (condition, expected) in [
                ("ltu", a < b),
                ("geu", a >= b),
                ("xleu", a <= b),
                ("xgtu", a > b),
                ("lts", signed_a < signed_b),
                ("ges", signed_a >= signed_b),
                ("xles", signed_a <= signed_b),
                ("xgts", signed_a > signed_b),
                ("xz", a == b),
                ("xnz", a != b),
            ] {
                let line = format!(
                    "move r4, {}\nmove r5, {}\nsub zero, r1, r5\nsubc zero, r0, r4, {condition}, l",
                    half(b, 32),
                    half(b, 0)
                );
                let found = jumps(half(a, 32), half(a, 0), &line);
                assert_eq!(found, expected, "{a:#x} {condition} {b:#x}");
            }
        }
    }
}

#[test]
fn flags_are_left_by_what_does_not_set_them() {
    // A shift and addition tells of the shifted word, and leaves the carry.
    let carried = "move r3, -1\nadd r3, r3, 1\nmove r4, 1\nlsl_add r3, r0, r4, 2\naddc r2, zero, 0";
    assert_eq!(result(0, 0, carried), 1);
    let zero = "lsl_add r3, r0, r1, 2\nsub zero, r1, r1, xz, l\nmove r2, 1\nl:";
    assert_eq!(result(5, 0, zero), 0);
    assert_eq!(result(5, 1, zero), 1);
    // Tasklet 1 wakes tasklet 0, which stopped with the flag set.
    let stopped = "jeq id, 1, wake
        boot id, 1
        sub zero, r0, r0
        stop true, again
        again: sub zero, r0, r0, xz, l
        move r2, 1
        l: stop
        wake: move r3, 9
        more: add r3, r3, -1, nz, more
        resume zero, 0";
    assert_eq!(result(5, 0, stopped), 0);
}

#[test]
fn the_timer_is_configured_by_three_bits() {
    let timed = |configuration: u32| {
        let line = format!(
            "move r3, {configuration}\ntime_cfg r3\n{}time r2",
            "add r4, r4, 1\n".repeat(40)
        );
        result(0, 0, &line)
    };
    assert!(timed(0b1011) > 0);
    assert_eq!(timed(0b1011), timed(0b011));
    assert_eq!(timed(0b111), 0);
}

#[test]
fn stores_write_bytes_halves_words_and_pairs() {
    let stored = |line: &str| {
        let text = format!(
            "{line}\nlw r2, zero, place + 4\n.data\nplace: .long 0x11111111, 0x22222222\n.text\n"
        );
        result(0xaabb_ccdd, 0x3344_5566, &text)
    };
    assert_eq!(stored("move r3, place\nsb r3, 5, r0"), 0x2222_dd22);
    assert_eq!(stored("move r3, place\nsh r3, 4, r0"), 0x2222_ccdd);
    assert_eq!(stored("move r3, place\nsh !big, r3, 4, r0"), 0x2222_ddcc);
    assert_eq!(stored("move r3, place\nsw !big, r3, 4, r0"), 0xddcc_bbaa);
    assert_eq!(stored("move r3, place\nsd r3, 0, d0"), 0xaabb_ccdd);
    assert_eq!(stored("move r3, place\nsd !big, r3, 0, d0"), 0x6655_4433);
    assert_eq!(stored("move r3, place\nsd r3, 0, -2"), u32::MAX);
    assert_eq!(stored("move r3, place\nsw r3, 4, -2"), u32::MAX - 1);
    assert_eq!(stored("move r3, place\nsd_id r3, 0, 6"), 0);
    assert_eq!(stored("move r3, place\nsb r3, 4, 255"), 0x2222_22ff);
}
