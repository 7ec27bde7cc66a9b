//! The instruction set: forms, words, text.
//!
//! An instruction is 48 bits. The table `data/forms.txt` names each form with its fixed bits and where its operands lie;
//! encoding, decoding and the assembler's choice of a form all read it. Several names may stand for one word
//! (`jeq` is a `sub` that drops its result): decoding answers with the most specific one.

mod condition;
mod layout;
mod table;
mod text;

pub use condition::{Class, Condition};
pub use layout::{Operand, Slot};
pub use table::{Form, forms, forms_of};
pub(crate) use text::constant;
pub use text::{disassemble, register};

/// A form and its operands.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    form: &'static Form,
    values: [i64; VALUES],
}

const VALUES: usize = 6;

/// Why operands make no instruction.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Too few or too many.
    #[error("{form} takes {wanted} operands, not {given}")]
    Count {
        /// The form's name.
        form: &'static str,
        /// How many it takes.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
    /// One does not fit its bits.
    #[error("{value} is no {operand:?} of {form}: {least} to {most} are")]
    Range {
        /// The form's name.
        form: &'static str,
        /// Which operand.
        operand: Operand,
        /// What it is.
        value: i64,
        /// The least there may be.
        least: i64,
        /// The largest there may be.
        most: i64,
    },
}

impl Instruction {
    /// Makes one, checking that each operand fits its bits. Whether a condition exists in the form's class is the
    /// assembler's question: `encode` takes every number that fits.
    ///
    /// # Errors
    /// The count of operands, or the first that does not fit.
    pub fn new(form: &'static Form, operands: &[i64]) -> Result<Self, EncodeError> {
        if operands.len() != form.slots().len() {
            let (wanted, given) = (form.slots().len(), operands.len());
            return Err(EncodeError::Count { form: form.name(), wanted, given });
        }
        let mut values = [0; VALUES];
        for ((slot, &value), place) in form.slots().iter().zip(operands).zip(&mut values) {
            let (least, most) = slot.encodable();
            if value < least || value > most {
                let (form, operand) = (form.name(), slot.operand);
                return Err(EncodeError::Range { form, operand, value, least, most });
            }
            *place = value;
        }
        Ok(Self { form, values })
    }

    /// Reads a word: the most specific form that it is; none, if no form is.
    ///
    /// A condition that its class does not have never holds. Such a word is read where no form has its condition.
    #[must_use]
    pub fn decode(word: u64) -> Option<Self> {
        let forms = || table::candidates(word);
        let strictly = forms().filter_map(|form| Self::read(form, word, true));
        let specific = |found: &Self| found.form.fixed_bits();
        let leniently = || forms().filter_map(|form| Self::read(form, word, false));
        strictly.max_by_key(specific).or_else(|| leniently().max_by_key(specific))
    }

    fn read(form: &'static Form, word: u64, strictly: bool) -> Option<Self> {
        let mut values = [0; VALUES];
        for (slot, place) in form.slots().iter().zip(&mut values) {
            *place = slot.take(word);
            let lenient = !strictly && matches!(slot.operand, Operand::Condition(_));
            if !lenient && !slot.holds(*place) {
                return None;
            }
        }
        let found = Self { form, values };
        (found.encode() == word).then_some(found)
    }

    /// The 48-bit word.
    #[must_use]
    pub fn encode(&self) -> u64 {
        let slots = self.form.slots().iter().zip(self.operands());
        slots.fold(self.form.base(), |word, (slot, &value)| word | slot.put(value))
    }

    /// Its form.
    #[must_use]
    pub fn form(&self) -> &'static Form {
        self.form
    }

    /// Its operands, in the order of the form's slots.
    #[must_use]
    pub fn operands(&self) -> &[i64] {
        &self.values[..self.form.slots().len()]
    }

    /// Its condition, if it has one.
    #[must_use]
    pub fn condition(&self) -> Option<Condition> {
        let slots = self.form.slots().iter().zip(self.operands());
        slots.into_iter().find_map(|(slot, &value)| match slot.operand {
            Operand::Condition(class) => class.condition(value),
            _ => None,
        })
    }
}
