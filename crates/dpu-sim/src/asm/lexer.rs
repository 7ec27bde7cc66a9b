//! A line's words.

use super::error::{AsmError, Place, Reason};
use std::borrow::Cow;

/// A word of assembly.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A mnemonic, directive, register, condition or symbol.
    Name(String),
    Number(i64),
    Text(Vec<u8>),
    /// Everything else; shifts are `<` and `>`.
    Mark(char),
}

/// Splits one line, without its comment, into words and where they stand.
pub(super) fn words(line: usize, text: &str) -> Result<Vec<(Place, Token)>, AsmError> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let place = Place { line, column: text.len() - rest.len() + 1 };
        let Some(first) = rest.chars().next() else { return Ok(found) };
        if rest.starts_with("//") || first == '#' {
            return Ok(found);
        }
        let (token, length) = word(rest, first).map_err(|reason| place.error(reason))?;
        found.push((place, token));
        rest = &rest[length..];
    }
}

/// Blanks out comments that may span lines, so that places stay what they are.
pub(super) fn without_block_comments(source: &str) -> Cow<'_, str> {
    if !source.contains("/*") {
        return Cow::Borrowed(source);
    }
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("/*") {
        let (comment, behind) = after.split_once("*/").unwrap_or((after, ""));
        text.push_str(before);
        text.push_str("  ");
        text.extend(comment.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        text.push_str("  ");
        rest = behind;
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn word(rest: &str, first: char) -> Result<(Token, usize), Reason> {
    if is_name_start(first) {
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        return Ok((Token::Number(number(&rest[..length])?), length));
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

fn number(digits: &str) -> Result<i64, Reason> {
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
    value.map(u64::cast_signed).map_err(|_| Reason::Syntax("this is no number of 64 bits"))
}

fn character(rest: &str) -> Result<(Token, usize), Reason> {
    let wrong = Reason::Syntax("a character stands between two '");
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next().ok_or_else(|| wrong.clone())?;
    let escaped = if first == '\\' { chars.next() } else { None };
    let value = match escaped {
        Some((_, code)) => i64::from(escape(code).ok_or_else(|| wrong.clone())?),
        None => i64::from(u32::from(first)),
    };
    match chars.next() {
        Some((end, '\'')) => Ok((Token::Number(value), end + 1)),
        _ => Err(wrong),
    }
}

fn string(rest: &str) -> Result<(Token, usize), Reason> {
    let mut bytes = Vec::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(bytes), at + 1)),
            '\\' => {
                let code = chars.next().and_then(|(_, code)| escape(code));
                bytes.push(
                    code.ok_or(Reason::Syntax("\\n, \\t, \\r, \\0, \\\\, \\' and \\\" are"))?,
                );
            }
            _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(Reason::Syntax("this text has no end"))
}

fn escape(code: char) -> Option<u8> {
    Some(match code {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        '0' => 0,
        '\\' => b'\\',
        '"' => b'"',
        '\'' => b'\'',
        _ => return None,
    })
}
