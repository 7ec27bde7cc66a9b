//! Which form of an instruction its operands ask for.

use super::error::{AsmError, Place, Reason};
use super::expression::Expression;
use super::lexer::Token;
use super::near::near;
use super::words::Words;
use crate::isa::{Condition, Form, Instruction, Operand, Slot, constant, forms_of, register};

/// An operand as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Written {
    Register {
        number: i64,
        pair: bool,
    },
    Endian(i64),
    Number(Expression),
    /// A condition by its number, as disassembly shows one without a name.
    Condition(i64),
}

/// An instruction whose form is chosen; its symbols may still be unknown.
#[derive(Debug)]
pub(super) struct Pending {
    form: &'static Form,
    operands: Vec<(Place, Written)>,
}

const ZERO: i64 = 24;

impl Pending {
    /// Reads the operands of a mnemonic and chooses its form.
    pub(super) fn parse(
        place: Place,
        mnemonic: &str,
        words: &mut Words<'_>,
    ) -> Result<Self, AsmError> {
        let forms = forms_of(mnemonic);
        if forms.is_empty() {
            let (near, mnemonic) = (near(mnemonic), mnemonic.to_owned());
            return Err(place.error(Reason::Mnemonic { mnemonic, near }));
        }
        let operands = operands(words)?;
        let mut wrong = None;
        // `sub r0, r1, 5` has no form of its own: the one that ends with `false` says the same.
        let strictly = forms.iter().map(|form| (form, form.ends_with_false()));
        let leniently = forms.iter().map(|form| (form, false));
        for (form, with_false) in strictly.chain(leniently) {
            match fit(form, with_false, &operands) {
                Ok(slots) => return Ok(Self { form, operands: operands[slots].to_vec() }),
                Err(error) => wrong = wrong.or(error),
            }
        }
        let (mnemonic, takes) = (mnemonic.to_owned(), shapes(forms));
        let wrong = wrong.or_else(|| read_only(forms, &operands));
        Err(wrong.unwrap_or_else(|| place.error(Reason::Operands { mnemonic, takes })))
    }

