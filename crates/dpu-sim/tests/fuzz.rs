//! Nothing panics on any bytes.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::isa::Instruction;
use dpu_sim::{Dpu, Preset, Timing, assemble, elf};
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
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
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
    fn any_words_run_or_fault(words in prop::collection::vec(0_u64..1 << 48, 1..50)) {
        let lines: Vec<String> = words
            .iter()
            .filter_map(|word| Instruction::decode(*word))
            .map(|instruction| instruction.to_string())
            .collect();
        if let Ok(program) = assemble(&lines.join("\n")) {
            run(&program);
        }
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
fn long_and_deep_expressions_are_refused() {
    for part in ["(", "-", "~", "1+", "1<<"] {
        let source = format!(".data\n.long {}1", part.repeat(100_000));
        assert!(assemble(&source).is_err());
    }
}
