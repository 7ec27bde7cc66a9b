//! Assembly, as the vendor's tools spell it, to programs.
//!
//! Labels, sections (`.text`, `.data`, `.rodata`, `.bss`, `.dpu_host`, `.mram`, `.atomic`, each with endings as in `.data.table`, and
//! those for debuggers, of which nothing is kept) and the usual directives for data. A label in
//! text stands for the number of its instruction, one in data for its address; labels may be numbers, of which `1b` is the last
//! `1` and `1f` the next. Comments start with `//` or `#`, or stand between `/*` and `*/`.
//!
//! ```
//! let program = dpu_sim::assemble("
//!     .text
//!     start: add r0, r0, 1
//!            jltu r0, 10, start
//!            stop
//! ")?;
//! assert_eq!(program.instructions().len(), 3);
//! # Ok::<(), dpu_sim::AsmError>(())
//! ```

mod error;
mod expression;
mod lexer;
mod link;
mod near;
mod section;
mod select;
mod statement;
mod words;

pub use error::{AsmError, Reason};

use crate::isa::register;
use crate::program::{Program, Region};
use error::Place;
use expression::Expression;
use lexer::{Lexer, Token};
use section::Section;
use std::collections::HashMap;

/// Assembles a program.
///
/// # Errors
/// The first thing that is wrong, with line and column.
pub fn assemble(source: &str) -> Result<Program, AsmError> {
    assemble_with(source, &[])
}

/// Assembles a program that may name numbers beside its own, as if it began with a `.set` for each of them.
///
/// # Errors
/// The first thing that is wrong, with line and column; a name of them that is none, or is there twice.
pub fn assemble_with(source: &str, names: &[(&str, i64)]) -> Result<Program, AsmError> {
    let mut assembly = Assembly::new();
    for (name, value) in names {
        assembly.outside(name, *value)?;
    }
    let mut lexer = Lexer::default();
    for (index, text) in source.lines().enumerate() {
        let words = lexer.words(index + 1, text)?;
        assembly.line(index + 1, &words)?;
    }
    lexer.end()?;
    let program = assembly.link()?;
    if program.instructions().is_empty() {
        let line = source.lines().count().max(1);
        return Err(Place { line, column: 1 }.error(Reason::Empty));
    }
    Ok(program)
}

/// Where names stand that were given beside the text.
const OUTSIDE: Place = Place { line: 0, column: 0 };

/// What the statements up to now amount to.
struct Assembly {
    sections: Vec<Section>,
    /// The one that statements go to.
    current: usize,
    symbols: HashMap<String, (Place, Defined)>,
    /// Which section has which number.
    numbers: HashMap<String, usize>,
    /// Bytes that the sections of each memory take.
    taken: HashMap<Region, u64>,
    /// How often each number was a label.
    locals: HashMap<i64, u64>,
    /// Sizes that were stated: where, of what, how many bytes, and where `.` was.
    sizes: Vec<(Place, String, Expression, usize, u64)>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Defined {
    Label { section: usize, offset: u64 },
    Constant(i64),
}

impl Assembly {
    fn new() -> Self {
        let first = Place { line: 1, column: 1 };
        Self {
            sections: vec![Section::new(".text", Some(Region::Iram), first)],
            current: 0,
            symbols: HashMap::new(),
            numbers: HashMap::from([(".text".to_owned(), 0)]),
            taken: HashMap::new(),
            locals: HashMap::new(),
            sizes: Vec::new(),
        }
    }

    fn section(&mut self) -> &mut Section {
        &mut self.sections[self.current]
    }

    fn only_data(&mut self, place: Place) -> Result<(), AsmError> {
        let section = self.section();
        if section.is_text() {
            let section = section.name.clone();
            return Err(place.error(Reason::Misplaced { what: "data", section }));
        }
        Ok(())
    }

    fn enter(&mut self, place: Place, name: &str) -> Result<(), AsmError> {
        if let Some(&known) = self.numbers.get(name) {
            self.current = known;
            return Ok(());
        }
        let region = section::region(name).map_err(|reason| place.error(reason))?;
        self.current = self.sections.len();
        self.sections.push(Section::new(name, region, place));
        self.numbers.insert(name.to_owned(), self.current);
        Ok(())
    }

    /// Makes room in the current section, and says where it starts; what is written later starts as zeros.
    fn grow(&mut self, place: Place, bytes: u64) -> Result<u64, AsmError> {
        let section = &mut self.sections[self.current];
        let start = section.size;
        // Of what no memory gets, debugging notes and such, only the size is kept.
        let region = section.region.unwrap_or(Region::Mram);
        let of_none = section.region.is_none();
        let taken = self.taken.entry(region).or_default();
        let all = if of_none { start } else { *taken }.saturating_add(bytes);
        let capacity = if of_none { u64::from(u32::MAX) } else { region.capacity() };
        if all > capacity {
            let section = section.name.clone();
            let reason = Reason::Overflow { section, region, size: all, capacity };
            return Err(place.error(reason));
        }
        if !of_none {
            *taken = all;
        }
        section.size = start + bytes;
        Ok(start)
    }

    /// Takes a number that was named beside the text.
    fn outside(&mut self, name: &str, value: i64) -> Result<(), AsmError> {
        let words = Lexer::default().words(0, name);
        let is_name = matches!(words.as_deref(), Ok([(_, Token::Name(read))]) if read == name);
        let named = match is_name && name != "." {
            true => self.constant_named(OUTSIDE, name, value),
            false => Err(OUTSIDE.error(Reason::Syntax("this is no name"))),
        };
        named.map_err(|error| {
            let reason = Box::new(error.reason);
            OUTSIDE.error(Reason::Outside { name: name.to_owned(), reason })
        })
    }

    /// Gives a number a name, which as that of a register would never be looked at.
    fn constant_named(&mut self, place: Place, name: &str, value: i64) -> Result<(), AsmError> {
        match register(name) {
            None => self.define(place, name, Defined::Constant(value)),
            Some(_) => Err(place.error(Reason::Called(name.to_owned()))),
        }
    }

    fn define(&mut self, place: Place, name: &str, defined: Defined) -> Result<(), AsmError> {
        match self.symbols.insert(name.to_owned(), (place, defined)) {
            None => Ok(()),
            Some((Place { line: first, .. }, _)) => {
                Err(place.error(Reason::Duplicate { name: name.to_owned(), first }))
            }
        }
    }

    /// The value of an expression that is needed before linking.
    fn known(&self, place: Place, expression: &Expression) -> Result<i64, AsmError> {
        let value = expression.value(place, &|symbol| self.constant(symbol));
        value.map_err(|error| match error.reason {
            Reason::Symbol(name) => AsmError { reason: Reason::Early(name), ..error },
            _ => error,
        })
    }

    /// The value of a name that is known before linking.
    fn constant(&self, name: &str) -> Option<i64> {
        match self.symbols.get(name)?.1 {
            Defined::Constant(value) => Some(value),
            Defined::Label { .. } => None,
        }
    }
}
