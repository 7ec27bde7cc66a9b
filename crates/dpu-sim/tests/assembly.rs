//! Assembly, right and wrong.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::{Dpu, Outcome, Reason, Region, Timing, assemble, assemble_with};

fn registers(source: &str) -> [u32; 24] {
    let program = assemble(source).unwrap_or_else(|error| panic!("{error}"));
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    dpu.boot();
    assert_eq!(dpu.run(100_000), Outcome::Done);
    dpu.registers(0).unwrap()
}

#[test]
fn wrong_assembly_is_told_with_line_and_column() {
    for (source, line, column, part) in [
        ("nop\n  frobnicate r0", 2, 3, "no instruction frobnicate"),
        ("add r0, r24, 1", 1, 9, "r24 is no register"),
        ("ld d1, r0, 0", 1, 4, "d1 is no register"),
        ("add r0, r1", 1, 1, "it takes r, r, number or r, r, r, and then perhaps a condition, or"),
        ("sw r0, zero, x", 1, 1, "it takes r, number, r or r, number, number; r is a register"),
        ("add r0, r1, 300, z, 5", 1, 13, "300 does not fit here: -128 to 127"),
        ("add r1, r0, id", 1, 13, "id is read-only and cannot stand here: r0 to r23 can"),
        ("jeq r2, zero, 0", 1, 9, "zero is read-only and cannot stand here"),
        ("ldma zero, zero, 7", 1, 12, "zero is read-only and cannot stand here"),
        ("ldma zero, zero, 256", 1, 12, "zero is read-only and cannot stand here"),
        (".set r1, 7\nstop", 1, 6, "r1 is a register, and no number can be called so"),
        ("move id, 5", 1, 6, "id is read-only"),
        (".mram", 1, 1, ".mram: this is a section, and .section belongs before its name"),
        (".section 5", 1, 10, "a section's name belongs here"),
        ("jump nowhere", 1, 6, "nothing defines nowhere"),
        ("a: nop\na: nop", 2, 1, "a is defined twice; first in line 1"),
        (".comm room, 8\n\n .comm room, 4", 3, 8, "room is defined twice; first in line 1"),
        (".set a, 1\n.comm a, 4", 2, 7, "a is defined twice; first in line 1"),
        (".data\n nop", 2, 2, "an instruction does not belong into section .data"),
        (".long 1", 1, 7, "data does not belong into section .text"),
        (".frob 1", 1, 1, ".frob: there is no such directive"),
        (".data\n.byte 256", 2, 7, "256 does not fit here"),
        ("ldma r0, r1, 256", 1, 14, "256 does not fit here: 0 to 255"),
        ("add r0 r1, 5", 1, 8, "a comma belongs between operands"),
        (".data\n.ascii \"abc", 2, 8, "this text has no end"),
        (
            ".section .mram.a\n.zero 0x4000000\n.section .mram.b\n.byte 1",
            4,
            7,
            "section .mram.b overflows MRAM: 67,108,865 bytes of 67,108,864",
        ),
        ("nop\n/* never\nended", 2, 1, "this comment has no end"),
        ("add r0, r1, 4, 5", 1, 1, "add does not take these operands"),
        ("add r0, r1, 5,", 1, 15, "an operand belongs behind a comma"),
        ("add r0, r1, %5", 1, 13, "a register belongs behind %"),
        ("sw r0, 0, 65535", 1, 11, "65535 does not fit here: -32768 to 32767"),
        ("jump 1b", 1, 6, "nothing defines 1b"),
        ("1: jump 1f", 1, 9, "nothing defines 1f"),
        ("mov r0, 1", 1, 1, "there is no instruction mov; there are movd, move"),
        (".data\na: .zero b - a\nb:", 2, 10, "b has no value yet"),
        (".set here, .", 1, 6, ". has no value yet"),
        (".comm room, -1", 1, 7, ".comm: a size of 0 or more belongs here"),
        (".comm room, 8, 3", 1, 7, ".comm: this is no power of two"),
        (".data\n.uleb128 5", 2, 1, ".uleb128: only sections for debuggers, as .debug_info, have"),
        (
            "stop\n.section .foo",
            2,
            10,
            "there is no section .foo: .text takes instructions, .data,",
        ),
        (".section .database,\"aw\"\nstop", 1, 10, "there is no section .database"),
        ("", 1, 1, "there is no instruction; the shortest program is `stop`"),
        ("// later\n.data\nx: .long 1\n", 3, 1, "there is no instruction"),
        (".bss\n.zero 65537", 2, 1, "section .bss overflows WRAM: 65,537 bytes of 65,536"),
    ] {
        let error = assemble(source).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{source}: {error}");
        assert!(error.reason.to_string().contains(part), "{source}: {error}");
    }
    let error = assemble(&"nop\n".repeat(4097)).unwrap_err();
    assert_eq!(error.line, 4097);
    assert!(matches!(error.reason, Reason::Overflow { region: Region::Iram, .. }));
    assert!(error.to_string().ends_with("overflows IRAM: 4,097 instructions of 4,096"), "{error}");
    let two = ".data\n.zero 40000\n.bss\n.zero 40000";
    assert!(matches!(assemble(two).unwrap_err().reason, Reason::Overflow { size: 80_000, .. }));
}

