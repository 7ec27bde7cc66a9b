//! Looking into a description.

use super::PresetError;
use toml::de::{DeTable, DeValue};

/// Looks into a table; one that is not there is empty.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) path: String,
    pub(super) table: Option<&'a DeTable<'a>>,
}

impl<'a> Reader<'a> {
    fn get(&self, key: &str) -> Option<&'a DeValue<'a>> {
        Some(self.table?.get(key)?.get_ref())
    }

    /// What is wrong with a value, or that there is none.
    pub(super) fn wrong(&self, key: &str, right: impl Into<String>) -> PresetError {
        let found = self.table.and_then(|table| table.get(key));
        let (key, right) = (self.place(key), right.into());
        match found {
            None => PresetError::Missing { key, right },
            Some(value) => {
                let (line, value) =
                    (line_of(self.text, value.span().start), self.shown(value.span()));
                PresetError::Value { line, key, value, right }
            }
        }
    }

    /// What stands in the text, short enough for a line.
    fn shown(&self, span: std::ops::Range<usize>) -> String {
        let text = self.text.get(span).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let shown: String = line.chars().take(SHOWN_MAX).collect();
        if shown.len() < text.len() { shown + "..." } else { shown }
    }

    /// Does nothing stand in it?
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_none_or(DeTable::is_empty)
    }

    fn place(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn only(&self, known: &'static str, keys: &[&str]) -> Result<(), PresetError> {
        let given = self.table.into_iter().flat_map(|table| table.keys());
        for key in given {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let line = line_of(self.text, key.span().start);
                return Err(PresetError::Key { line, key: self.place(name), known });
            }
        }
        Ok(())
    }

    pub(super) fn table(&self, key: &str) -> Result<Reader<'a>, PresetError> {
        let table = match self.get(key) {
            None => None,
            Some(DeValue::Table(table)) => Some(table),
            Some(_) => return Err(self.wrong(key, "a table")),
        };
        Ok(Reader { text: self.text, path: self.place(key), table })
    }

    pub(super) fn text(&self, key: &str) -> Result<String, PresetError> {
        let text = self.get(key).and_then(DeValue::as_str);
        text.map(str::to_owned).ok_or_else(|| self.wrong(key, "a text"))
    }

    pub(super) fn flag(&self, key: &str, usual: bool) -> Result<bool, PresetError> {
        match self.get(key) {
            None => Ok(usual),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "true or false")),
        }
    }

    pub(super) fn real(&self, key: &str, usual: Option<f64>) -> Result<f64, PresetError> {
        let number = self.get(key).map_or(usual, real);
        number.ok_or_else(|| self.wrong(key, format!("a number {ABOVE_0}")))
    }

    /// A row of numbers; an empty one, if it is not there.
    pub(super) fn reals(&self, key: &str) -> Result<Vec<f64>, PresetError> {
        self.row(key, real).ok_or_else(|| self.wrong(key, format!("a row of numbers {ABOVE_0}")))
    }

    /// A row of whole numbers; an empty one, if it is not there.
    pub(super) fn wholes(&self, key: &str) -> Result<Vec<u32>, PresetError> {
        let right = || format!("a row of whole numbers up to {}", u32::MAX);
        self.row(key, whole).ok_or_else(|| self.wrong(key, right()))
    }

    fn row<T>(&self, key: &str, read: fn(&DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
        match self.get(key) {
            None => Some(Vec::new()),
            Some(DeValue::Array(row)) => row.iter().map(|value| read(value.get_ref())).collect(),
            Some(_) => None,
        }
    }

    pub(super) fn whole(
        &self,
        key: &str,
        usual: Option<u32>,
        least: u32,
        most: u32,
    ) -> Result<u32, PresetError> {
        let number = self.get(key).map_or(usual, whole);
        let valid = number.filter(|value| (least..=most).contains(value));
        valid.ok_or_else(|| self.wrong(key, format!("a whole number from {least} to {most}")))
    }
}

fn whole(value: &DeValue<'_>) -> Option<u32> {
    let DeValue::Integer(value) = value else { return None };
    u32::from_str_radix(&value.as_str().replace('_', ""), value.radix()).ok()
}

/// A number above 0, and below a billion.
fn real(value: &DeValue<'_>) -> Option<f64> {
    let text = match value {
        DeValue::Float(value) => value.as_str(),
        DeValue::Integer(value) => value.as_str(),
        _ => return None,
    };
    let number: f64 = text.replace('_', "").parse().ok()?;
    (number.is_finite() && number > 0.0 && number < 1e9).then_some(number)
}

const ABOVE_0: &str = "above 0 and below 1e9";
const SHOWN_MAX: usize = 40;

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
