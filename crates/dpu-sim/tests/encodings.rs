//! The vendor's encodings, both ways.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use dpu_sim::assemble;
use dpu_sim::isa::{Form, Instruction, Operand, forms};

struct Vector {
    form: &'static Form,
    operands: Vec<i64>,
    word: u64,
}

fn vectors() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for line in include_str!("data/encodings.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut entries = line.split(' ');
        let name = entries.next().unwrap();
        let form = forms().iter().find(|form| form.name() == name).unwrap();
        for entry in entries {
            let (operands, word) = entry.split_once('=').unwrap();
            let operands = operands.split(',').filter(|text| !text.is_empty());
            let operands = operands.map(|text| text.parse().unwrap()).collect();
            vectors.push(Vector { form, operands, word: u64::from_str_radix(word, 16).unwrap() });
        }
    }
    vectors
}

/// Numbers of conditions were drawn without regard to which ones a form has.
fn is_sound(vector: &Vector) -> bool {
    vector.form.slots().iter().zip(&vector.operands).all(|(slot, &value)| match slot.operand {
        Operand::Condition(class) => class.condition(value).is_some(),
        _ => slot.range.0 <= value && value <= slot.range.1,
    })
}

#[test]
fn every_instruction_is_encoded_as_the_vendor_encodes_it() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 4243);
    for Vector { form, operands, word } in &vectors {
        let instruction = Instruction::new(form, operands).unwrap();
        assert_eq!(instruction.encode(), *word, "{} {operands:?}", form.name());
    }
}

#[test]
fn every_word_is_decoded_to_an_instruction_that_is_that_word() {
    let (mut named, mut others) = (0, 0);
    for vector in vectors() {
        let found = Instruction::decode(vector.word);
        let found = found.unwrap_or_else(|| panic!("{} {:x}", vector.form.name(), vector.word));
        assert_eq!(found.encode(), vector.word, "{found} for {}", vector.form.name());
        let same = found.form().name() == vector.form.name();
        if same {
            assert_eq!(found.operands(), vector.operands, "{}", vector.form.name());
            named += 1;
        } else {
            // Another name for the same word, or a condition that this form does not have.
            others += 1;
            let shorter = found.form().name().len() <= vector.form.name().len();
            let more_specific = found.operands().len() < vector.operands.len();
            assert!(
                shorter || more_specific || !is_sound(&vector),
                "{found} {}",
                vector.form.name()
            );
        }
    }
    assert_eq!(named + others, 4243);
    assert!(named > 2900, "{named}");
}

#[test]
fn the_text_of_every_word_assembles_to_it() {
    for vector in vectors() {
        let Some(instruction) = Instruction::decode(vector.word) else { continue };
        let text = instruction.to_string();
        let program = assemble(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let word = program.instructions()[0];
        // A few instructions can be encoded in two ways, of which text names one.
        if word != vector.word {
            let again = Instruction::decode(word).unwrap().to_string();
            assert_eq!(again, text, "{}: {:x} {word:x}", vector.form.name(), vector.word);
        }
    }
}
