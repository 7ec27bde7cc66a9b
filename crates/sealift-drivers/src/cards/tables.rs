//! Typed looks into TOML, whose errors say file, line, key, value and what would be right.

use super::CardError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a file's text.
///
/// # Errors
/// It is no TOML.
pub(super) fn parse<'a>(file: &'a str, text: &'a str) -> Result<Document<'a>, CardError> {
    match DeTable::parse(text) {
        Ok(root) => Ok(Document { file, text, root: root.into_inner() }),
        Err(error) => Err(CardError::Syntax {
            file: file.to_owned(),
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            reason: plain(error.message()),
        }),
    }
}

/// A file that was read.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    root: DeTable<'a>,
}

impl Document<'_> {
    pub(super) fn root(&self) -> Table<'_> {
        Table { document: self, path: "", entries: &self.root }
    }
}

/// One of its tables.
pub(super) struct Table<'a> {
    document: &'a Document<'a>,
    /// The key of this table; empty for the root.
    path: &'a str,
    entries: &'a DeTable<'a>,
}

/// A number, and where it comes from if it says so.
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) source: Option<String>,
    pub(super) fitted: bool,
}

/// What a number may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Whole { least: u32, most: u32 },
    Real { unit: &'static str, least: f64, most: f64 },
}

impl Table<'_> {
    /// Refuses keys other than these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), CardError> {
        let mut keys = self.entries.keys();
        let Some(key) = keys.find(|key| !known.contains(&key.get_ref().as_ref())) else {
            return Ok(());
        };
        Err(CardError::Key {
            file: self.document.file.to_owned(),
            line: line_of(self.document.text, key.span().start),
            key: self.path(&shown(key.get_ref())),
            known: known.join(", "),
        })
    }

    /// How people write a key of this table.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn table<'k>(&'k self, key: &'k str) -> Result<Table<'k>, CardError> {
        self.optional_table(key)?.ok_or_else(|| self.missing(key, "a table of that name"))
    }

    pub(super) fn optional_table<'k>(
        &'k self,
        key: &'k str,
    ) -> Result<Option<Table<'k>>, CardError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(entries) => {
                Ok(Some(Table { document: self.document, path: key, entries }))
            }
            _ => Err(self.wrong(key, "a table of that name")),
        }
    }

    /// A name that can stand in a spec.
    pub(super) fn name(&self, key: &str) -> Result<String, CardError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let right = "a name of a-z, 0-9 and -";
        let name = self.optional_text(key)?.ok_or_else(|| self.missing(key, right))?;
        if name.chars().all(plain) { Ok(name) } else { Err(self.wrong(key, right)) }
    }

    pub(super) fn text(&self, key: &str) -> Result<String, CardError> {
        self.optional_text(key)?.ok_or_else(|| self.missing(key, TEXT))
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<Option<String>, CardError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let text = value.get_ref().as_str().filter(|text| is_shown(text));
        text.map(|text| Some(text.to_owned())).ok_or_else(|| self.wrong(key, TEXT))
    }

    pub(super) fn flag(&self, key: &str) -> Result<bool, CardError> {
        self.optional_flag(key)?.ok_or_else(|| self.missing(key, FLAG))
    }

    pub(super) fn optional_flag(&self, key: &str) -> Result<Option<bool>, CardError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        value.get_ref().as_bool().map(Some).ok_or_else(|| self.wrong(key, FLAG))
    }

    /// A number, plain or as `{ value = 1.5, source = "where from", fitted = true }`.
    pub(super) fn number(&self, key: &str, kind: Kind) -> Result<Option<Found>, CardError> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let right = kind.right();
        if let DeValue::Table(entries) = value.get_ref() {
            let path = self.path(key);
            let sourced = Table { document: self.document, path: &path, entries };
            sourced.only(&["value", "source", "fitted"])?;
            let value =
                sourced.entries.get("value").ok_or_else(|| sourced.missing("value", &right))?;
            let value = kind.take(value).ok_or_else(|| sourced.wrong("value", &right))?;
            let fitted = sourced.optional_flag("fitted")?.unwrap_or(false);
            return Ok(Some(Found { value, source: sourced.optional_text("source")?, fitted }));
        }
        let value = kind.take(value).ok_or_else(|| self.wrong(key, &right))?;
        Ok(Some(Found { value, source: None, fitted: false }))
    }

    pub(super) fn missing(&self, key: &str, right: &str) -> CardError {
        CardError::Missing {
            file: self.document.file.to_owned(),
            key: self.path(key),
            right: right.to_owned(),
        }
    }

    /// What stands at a key is not what should.
    pub(super) fn wrong(&self, key: &str, right: &str) -> CardError {
        let Some(value) = self.entries.get(key) else { return self.missing(key, right) };
        let text = self.document.text;
        CardError::Value {
            file: self.document.file.to_owned(),
            line: line_of(text, value.span().start),
            key: self.path(key),
            value: shown(text.get(value.span()).unwrap_or_default()),
            right: right.to_owned(),
        }
    }
}

impl Kind {
    /// An amount of something that may be nothing.
    pub(super) const fn amount(unit: &'static str) -> Self {
        Self::Real { unit, least: 0.0, most: 1e12 }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Whole { .. } => "",
            Self::Real { unit, .. } => unit,
        }
    }

    pub(super) fn right(self) -> String {
        match self {
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Real { unit, least, most } => format!("a number from {least} to {most} ({unit})"),
        }
    }

    /// The number, if it is one and in range.
    fn take(self, value: &Spanned<DeValue<'_>>) -> Option<f64> {
        match (self, value.get_ref()) {
            (_, DeValue::Integer(whole)) if whole.radix() == 10 => self.ranged(whole.as_str()),
            (Self::Real { .. }, DeValue::Float(real)) => self.ranged(real.as_str()),
            _ => None,
        }
    }

    fn ranged(self, digits: &str) -> Option<f64> {
        let (least, most) = match self {
            Self::Whole { least, most } => (f64::from(least), f64::from(most)),
            Self::Real { least, most, .. } => (least, most),
        };
        digits.parse().ok().filter(|value| (least..=most).contains(value))
    }
}

/// Whether a text can stand in a line of a table.
fn is_shown(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control)
}

/// A value as it was written, the first line of it.
fn shown(value: &str) -> String {
    let line = value.lines().next().unwrap_or_default();
    let short: String = line.chars().take(SHOWN_CHARS).filter(|c| !c.is_control()).collect();
    if short.len() < value.len() { format!("{short}…") } else { short }
}

/// A text without what would move a terminal's cursor or change its colours.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

const FLAG: &str = "true or false";
const TEXT: &str = "a text of one line";
const TEXT_BYTES_MAX: usize = 2_000;
const SHOWN_CHARS: usize = 60;
