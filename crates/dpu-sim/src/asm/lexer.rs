//! A line's words.

use super::error::{AsmError, Place, Reason};

/// A word of assembly.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A mnemonic, directive, register, condition or symbol.
    Name(String),
    Number(i64),
    /// A label that is a number: the last one, or the next one.
    Local(i64, Way),
    Text(Vec<u8>),
    /// Everything else; shifts are `<` and `>`.
    Mark(char),
}

/// Where a label that is a number is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Back,
    Forth,
}

/// What goes on from one line to the next.
#[derive(Default)]
pub(super) struct Lexer {
    /// Where a comment began that has not ended.
    comment: Option<Place>,
}

impl Lexer {
    /// Splits a line into words and where they stand, without comments.
    pub(super) fn words(
        &mut self,
        line: usize,
        text: &str,
    ) -> Result<Vec<(Place, Token)>, AsmError> {
        let mut found = Vec::new();
        let mut rest = text;
        loop {
            if self.comment.is_some() {
                let Some((_, behind)) = rest.split_once("*/") else { return Ok(found) };
                (rest, self.comment) = (behind, None);
            }
            rest = rest.trim_start();
            let place = Place { line, column: text.len() - rest.len() + 1 };
            let Some(first) = rest.chars().next() else { return Ok(found) };
            if rest.starts_with("//") || first == '#' {
                return Ok(found);
            }
            if let Some(comment) = rest.strip_prefix("/*") {
                (rest, self.comment) = (comment, Some(place));
                continue;
            }
            let (token, length) = word(rest, first).map_err(|reason| place.error(reason))?;
            found.push((place, token));
            rest = &rest[length..];
        }
    }

    /// # Errors
    /// A comment has no end.
    pub(super) fn end(&self) -> Result<(), AsmError> {
        let endless = |place: Place| place.error(Reason::Syntax("this comment has no end"));
        self.comment.map_or(Ok(()), |place| Err(endless(place)))
    }
}

fn word(rest: &str, first: char) -> Result<(Token, usize), Reason> {
    if is_name_start(first) {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let digits = &rest[..length];
        return Ok((local(digits).map_or_else(|| number(digits), Ok)?, length));
    }
    match first {
        '"' => string(rest),
        '\'' => character(rest),
        _ => Ok((Token::Mark(first), first.len_utf8())),
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$')
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}

/// Digits and where to look for a label.
fn local(text: &str) -> Option<Token> {
    let way = match text.as_bytes().last()? {
        b'b' => Way::Back,
        b'f' => Way::Forth,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| digits.parse().ok())?.map(|number| Token::Local(number, way))
}

fn number(digits: &str) -> Result<Token, Reason> {
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = if let Some(digits) = lower.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (digits, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8)
    } else {
        (lower.as_str(), 10)
    };
    let value = u64::from_str_radix(digits, radix);
    let value = value.map_err(|_| Reason::Syntax("this is no number of 64 bits"))?;
    Ok(Token::Number(value.cast_signed()))
}

fn character(rest: &str) -> Result<(Token, usize), Reason> {
    let wrong = Reason::Syntax("a character stands between two '");
    let behind = rest.get(1..).ok_or_else(|| wrong.clone())?;
    let (value, length) = match behind.strip_prefix('\\') {
        Some(escaped) => {
            let (byte, length) = escape(escaped).ok_or_else(|| wrong.clone())?;
            (i64::from(byte), length + 1)
        }
        None => {
            let first = behind.chars().next().ok_or_else(|| wrong.clone())?;
            (i64::from(u32::from(first)), first.len_utf8())
        }
    };
    if behind[length..].starts_with('\'') {
        Ok((Token::Number(value), length + 2))
    } else {
        Err(wrong)
    }
}

fn string(rest: &str) -> Result<(Token, usize), Reason> {
    let mut bytes = Vec::new();
    let mut at = 1;
    while let Some(c) = rest[at..].chars().next() {
        at += c.len_utf8();
        match c {
            '"' => return Ok((Token::Text(bytes), at)),
            '\\' => {
                let (byte, length) = escape(&rest[at..]).ok_or(Reason::Syntax(ESCAPES))?;
                bytes.push(byte);
                at += length;
            }
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(Reason::Syntax("this text has no end"))
}

const ESCAPES: &str = "\\b, \\f, \\n, \\r, \\t, \\\\, \\', \\\", up to three octal digits, and x with hexadecimal digits are";

/// The byte that what stands behind a backslash means, and how long that is.
fn escape(text: &str) -> Option<(u8, usize)> {
    let digits = |text: &str, radix: u32, most: usize| {
        text.chars().take(most).take_while(|c| c.is_digit(radix)).count()
    };
    let octal = digits(text, 8, 3);
    if octal > 0 {
        let value = u16::from_str_radix(&text[..octal], 8).ok()?;
        return Some((value.to_le_bytes()[0], octal));
    }
    if let Some(text) = text.strip_prefix('x') {
        let length = digits(text, 16, 2);
        return Some((u8::from_str_radix(&text[..length], 16).ok()?, length + 1));
    }
    let byte = match text.chars().next()? {
        'a' => 7,
        'b' => 8,
        't' => b'\t',
        'n' => b'\n',
        'v' => 11,
        'f' => 12,
        'r' => b'\r',
        '\\' => b'\\',
        '"' => b'"',
        '\'' => b'\'',
        _ => return None,
    };
    Some((byte, 1))
}
