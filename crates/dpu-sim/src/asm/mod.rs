//! Assembly, as the vendor's tools spell it, to programs.
//!
//! Labels, sections (`.text`, `.data`, `.rodata`, `.bss`, `.mram`, `.atomic`) and the usual directives for data. A label in
//! text stands for the number of its instruction, one in data for its address. Comments start with `//` or `#`.
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
mod section;
mod select;
mod statement;
mod words;

pub use error::{AsmError, Reason};

use crate::program::Program;
use error::Place;
use expression::Expression;
use section::Section;
use std::collections::HashMap;

/// Assembles a program.
///
/// # Errors
/// The first thing that is wrong, with line and column.
pub fn assemble(source: &str) -> Result<Program, AsmError> {
    let source = lexer::without_block_comments(source);
    let mut assembly = Assembly::new();
    for (index, text) in source.lines().enumerate() {
        assembly.line(index + 1, text)?;
    }
    assembly.link()
}

/// What the statements up to now amount to.
struct Assembly {
    sections: Vec<Section>,
    /// The one that statements go to.
    current: usize,
    symbols: HashMap<String, (Place, Defined)>,
    /// Bytes that directives filled, of all sections.
    filled: u64,
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
        let sections = vec![Section::new(".text", first)];
        Self { sections, current: 0, symbols: HashMap::new(), filled: 0, sizes: Vec::new() }
    }

    fn section(&mut self) -> &mut Section {
        &mut self.sections[self.current]
    }

    fn only_data(&mut self, place: Place) -> Result<&mut Section, AsmError> {
        let section = self.section();
        if section.is_text() {
            let section = section.name.clone();
            return Err(place.error(Reason::Misplaced { what: "data", section }));
        }
        Ok(section)
    }

    fn enter(&mut self, place: Place, name: &str) {
        let known = self.sections.iter().position(|section| section.name == name);
        self.current = known.unwrap_or_else(|| {
            self.sections.push(Section::new(name, place));
            self.sections.len() - 1
        });
    }

    fn define(&mut self, place: Place, name: &str, defined: Defined) -> Result<(), AsmError> {
        match self.symbols.insert(name.to_owned(), (place, defined)) {
            None => Ok(()),
            Some(_) => Err(place.error(Reason::Duplicate(name.to_owned()))),
        }
    }

    /// The value of a name that is known before linking.
    fn constant(&self, name: &str) -> Option<i64> {
        match self.symbols.get(name)?.1 {
            Defined::Constant(value) => Some(value),
            Defined::Label { .. } => None,
        }
    }
}
