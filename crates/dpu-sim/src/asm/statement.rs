//! Statements, one line after the other.

use super::Assembly;
use super::error::{AsmError, Place, Reason};
use super::expression::Expression;
use super::lexer::{Token, Way};
use super::section::{Value, region};
use super::select::Pending;
use super::words::Words;

impl Assembly {
    pub(super) fn line(&mut self, number: usize, words: &[(Place, Token)]) -> Result<(), AsmError> {
        for statement in words.split(|(_, token)| *token == Token::Mark(';')) {
            let named = self.name_locals(statement)?;
            let statement = named.as_deref().unwrap_or(statement);
            self.statement(&mut Words::new(statement, number))?;
        }
        Ok(())
    }

    /// Gives labels that are numbers names of their own, which no other label can have; none, if there are none.
    fn name_locals(
        &mut self,
        statement: &[(Place, Token)],
    ) -> Result<Option<Vec<(Place, Token)>>, AsmError> {
        let labels = matches!(statement, [(_, Token::Number(_)), (_, Token::Mark(':')), ..]);
        let uses = statement.iter().any(|(_, token)| matches!(token, Token::Local(..)));
        if !labels && !uses {
            return Ok(None);
        }
        let mut named = statement.to_vec();
        let mut rest = named.as_mut_slice();
        while let [(_, label), (_, Token::Mark(':')), behind @ ..] = rest {
            if let Token::Number(number) = *label {
                let count = self.locals.entry(number).or_default();
                *count += 1;
                *label = Token::Name(format!("{number}:{count}"));
            }
            rest = behind;
        }
        for (place, token) in rest {
            let Token::Local(number, way) = *token else { continue };
            let count = self.locals.get(&number).copied().unwrap_or(0);
            let wanted = if way == Way::Back { count } else { count + 1 };
            if wanted == 0 {
                return Err(place.error(Reason::Symbol(format!("{number}b"))));
            }
            *token = Token::Name(format!("{number}:{wanted}"));
        }
        Ok(Some(named))
    }

    fn statement(&mut self, words: &mut Words<'_>) -> Result<(), AsmError> {
        while let (Some(Token::Name(name)), Some(Token::Mark(':'))) =
            (words.peek(), words.peek_second())
        {
            let place = words.place();
            words.next();
            words.next();
            self.label(place, name)?;
        }
        if words.is_empty() {
            return Ok(());
        }
        let (place, name) = words.name()?;
        if words.take('=') {
            return self.set(place, name, words);
        }
        if name.starts_with('.') {
            self.directive(place, name, words)?;
        } else {
            self.instruction(place, name, words)?;
        }
        let end = words.place();
        if words.is_empty() {
            Ok(())
        } else {
            Err(end.error(Reason::Syntax("the statement ends before this")))
        }
    }

    fn instruction(
        &mut self,
        place: Place,
        mnemonic: &str,
        words: &mut Words<'_>,
    ) -> Result<(), AsmError> {
        let pending = Pending::parse(place, mnemonic, words)?;
        let section = self.section();
        if !section.is_text() {
            let section = section.name.clone();
            return Err(place.error(Reason::Misplaced { what: "an instruction", section }));
        }
        self.grow(place, 8)?;
        self.section().code.push(pending);
        Ok(())
    }

    fn directive(
        &mut self,
        place: Place,
        name: &str,
        words: &mut Words<'_>,
    ) -> Result<(), AsmError> {
        match name {
            ".text" | ".data" | ".rodata" | ".bss" => self.enter(place, name)?,
            ".section" => {
                let place = words.place();
                let section = match words.next() {
                    Some(Token::Name(name)) => name.clone(),
                    Some(Token::Text(name)) => String::from_utf8_lossy(name).into_owned(),
                    _ => return Err(place.error(Reason::Syntax("a section's name belongs here"))),
                };
                self.enter(place, &section)?;
                words.skip();
            }
            ".byte" => return self.data(1, words),
            ".short" | ".half" | ".hword" | ".2byte" => return self.data(2, words),
            ".long" | ".word" | ".int" | ".4byte" => return self.data(4, words),
            ".quad" | ".dword" | ".8byte" => return self.data(8, words),
            ".ascii" => return self.texts(place, b"", words),
            ".asciz" | ".string" => return self.texts(place, b"\0", words),
            ".zero" | ".space" | ".skip" => return self.zero(place, name, words),
            ".p2align" | ".align" | ".balign" => return self.align(place, name, words),
            ".set" | ".equ" => {
                let (place, symbol) = words.name()?;
                words.take(',');
                return self.set(place, symbol, words);
            }
            ".size" => return self.size(words),
            ".comm" | ".lcomm" => return self.common(name, words),
            ".uleb128" | ".sleb128" if self.section().region.is_none() => words.skip(),
            ".uleb128" | ".sleb128" => return Err(directive(place, name, FOR_DEBUGGERS)),
            ".globl" | ".global" | ".weak" | ".local" | ".hidden" | ".type" | ".file"
            | ".ident" | ".loc" | ".addrsig" | ".addrsig_sym" => words.skip(),
            _ if name.starts_with(".cfi_") => words.skip(),
            _ if region(name).is_ok() => return Err(directive(place, name, SECTION)),
            _ => return Err(directive(place, name, "there is no such directive")),
        }
        Ok(())
    }

