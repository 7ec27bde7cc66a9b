//! Whether results would be written over something else.

use crate::bytes::Lent;
use crate::column::{Given, Rows};
use crate::errors::{Failure, Outcome};
use crate::ffi::Memory;
use sealift::{BatchError, Layout, Region, find_overlap};
use std::ops::Range;

/// Proof that no output of a call shares a byte with another output or an input. Only the checks
/// here make one.
pub(crate) struct Apart {
    /// Whether rows of outputs lie between rows of other columns, so that only single rows may be
    /// taken as slices.
    pub(crate) interleaved: bool,
}

/// Checks a batch's outputs. Inputs that are worked in place are not among the inputs.
pub(crate) fn check(
    outputs: &[(&'static str, &Rows)],
    inputs: &[(&'static str, &Given<'_>)],
) -> Outcome<Apart> {
    outputs.iter().try_for_each(|(name, rows)| check_itself(name, rows))?;
    let mut interleaved = false;
    for (at, (name, output)) in outputs.iter().enumerate() {
        let output = Area::Rows(name, output);
        let rivals = outputs[at + 1..].iter().map(|(name, rows)| Area::Rows(name, rows));
        let inputs = inputs.iter().filter_map(|(name, given)| Area::of(name, given));
        for rival in rivals.chain(inputs) {
            interleaved |= clash(&output, &rival)?;
        }
    }
    Ok(Apart { interleaved })
}

/// Whether a single output is apart from all inputs.
pub(crate) fn check_one(output: &Memory, inputs: &[&[u8]]) -> Option<Apart> {
    let span = output.address()..output.address() + output.len();
    let apart = inputs.iter().all(|input| !overlap(&span, &addresses(input)));
    apart.then_some(Apart { interleaved: false })
}

/// Refuses an output whose rows share bytes.
fn check_itself(column: &'static str, rows: &Rows) -> Outcome<()> {
    match rows.layout {
        Layout::Fixed { stride, len } if rows.count > 1 && stride < len => {
            Err(BatchError::OutputsOverlap { column, stride, len }.into())
        }
        _ => Ok(()),
    }
}

/// Where a column lies.
enum Area<'a> {
    Rows(&'static str, &'a Rows),
    Each(&'static str, &'a [Lent<'a>]),
    Same(&'static str, &'a [u8]),
}

impl<'a> Area<'a> {
    fn of(name: &'static str, given: &'a Given<'_>) -> Option<Self> {
        match given {
            Given::Empty | Given::Nonces(..) => None,
            Given::Same(bytes) => Some(Self::Same(name, bytes.as_slice())),
            Given::Each(each) => Some(Self::Each(name, each)),
            Given::Rows(rows) => Some(Self::Rows(name, rows)),
        }
    }

    /// From its first to its last byte, where that is one allocation.
    fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Rows(_, rows) => {
                Some(rows.memory.address()..rows.memory.address() + rows.memory.len())
            }
            Self::Same(_, bytes) => Some(addresses(bytes)),
            Self::Each(..) => None,
        }
    }

    fn regions(&self) -> Vec<Region> {
        // Of perhaps a million two are named, when they are found.
        let region = |message| Region { addresses: self.addresses(message), name: String::new() };
        (0..self.count()).map(region).collect()
    }

    fn count(&self) -> usize {
        match self {
            Self::Same(..) => 1,
            Self::Each(_, each) => each.len(),
            Self::Rows(_, rows) => rows.count,
        }
    }

    fn addresses(&self, message: usize) -> Range<usize> {
        match self {
            Self::Same(_, bytes) => addresses(bytes),
            Self::Each(_, each) => addresses(each[message].as_slice()),
            Self::Rows(_, rows) => shift(&rows.layout.range(message), rows.memory.address()),
        }
    }

    /// What lies exactly there, as a person would write it.
    fn name_at(&self, addresses: &Range<usize>) -> Option<String> {
        let message = (0..self.count()).find(|&message| self.addresses(message) == *addresses)?;
        Some(match self {
            Self::Same(name, _) => (*name).to_owned(),
            Self::Each(name, _) | Self::Rows(name, _) => format!("{name}[{message}]"),
        })
    }
}

/// Refuses an output that shares a byte with another column; says whether their spans cross.
fn clash(output: &Area<'_>, rival: &Area<'_>) -> Outcome<bool> {
    let Some(span) = output.span() else { return Ok(false) };
    match (rival, rival.span()) {
        (_, Some(other)) if !overlap(&span, &other) => return Ok(false),
        (Area::Each(_, each), _)
            if each.iter().all(|bytes| !overlap(&span, &addresses(bytes.as_slice()))) =>
        {
            return Ok(false);
        }
        (Area::Rows(_, rival), _) => {
            if let Area::Rows(_, output) = output
                && are_columns_of_one_table(output, rival)
            {
                return Ok(true);
            }
        }
        _ => {}
    }
    let Some((one, other)) = find_overlap(&output.regions(), &rival.regions()) else {
        return Ok(true);
    };
    let (one, other) = (&one.addresses, &other.addresses);
    // Which of the two comes first in memory says not which is the output.
    let names = output.name_at(one).zip(rival.name_at(other));
    let names = names.or_else(|| output.name_at(other).zip(rival.name_at(one)));
    let (written, shared) = names.unwrap_or_default();
    Err(Failure::Input(format!(
        "{written} and {shared} share bytes: give outputs their own memory, or exactly the memory of \
         the texts to work in place"
    )))
}

/// Whether two columns have one stride and share no byte of it: the common case, and cheap to see.
fn are_columns_of_one_table(one: &Rows, other: &Rows) -> bool {
    let (&Layout::Fixed { stride, len }, &Layout::Fixed { stride: other_stride, len: other_len }) =
        (&one.layout, &other.layout)
    else {
        return false;
    };
    if stride != other_stride || stride == 0 {
        return false;
    }
    let (one, other) = (one.memory.address(), other.memory.address());
    let distance = if other >= one {
        (other - one) % stride
    } else {
        (stride - (one - other) % stride) % stride
    };
    distance >= len && distance + other_len <= stride
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    !one.is_empty() && !other.is_empty() && one.start < other.end && other.start < one.end
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    shift(&(0..bytes.len()), bytes.as_ptr().addr())
}

fn shift(range: &Range<usize>, base: usize) -> Range<usize> {
    range.start + base..range.end + base
}
