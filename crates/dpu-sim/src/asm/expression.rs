//! Numbers that are computed from numbers and symbols.

use super::error::{AsmError, Place, Reason};
use super::lexer::Token;
use super::words::Words;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(i64),
    Symbol(Place, String),
    /// Where the statement stands.
    Here,
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Pair(char, Box<Expression>, Box<Expression>),
}

impl Expression {
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, AsmError> {
        words.start_expression();
        climb(words, 0)
    }

    /// Its value, if it needs no symbol.
    pub(super) fn constant(&self) -> Option<i64> {
        self.value(Place { line: 0, column: 0 }, &|_| None).ok()
    }

    /// Its value.
    ///
    /// # Errors
    /// A name that `symbol` does not know, or an overflow.
    pub(super) fn value(
        &self,
        place: Place,
        symbol: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<i64, AsmError> {
        let value = match self {
            Self::Number(value) => Some(*value),
            Self::Here => {
                return symbol(".").ok_or_else(|| place.error(Reason::Symbol(".".to_owned())));
            }
            Self::Symbol(place, name) => {
                // A label that is a number and is not there can only be the next one.
                let written = name.split_once(':').map(|(number, _)| format!("{number}f"));
                let unknown = || place.error(Reason::Symbol(written.unwrap_or(name.clone())));
                return symbol(name).ok_or_else(unknown);
            }
            Self::Negative(inner) => inner.value(place, symbol)?.checked_neg(),
            Self::Not(inner) => Some(!inner.value(place, symbol)?),
            Self::Pair(mark, left, right) => {
                apply(*mark, left.value(place, symbol)?, right.value(place, symbol)?)
            }
        };
        value.ok_or_else(|| place.error(Reason::Value))
    }
}

fn apply(mark: char, left: i64, right: i64) -> Option<i64> {
    let bits = u32::try_from(right).ok().filter(|bits| *bits < 64);
    match mark {
        '+' => left.checked_add(right),
        '-' => left.checked_sub(right),
        '*' => left.checked_mul(right),
        '/' => left.checked_div(right),
        '%' => left.checked_rem(right),
        '&' => Some(left & right),
        '^' => Some(left ^ right),
        '|' => Some(left | right),
        '<' => bits.map(|bits| left << bits),
        _ => bits.map(|bits| left >> bits),
    }
}

/// Operators of one rank bind from the left; a higher rank binds first.
fn rank(mark: char) -> Option<u8> {
    Some(match mark {
        '|' => 1,
        '^' => 2,
        '&' => 3,
        '<' | '>' => 4,
        '+' | '-' => 5,
        '*' | '/' | '%' => 6,
        _ => return None,
    })
}

fn climb(words: &mut Words<'_>, least: u8) -> Result<Expression, AsmError> {
    let mut left = single(words)?;
    while let Some(Token::Mark(mark)) = words.peek() {
        let mark = *mark;
        let Some(rank) = rank(mark).filter(|rank| *rank >= least) else { break };
        words.next();
        if matches!(mark, '<' | '>') && !words.take(mark) {
            return Err(words.place().error(Reason::Syntax("shifts are << and >>")));
        }
        let right = climb(words, rank + 1)?;
        left = Expression::Pair(mark, Box::new(left), Box::new(right));
    }
    Ok(left)
}

fn single(words: &mut Words<'_>) -> Result<Expression, AsmError> {
    let place = words.place();
    words.count_part()?;
    match words.next() {
        Some(Token::Number(value)) => Ok(Expression::Number(*value)),
        Some(Token::Name(name)) if name == "." => Ok(Expression::Here),
        Some(Token::Name(name)) => Ok(Expression::Symbol(place, name.clone())),
        Some(Token::Mark('-')) => Ok(Expression::Negative(Box::new(single(words)?))),
        Some(Token::Mark('+')) => single(words),
        Some(Token::Mark('~')) => Ok(Expression::Not(Box::new(single(words)?))),
        Some(Token::Mark('(')) => {
            let inner = climb(words, 0)?;
            if words.take(')') {
                Ok(inner)
            } else {
                Err(words.place().error(Reason::Syntax("a ) is missing here")))
            }
        }
        _ => Err(place.error(Reason::Syntax("a number or a symbol belongs here"))),
    }
}