    /// The word, once symbols have values.
    pub(super) fn encode(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Result<u64, AsmError> {
        let mut values = Vec::with_capacity(self.operands.len());
        for ((place, written), slot) in self.operands.iter().zip(self.form.slots()) {
            values.push(match (slot.operand, written) {
                (_, Written::Register { number, .. }) => *number,
                (_, Written::Endian(value)) => *value,
                (_, Written::Condition(number)) => *number,
                (Operand::Condition(class), Written::Number(expression)) => {
                    condition(expression).and_then(|found| class.number(found)).unwrap_or(0)
                }
                (_, Written::Number(expression)) => {
                    let value = expression.value(*place, symbol)?;
                    in_range(*place, slot, value)?;
                    value
                }
            });
        }
        let place = self.operands.first().map_or(Place { line: 0, column: 0 }, |(place, _)| *place);
        let made = Instruction::new(self.form, &values);
        made.map(|made| made.encode()).map_err(|_| place.error(Reason::Value))
    }
}

/// Reads operands up to the end of the statement.
fn operands(words: &mut Words<'_>) -> Result<Vec<(Place, Written)>, AsmError> {
    let mut found = Vec::new();
    while !words.is_empty() {
        let place = words.place();
        let written = operand(words)?;
        let endian = matches!(written, Written::Endian(_));
        found.push((place, written));
        let comma = words.take(',');
        if !comma && !endian && !words.is_empty() {
            return Err(words.place().error(Reason::Syntax("a comma belongs between operands")));
        }
        if comma && words.is_empty() {
            return Err(words.place().error(Reason::Syntax("an operand belongs behind a comma")));
        }
    }
    Ok(found)
}

fn operand(words: &mut Words<'_>) -> Result<Written, AsmError> {
    let place = words.place();
    if words.take('!') {
        return match words.name()?.1 {
            "little" => Ok(Written::Endian(0)),
            "big" => Ok(Written::Endian(1)),
            _ => Err(place.error(Reason::Syntax("!little and !big are"))),
        };
    }
    if words.take('?') {
        let number = Expression::parse(words)?.constant();
        let wrong = || place.error(Reason::Syntax("the number of a condition belongs behind ?"));
        return number.map(Written::Condition).ok_or_else(wrong);
    }
    let only_register = words.take('%');
    if let Some(Token::Name(name)) = words.peek()
        && let Some((number, pair)) = register(name)
    {
        words.next();
        let exists = if pair { number <= 22 && number % 2 == 0 } else { number <= 31 };
        // `r24` is the number of `zero`, but nobody calls it so.
        let spelled = number < ZERO || !name.starts_with('r');
        if !exists || !spelled {
            return Err(place.error(Reason::Register(name.clone())));
        }
        return Ok(Written::Register { number, pair });
    }
    if only_register {
        return Err(place.error(Reason::Syntax("a register belongs behind %")));
    }
    Expression::parse(words).map(Written::Number)
}

/// Which of the operands fill the form's slots; what is wrong, if only a number is.
fn fit(
    form: &Form,
    with_false: bool,
    operands: &[(Place, Written)],
) -> Result<std::ops::Range<usize>, Option<AsmError>> {
    let start = usize::from(form.drops_result());
    let end = start + form.slots().len();
    let zero = Written::Register { number: ZERO, pair: false };
    if start == 1 && operands.first().is_none_or(|(_, written)| *written != zero) {
        return Err(None);
    }
    let tail = operands.get(end..).ok_or(None)?;
    let only_false = matches!(tail, [(_, Written::Number(expression))]
        if condition(expression) == Some(Condition::False));
    if !(if with_false { only_false } else { tail.is_empty() }) {
        return Err(None);
    }
    let mut wrong = None;
    for ((place, written), slot) in operands[start..end].iter().zip(form.slots()) {
        if !kind_fits(slot, written) {
            return Err(None);
        }
        if let (false, Written::Number(expression)) = (is_condition(slot), written) {
            let known = expression.constant().map(|value| in_range(*place, slot, value));
            wrong = wrong.or(known.and_then(Result::err));
        }
    }
    wrong.map_or(Ok(start..end), |error| Err(Some(error)))
}

/// What is wrong, if that is only a read-only register where r0 to r23 would do.
fn read_only(forms: &[&Form], operands: &[(Place, Written)]) -> Option<AsmError> {
    operands.iter().enumerate().find_map(|(at, (place, written))| {
        let Written::Register { number, pair: false } = *written else { return None };
        let name = constant(number)?;
        let mut others = operands.to_vec();
        others[at].1 = Written::Register { number: 0, pair: false };
        // A number that does not fit besides is told once the register is right.
        let fits = forms.iter().any(|form| !matches!(fit(form, false, &others), Err(None)));
        fits.then(|| place.error(Reason::ReadOnly(name)))
    })
}

fn kind_fits(slot: &Slot, written: &Written) -> bool {
    match (slot.operand, written) {
        (
            Operand::Destination | Operand::SourceA | Operand::SourceB,
            Written::Register { number, pair: false },
        ) => slot.range.0 <= *number && *number <= slot.range.1,
        (Operand::DestinationPair | Operand::PairB, Written::Register { pair, .. }) => *pair,
        (Operand::Endian, Written::Endian(_)) => true,
        (Operand::Condition(_), Written::Condition(number)) => number_fits(slot, *number),
        (Operand::Condition(class), Written::Number(expression)) => {
            condition(expression).and_then(|found| class.number(found)).is_some()
        }
        (
            Operand::Target
            | Operand::Immediate
            | Operand::Offset
            | Operand::Shift
            | Operand::DmaLength,
            Written::Number(_),
        ) => true,
        _ => false,
    }
}

fn is_condition(slot: &Slot) -> bool {
    matches!(slot.operand, Operand::Condition(_))
}

fn condition(expression: &Expression) -> Option<Condition> {
    match expression {
        Expression::Symbol(_, name) => Condition::named(name),
        _ => None,
    }
}

fn number_fits(slot: &Slot, value: i64) -> bool {
    slot.range.0 <= value && value <= slot.range.1
}

fn in_range(place: Place, slot: &Slot, value: i64) -> Result<(), AsmError> {
    let (least, most) = slot.range;
    if number_fits(slot, value) {
        Ok(())
    } else {
        Err(place.error(Reason::Range { value, least, most }))
    }
}

/// How people write the operands of a mnemonic's forms: what may stand besides is told once.
fn shapes(forms: &[&Form]) -> String {
    let mut all: Vec<String> = Vec::new();
    for shape in forms.iter().map(|form| shape(form)) {
        if !all.contains(&shape) {
            all.push(shape);
        }
    }
    let asks = |shape: &&String| shape.contains("condition") || shape.contains("false");
    let besides = |shape: &&String| asks(shape) || shape.starts_with(['z', '!']);
    let plain: Vec<_> = all.iter().filter(|shape| !besides(shape)).map(String::as_str).collect();
    if plain.is_empty() {
        return all.join(" or ");
    }
    let then = if all.iter().any(|shape| asks(&shape)) {
        ", and then perhaps a condition, or a condition and a label"
    } else {
        ""
    };
    format!("{}{then}; r is a register, d a pair", plain.join(" or "))
}

/// How people write a form's operands.
fn shape(form: &Form) -> String {
    let zero = form.drops_result().then_some("zero");
    let slots = form.slots().iter().map(|slot| match slot.operand {
        Operand::Destination | Operand::SourceA | Operand::SourceB => "r",
        Operand::DestinationPair | Operand::PairB => "d",
        Operand::Condition(_) => "condition",
        Operand::Target => "label",
        Operand::Endian => "!little",
        _ => "number",
    });
    let last = form.ends_with_false().then_some("false");
    let words: Vec<&str> = zero.into_iter().chain(slots).chain(last).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}