    /// Zeros with a name, which compilers leave the place of to others.
    fn common(&mut self, directive: &str, words: &mut Words<'_>) -> Result<(), AsmError> {
        let (place, name) = words.name()?;
        words.take(',');
        let size = self.number(words)?;
        let bytes = u64::try_from(size).map_err(|_| self::directive(place, directive, SIZE))?;
        let align = if words.take(',') { self.number(words)? } else { 8 };
        let current = self.current;
        self.enter(place, ".bss.common")?;
        self.align_to(place, directive, u64::try_from(align).ok())?;
        self.label(place, name)?;
        let (section, offset) = (self.current, self.grow(place, bytes)?);
        self.sizes.push((place, name.to_owned(), Expression::Number(size), section, offset));
        self.current = current;
        Ok(())
    }

    fn label(&mut self, place: Place, name: &str) -> Result<(), AsmError> {
        let offset = self.section().size;
        let section = self.current;
        self.define(place, name, super::Defined::Label { section, offset })
    }

    fn set(&mut self, place: Place, name: &str, words: &mut Words<'_>) -> Result<(), AsmError> {
        let expression = Expression::parse(words)?;
        let value = self.known(place, &expression)?;
        self.constant_named(place, name, value)
    }

    fn size(&mut self, words: &mut Words<'_>) -> Result<(), AsmError> {
        let (place, name) = words.name()?;
        words.take(',');
        let expression = Expression::parse(words)?;
        let (section, offset) = (self.current, self.section().size);
        self.sizes.push((place, name.to_owned(), expression, section, offset));
        Ok(())
    }

    fn data(&mut self, width: u8, words: &mut Words<'_>) -> Result<(), AsmError> {
        loop {
            let place = words.place();
            let expression = Expression::parse(words)?;
            let offset = self.append(place, &[0; 8][..usize::from(width)])?;
            let section = self.section();
            if section.region.is_some() {
                section.data.push(offset);
                section.values.push(Value { place, offset, width, expression });
            }
            if !words.take(',') {
                return Ok(());
            }
        }
    }

    fn texts(&mut self, place: Place, end: &[u8], words: &mut Words<'_>) -> Result<(), AsmError> {
        loop {
            let here = words.place();
            let Some(Token::Text(text)) = words.next() else {
                return Err(here.error(Reason::Syntax("a text in \" belongs here")));
            };
            self.only_data(place)?;
            let start = self.append(here, text)?;
            self.section().data.push(start);
            self.append(here, end)?;
            if !words.take(',') {
                return Ok(());
            }
        }
    }

    fn zero(&mut self, place: Place, name: &str, words: &mut Words<'_>) -> Result<(), AsmError> {
        let count = self.number(words)?;
        let fill = if words.take(',') { self.number(words)? } else { 0 };
        let count = u64::try_from(count);
        let count = count.map_err(|_| directive(place, name, SIZE))?;
        self.only_data(place)?;
        let start = self.grow(place, count)?;
        let section = self.section();
        section.data.push(start);
        if fill & 0xff == 0 || section.region.is_none() {
            return Ok(());
        }
        let size = usize::try_from(section.size).unwrap_or(usize::MAX);
        section.bytes.resize(usize::try_from(start).unwrap_or(usize::MAX), 0);
        section.bytes.resize(size, fill.to_le_bytes()[0]);
        Ok(())
    }

    fn align(&mut self, place: Place, name: &str, words: &mut Words<'_>) -> Result<(), AsmError> {
        let number = self.number(words)?;
        words.skip();
        let power = if name == ".balign" { u64::try_from(number).ok() } else { power(number) };
        self.align_to(place, name, power)
    }

    fn align_to(&mut self, place: Place, name: &str, to: Option<u64>) -> Result<(), AsmError> {
        let valid = to.filter(|to| to.is_power_of_two() && *to <= ALIGN_MAX);
        let to =
            valid.ok_or_else(|| directive(place, name, "this is no power of two up to 4096"))?;
        let section = self.section();
        // Instructions are all aligned alike; a gap between them would have to be executed.
        if section.is_text() {
            return Ok(());
        }
        section.align = section.align.max(to);
        let gap = section.size.next_multiple_of(to) - section.size;
        self.grow(place, gap).map(|_| ())
    }

    /// Adds data to the current section, and says where it starts.
    fn append(&mut self, place: Place, data: &[u8]) -> Result<u64, AsmError> {
        self.only_data(place)?;
        let start = self.grow(place, data.len() as u64)?;
        self.section().keep(start, data);
        Ok(start)
    }

    fn number(&mut self, words: &mut Words<'_>) -> Result<i64, AsmError> {
        let place = words.place();
        let expression = Expression::parse(words)?;
        self.known(place, &expression)
    }
}

const ALIGN_MAX: u64 = 4096;
const SECTION: &str = "this is a section, and .section belongs before its name";
const SIZE: &str = "a size of 0 or more belongs here";
const FOR_DEBUGGERS: &str = "only sections for debuggers, as .debug_info, have such numbers; .byte, .short, .long and .quad are for data";

fn power(exponent: i64) -> Option<u64> {
    1_u64.checked_shl(u32::try_from(exponent).ok()?)
}

pub(super) fn directive(place: Place, name: &str, reason: &'static str) -> AsmError {
    place.error(Reason::Directive { directive: name.to_owned(), reason })
}
