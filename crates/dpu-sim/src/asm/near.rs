//! What somebody may have meant who wrote something else.

use crate::isa::{Form, forms};

/// A few mnemonics like a word that is none, for people; "" if there are none.
pub(super) fn near(word: &str) -> String {
    if word.len() > WORD_MAX {
        return String::new();
    }
    let alike = |distance: usize| distance <= word.len().div_ceil(3).min(2);
    let longer = |mnemonic: &str| word.len() > 1 && mnemonic.starts_with(word);
    let plain = forms().iter().map(Form::mnemonic).filter(|name| !name.contains('.'));
    let all = plain.map(|name| (distance(word, name), name));
    let mut found: Vec<_> = all.filter(|(far, name)| alike(*far) || longer(name)).collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<&str> = found.into_iter().take(TOLD).map(|(_, name)| name).collect();
    names.join(", ")
}

/// How many letters have to be changed, added or left out.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, a) in from.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = above + 1;
        for (left, b) in to.bytes().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[left + 1];
            row[left + 1] = changed.min(corner + 1).min(row[left] + 1);
        }
    }
    row[to.len()]
}

/// No mnemonic is longer.
const WORD_MAX: usize = 16;
const TOLD: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_of_other_processors_are_near_those_of_this_one() {
        for (word, meant) in [("mov", "move"), ("jmp", "jump"), ("addi", "add"), ("beq", "jeq")] {
            assert!(near(word).split(", ").any(|name| name == meant), "{word}: {}", near(word));
        }
        assert!(near("mul").starts_with("mul_"));
        assert_eq!((near("frobnicate"), near(&"add".repeat(1000))), <(String, String)>::default());
        assert_eq!((distance("mov", "move"), distance("", "ab"), distance("ab", "ba")), (1, 2, 2));
    }
}
