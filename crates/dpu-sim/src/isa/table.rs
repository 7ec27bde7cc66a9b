//! The table of forms.

use super::layout::Slot;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One way of writing an instruction: a mnemonic with operands of certain kinds.
#[derive(Debug)]
pub struct Form {
    name: &'static str,
    mnemonic: String,
    slots: Vec<Slot>,
    base: u64,
    mask: u64,
}

impl Form {
    fn new(name: &'static str, base: u64, mut slots: Vec<Slot>) -> Self {
        if name.starts_with("SW") || name.starts_with("SD") {
            // Sixteen bits stand for a longer number, so the last of them is its sign.
            slots.iter_mut().for_each(Slot::only_signed_halves);
        }
        let mask = slots.iter().fold(0, |mask, slot| mask | slot.mask());
        Self { name, mnemonic: mnemonic(name), slots, base, mask }
    }

    /// The vendor's name: the mnemonic and its kinds of operands, like `ADDrrici`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// As assembly spells it, with `.s` or `.u` where the result is extended to 64 bits.
    #[must_use]
    pub fn mnemonic(&self) -> &str {
        &self.mnemonic
    }

    /// Its operands, in order.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Does text name the register `zero` first, because the result is dropped?
    #[must_use]
    pub fn drops_result(&self) -> bool {
        self.suffix().starts_with('z')
    }

    /// Does text end with the condition `false`?
    #[must_use]
    pub fn ends_with_false(&self) -> bool {
        self.suffix().ends_with('f')
    }

    /// The kinds of operands, like `rrici`.
    #[must_use]
    pub fn suffix(&self) -> &'static str {
        suffix(self.name)
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn fixed_bits(&self) -> (u32, usize) {
        (self.mask.count_zeros(), usize::MAX - self.name.len())
    }
}

/// All forms.
pub fn forms() -> &'static [Form] {
    &FORMS
}

/// The forms of a mnemonic; none, if there is no such mnemonic.
#[must_use]
pub fn forms_of(mnemonic: &str) -> &'static [&'static Form] {
    BY_MNEMONIC.get(mnemonic).map_or(&[], Vec::as_slice)
}

/// The forms whose fixed bits are those of a word.
pub(super) fn candidates(word: u64) -> impl Iterator<Item = &'static Form> {
    let forms = &BY_FIRST[usize::from(first(word))];
    forms.iter().copied().filter(move |form| word & !form.mask == form.base)
}

/// The first eight of a word's 48 bits, which tell most forms apart.
fn first(word: u64) -> u8 {
    word.to_le_bytes()[5]
}

static BY_FIRST: LazyLock<Vec<Vec<&'static Form>>> = LazyLock::new(|| {
    let begins = |bits: u8, form: &Form| bits & !first(form.mask) == first(form.base);
    (0..=u8::MAX).map(|bits| FORMS.iter().filter(|form| begins(bits, form)).collect()).collect()
});

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| read(include_str!("../../data/forms.txt")));

static BY_MNEMONIC: LazyLock<HashMap<&'static str, Vec<&'static Form>>> = LazyLock::new(|| {
    let mut by_mnemonic: HashMap<&'static str, Vec<&'static Form>> = HashMap::new();
    for form in FORMS.iter() {
        by_mnemonic.entry(form.mnemonic()).or_default().push(form);
    }
    by_mnemonic
});

/// Lines of `layout : name=bits name=bits`; an indented line goes on.
fn read(text: &'static str) -> Vec<Form> {
    let mut forms = Vec::new();
    let mut layout: Vec<Slot> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let names = match line.split_once(':') {
            Some((slots, names)) => {
                layout = slots.split_whitespace().filter_map(Slot::named).collect();
                names
            }
            None => line,
        };
        for (name, bits) in names.split_whitespace().filter_map(|entry| entry.split_once('=')) {
            let base = u64::from_str_radix(bits, 16).unwrap_or(0);
            forms.push(Form::new(name, base, layout.clone()));
        }
    }
    forms
}

fn suffix(name: &'static str) -> &'static str {
    name.trim_start_matches(|c: char| !c.is_ascii_lowercase())
}

fn mnemonic(name: &'static str) -> String {
    let suffix = suffix(name);
    let head = &name[..name.len() - suffix.len()];
    let safe = matches!(suffix, "ersi" | "esii" | "esir" | "sss" | "ssi");
    let (head, extension) = match head.rsplit_once('_') {
        Some((head, "S")) => (head, ".s"),
        Some((head, "U")) => (head, ".u"),
        _ => (head, ""),
    };
    let safe = if safe { "s" } else { "" };
    format!("{}{safe}{extension}", head.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        assert_eq!(forms().len(), 1078);
        for form in forms() {
            assert!(form.base != 0 || form.name == "NOP" || form.name == "ADDrri", "{form:?}");
            assert_eq!(form.base & form.mask, 0, "{}", form.name);
        }
    }

    #[test]
    fn mnemonics_are_those_of_the_vendor() {
        for (name, expected) in [
            ("ADD_Srri", "add.s"),
            ("MUL_SH_UL_Srrrci", "mul_sh_ul.s"),
            ("SB_IDrii", "sb_id"),
            ("LBSersi", "lbss"),
            ("STOPci", "stop"),
        ] {
            assert_eq!(mnemonic(name), expected);
        }
    }
}
