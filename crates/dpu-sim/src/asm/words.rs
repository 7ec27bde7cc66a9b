//! Going through a statement word by word.

use super::error::{AsmError, Place, Reason};
use super::lexer::Token;

/// What is left of a statement.
pub(super) struct Words<'a> {
    rest: &'a [(Place, Token)],
    end: Place,
    /// How many more parts this expression may have.
    parts: u32,
}

/// Expressions are walked by recursion, which is bounded by this.
const PARTS_MAX: u32 = 200;

impl<'a> Words<'a> {
    pub(super) fn new(words: &'a [(Place, Token)], line: usize) -> Self {
        let last = words.last().map_or(1, |(place, _)| place.column + 1);
        Self { rest: words, end: Place { line, column: last }, parts: PARTS_MAX }
    }

    /// Where the next word stands.
    pub(super) fn place(&self) -> Place {
        self.rest.first().map_or(self.end, |(place, _)| *place)
    }

    pub(super) fn peek(&self) -> Option<&'a Token> {
        self.rest.first().map(|(_, token)| token)
    }

    pub(super) fn peek_second(&self) -> Option<&'a Token> {
        self.rest.get(1).map(|(_, token)| token)
    }

    pub(super) fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(&first.1)
    }

    /// Takes a mark if it is next.
    pub(super) fn take(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        if found {
            self.next();
        }
        found
    }

    pub(super) fn name(&mut self) -> Result<(Place, &'a str), AsmError> {
        let place = self.place();
        match self.next() {
            Some(Token::Name(name)) => Ok((place, name)),
            _ => Err(place.error(Reason::Syntax("a name belongs here"))),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn start_expression(&mut self) {
        self.parts = PARTS_MAX;
    }

    /// Counts a part of an expression.
    pub(super) fn count_part(&mut self) -> Result<(), AsmError> {
        let long = || self.place().error(Reason::Syntax("this expression is too long"));
        self.parts = self.parts.checked_sub(1).ok_or_else(long)?;
        Ok(())
    }

    /// Leaves what follows unread.
    pub(super) fn skip(&mut self) {
        self.rest = &[];
    }
}
