//! Nothing panics on any bytes.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::isa::{Instruction, Slot, forms};
use dpu_sim::{Dpu, Preset, Program, Region, Timing, assemble, elf};
use proptest::prelude::*;

/// Text that often is nearly assembly.
fn nearly_assembly() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("add "),
        Just("lw "),
        Just("jeq "),
        Just("ldma "),
        Just(".zero "),
        Just(".long "),
        Just(".section "),
        Just(".mram"),
        Just(".p2align "),
        Just("label: "),
        Just("label"),
        Just("\n"),
        Just(", "),
        Just("r0"),
        Just("d22"),
        Just("zero"),
        Just("("),
        Just(")"),
        Just("-"),
        Just("<<"),
        Just("*"),
        Just("0x7fffffffffffffff"),
        Just("65536"),
        Just("\""),
        Just("'"),
        Just("!big "),
        Just("stop"),
        Just("nz"),
        Just(";"),
        Just("/*"),
        Just("."),
        Just("é"),
        Just("1: "),
        Just("1b"),
        Just("1f"),
        Just("\\777"),
        Just("*/"),
        Just("?3"),
        Just("boot "),
        Just("resume "),
        Just("id"),
        Just(".comm label, 8"),
        Just(".uleb128 "),
        Just(".debug_info"),
        Just("\"a\""),
        Just(".size label, .-label"),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

/// Any word, or an instruction with any operands.
fn word() -> impl Strategy<Value = u64> {
    let operands = prop::collection::vec(any::<prop::sample::Index>(), 6);
    let instruction = (any::<prop::sample::Index>(), operands).prop_map(|(form, indices)| {
        let form = &forms()[form.index(forms().len())];
        let operand = |(slot, index): (&Slot, &prop::sample::Index)| {
            let (least, most) = slot.range;
            let size = usize::try_from(most - least + 1).unwrap();
            least + i64::try_from(index.index(size)).unwrap()
        };
        let operands: Vec<i64> = form.slots().iter().zip(&indices).map(operand).collect();
        Instruction::new(form, &operands).map_or(0, |instruction| instruction.encode())
    });
    prop_oneof![1 => 0_u64..1 << 48, 9 => instruction]
}

fn run(program: &dpu_sim::Program) {
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(program);
    dpu.boot();
    let _ = dpu.run(200);
    let _ = dpu.counters();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_a_program_or_an_error(source in "\\PC{0,60}") {
        let _ = assemble(&source);
    }

    #[test]
    fn text_that_is_nearly_assembly_is_a_program_or_an_error(source in nearly_assembly()) {
        if let Ok(program) = assemble(&source) {
            run(&program);
        }
    }

    #[test]
    fn any_words_run_or_fault(
        words in prop::collection::vec(word(), 1..60),
        data in prop::collection::vec(any::<u8>(), 64),
    ) {
        let program = Program::from_words(&words).unwrap();
        let read = elf::read(&elf::write(&program)).unwrap();
        prop_assert_eq!(read.instructions(), program.instructions());
        let _ = dpu_sim::isa::disassemble(&program);
        let mut dpu = Dpu::new(Timing { hazard: true, ..Timing::default() });
        dpu.load(&program);
        dpu.write(Region::Wram, 0, &data).unwrap();
        dpu.boot();
        let _ = dpu.run(2000);
        let _ = (dpu.counters(), dpu.log());
    }

    #[test]
    fn any_bytes_that_were_printed_are_a_text_or_an_error(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'%'), Just(0), b'a'..=b'z'], 0..64),
        state in prop_oneof![0_u32..80, any::<u32>()],
        wrapped in 0_u32..2,
    ) {
        let source = "stop\n.data\n__stdout_buffer_state: .long 0, 0\n.section .mram\n__stdout_buffer: .zero 64";
        let mut dpu = Dpu::new(Timing::default());
        dpu.load(&assemble(source).unwrap());
        dpu.write(Region::Wram, 0, &state.to_le_bytes()).unwrap();
        dpu.write(Region::Wram, 4, &wrapped.to_le_bytes()).unwrap();
        dpu.write(Region::Mram, 0, &bytes).unwrap();
        let log = dpu.log();
        prop_assert!(log.is_err() || wrapped == 0 && state <= 64);
    }

    #[test]
    fn an_elf_file_with_any_bytes_changed_is_a_program_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let program = assemble("x: add r0, r0, 1\nldma r0, r1, 3\n.data\ny: .quad 5\n.section .mram\nz: .zero 64").unwrap();
        let mut file = elf::write(&program);
        for (place, byte) in changes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if cut {
            file.truncate(length.index(file.len()));
        }
        if let Ok(program) = elf::read(&file) {
            run(&program);
        }
    }

    #[test]
    fn any_text_is_a_preset_or_an_error(text in "[a-z_\\[\\]=0-9.\n' ]{0,80}") {
        let _ = Preset::parse(&text);
    }
}

#[test]
fn small_texts_and_files_take_no_more_memory_than_a_dpu_has() {
    let sections: String = (0..1000)
        .map(|number| format!(".section .mram.{number}\n.zero 67108863\n.byte 1\n"))
        .collect();
    assert!(assemble(&sections).is_err());
    // Symbols whose names do not end, and segments that are all the same.
    let program = assemble("x: stop\n.data\ny: .zero 64, 1").unwrap();
    let mut file = elf::write(&program);
    let word = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let sections = word(&file, 32) as usize;
    let names = word(&file, sections + 4 * 40 + 16) as usize;
    let size = word(&file, sections + 4 * 40 + 20) as usize;
    file[names..names + size].fill(b'a');
    assert!(matches!(elf::read(&file), Err(elf::ElfError::Name { .. })));
    let mut file = elf::write(&program);
    let data = file[52 + 32..52 + 64].to_vec();
    let segments = u32::try_from(file.len()).unwrap();
    file[28..32].copy_from_slice(&segments.to_le_bytes());
    file[44..46].copy_from_slice(&2000_u16.to_le_bytes());
    for _ in 0..2000 {
        file.extend_from_slice(&data);
    }
    assert!(matches!(elf::read(&file), Err(elf::ElfError::Segments { .. })));
    // Thousands of symbols with one long name.
    let label = "x".repeat(3000);
    let mut file = elf::write(&assemble(&format!("{label}: stop")).unwrap());
    let table = word(&file, 32) as usize + 2 * 40;
    let (symbols, size) = (word(&file, table + 16) as usize, word(&file, table + 20) as usize);
    let entry = file[symbols + 16..symbols + 32].to_vec();
    assert_eq!(size, 48);
    let moved = u32::try_from(file.len()).unwrap();
    file[table + 16..table + 20].copy_from_slice(&moved.to_le_bytes());
    file[table + 20..table + 24].copy_from_slice(&16_000_u32.to_le_bytes());
    file.extend(entry.repeat(1000));
    assert!(matches!(elf::read(&file), Err(elf::ElfError::Names { .. })));
}

#[test]
fn long_and_deep_expressions_are_refused() {
    for part in ["(", "-", "~", "1+", "1<<"] {
        let source = format!(".data\n.long {}1", part.repeat(100_000));
        assert!(assemble(&source).is_err());
    }
}