#[test]
fn labels_that_are_numbers_are_the_nearest_before_or_behind() {
    let r = registers(
        "       move r0, 3
         1:     add r1, r1, 1
                add r0, r0, -1
                jneq r0, 0, 1b
                jump 1f
                move r1, 100
         1: 2:  add r1, r1, 10
                jltu r1, 40, 2b
                lw r2, zero, 1f
                stop
         .data
                .long 7
         1:     .long 8",
    );
    assert_eq!((r[1], r[2]), (43, 8));
    assert!(assemble("1: stop").unwrap().symbols().iter().all(|symbol| symbol.name != "1:1"));
}

#[test]
fn what_compilers_write_besides_is_taken() {
    let program = assemble(
        "stop
        .local counter
        .comm counter,4,4
        .comm table,64,32
        .section .dpu_host,\"aw\"
        .section \".data.quoted\"
        .rodata
        .section .note.GNU-stack
        .section .llvm_addrsig
        .section .eh_frame
        .section .debug_info,\"\",@progbits
        .uleb128 5
        .sleb128 table-counter",
    );
    let program = program.unwrap();
    let [counter, table] = ["counter", "table"].map(|name| program.symbol(name).unwrap());
    assert_eq!((counter.region, table.region), (Region::Wram, Region::Wram));
    assert_eq!((counter.size, table.offset % 32, table.size), (4, 0, 64));
    assert_eq!(program.size(Region::Wram), u64::from(table.offset) + 64);
}

#[test]
fn numbers_may_be_named_from_outside() {
    let program = assemble_with("move r0, COUNT\nstop", &[("COUNT", 7)]).unwrap();
    assert_eq!(program, assemble("move r0, 7\nstop").unwrap());
    let error = assemble_with("stop\nCOUNT: stop", &[("COUNT", 7)]).unwrap_err();
    assert_eq!((error.line, error.column), (2, 1));
    assert!(error.to_string().ends_with("COUNT is defined twice: it was given from outside, too"));
    for (names, told) in [
        (
            vec![("r1", 7)],
            "r1, given from outside: r1 is a register, and no number can be called so",
        ),
        (vec![("id", 7)], "id, given from outside: id is a register"),
        (vec![("A", 1), ("A", 2)], "A, given from outside: A is defined twice"),
        (vec![("", 1)], "given from outside: this is no name"),
        (vec![("a b", 1)], "a b, given from outside: this is no name"),
        (vec![("/*", 1)], "given from outside: this is no name"),
        (vec![(".", 1)], "given from outside: this is no name"),
        (vec![("1f", 1)], "given from outside: this is no name"),
    ] {
        let error = assemble_with("stop", &names).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn comments_and_texts_are_told_apart() {
    let program = assemble(
        "move r0, 1 // see kernels/*.c
         move r0, 2 /* a comment
         over lines */ move r0, 3
         .data
         text: .ascii \"a/*b//c#d\", \"\\001\\210\\0\\x41\\n\"",
    );
    let program = program.unwrap();
    assert_eq!(program.instructions().len(), 3);
    let (_, bytes) = program.data(Region::Wram).next().unwrap();
    assert_eq!(bytes, b"a/*b//c#d\x01\x88\0A\n");
    let error = assemble("/* \u{e9} */ frob").unwrap_err();
    assert_eq!((error.line, error.column), (1, 10));
}
