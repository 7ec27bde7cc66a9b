//! Sections: what stands where, before symbols have values.

use super::error::{Place, Reason};
use super::expression::Expression;
use super::select::Pending;
use crate::program::Region;

/// A section of the program.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) region: Option<Region>,
    /// In bytes; of text eight to the instruction.
    pub(super) size: u64,
    pub(super) align: u64,
    /// The first bytes; zeros follow up to `size`.
    pub(super) bytes: Vec<u8>,
    pub(super) code: Vec<Pending>,
    pub(super) values: Vec<Value>,
    /// Where data start, from the first to the last.
    pub(super) data: Vec<u64>,
    /// Where the section starts in its memory, once that is known.
    pub(super) start: u64,
    pub(super) first: Place,
}

/// Data whose value may need symbols.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) place: Place,
    pub(super) offset: u64,
    pub(super) width: u8,
    pub(super) expression: Expression,
}

impl Section {
    pub(super) fn new(name: &str, region: Option<Region>, first: Place) -> Self {
        Self {
            name: name.to_owned(),
            region,
            size: 0,
            align: 8,
            bytes: Vec::new(),
            code: Vec::new(),
            values: Vec::new(),
            data: Vec::new(),
            start: 0,
            first,
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.region == Some(Region::Iram)
    }

    /// Keeps data that room was made for.
    pub(super) fn keep(&mut self, start: u64, data: &[u8]) {
        if self.region.is_some() {
            self.bytes.resize(usize::try_from(start).unwrap_or(usize::MAX), 0);
            self.bytes.extend_from_slice(data);
        }
    }

    /// Does a datum start between these two places?
    pub(super) fn has_datum_within(&self, start: u64, end: u64) -> bool {
        let behind = self.data.partition_point(|datum| *datum <= start);
        self.data.get(behind).is_some_and(|datum| *datum < end)
    }

    /// Puts a value over the zeros that were kept for it.
    pub(super) fn patch(&mut self, offset: u64, width: u8, value: i64) {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let width = usize::from(width);
        if let Some(place) = self.bytes.get_mut(start..start.saturating_add(width)) {
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }
}

/// Which memory a section belongs into, by its name; none is kept of those for debuggers.
///
/// # Errors
/// None of them is called so.
pub(super) fn region(name: &str) -> Result<Option<Region>, Reason> {
    let is = |start: &str| {
        name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if is(".text") {
        Ok(Some(Region::Iram))
    } else if is(".mram") {
        Ok(Some(Region::Mram))
    } else if is(".atomic") {
        Ok(Some(Region::Atomic))
    } else if IN_WRAM.into_iter().any(is) {
        Ok(Some(Region::Wram))
    } else if FOR_DEBUGGERS.iter().any(|start| name.starts_with(start)) {
        Ok(None)
    } else {
        Err(Reason::Section(name.to_owned()))
    }
}

/// The vendor's compiler puts what hosts reach by name into `.dpu_host`.
const IN_WRAM: [&str; 4] = [".data", ".rodata", ".bss", ".dpu_host"];
const FOR_DEBUGGERS: [&str; 6] =
    [".debug", ".comment", ".note", ".stack_sizes", ".llvm", ".eh_frame"];
