//! What a thread needs for a unit, used again for the next one.

use crate::keyring::{Class, Table};
use crate::{Segment, UNIT_ROWS};
use sealift_core::{Buffer, Column, Status};
use zeroize::Zeroizing;

/// Columns of a batch that are made for it.
pub(crate) struct Scratch {
    /// Raw keys, one behind the other.
    pub(crate) keys: Zeroizing<Vec<u8>>,
    pub(crate) nonces: Vec<u8>,
    pub(crate) aad: AadColumn,
    pub(crate) status: Vec<Status>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        // Room from the start: keys that are moved to more room would leave a copy.
        let keys = Zeroizing::new(Vec::with_capacity(UNIT_ROWS * 32));
        Self { keys, nonces: vec![], aad: AadColumn::default(), status: vec![] }
    }

    /// Puts so many keys of a class where the batch reads them.
    pub(crate) fn gather_keys(
        &mut self,
        table: &Table,
        class: Class,
        keys: impl Iterator<Item = u32>,
    ) {
        self.keys.clear();
        match class.key_bytes {
            32 => keys.for_each(|key| self.keys.extend_from_slice(table.key(key))),
            bytes => keys.for_each(|key| self.keys.extend_from_slice(&table.key(key)[..bytes])),
        }
    }

    /// Statuses of so many messages.
    pub(crate) fn statuses(&mut self, messages: usize) -> &mut [Status] {
        self.status.clear();
        self.status.resize(messages, Status::NotProcessed);
        &mut self.status
    }
}

/// Appends a header or a nonce. Copies of lengths that are known are a few moves; another is a call.
#[inline(always)]
pub(crate) fn append(to: &mut Vec<u8>, from: &[u8]) {
    match from.len() {
        8 => to.extend_from_slice(from.first_chunk::<8>().unwrap_or(&[0; 8])),
        12 => to.extend_from_slice(from.first_chunk::<12>().unwrap_or(&[0; 12])),
        _ => to.extend_from_slice(from),
    }
}

/// Copies a header or a nonce to where it goes, which has as many bytes.
#[inline(always)]
pub(crate) fn put(to: &mut [u8], from: &[u8]) {
    match (to.len(), from.len()) {
        (8, 8) => to[..8].copy_from_slice(&from[..8]),
        (12, 12) => to[..12].copy_from_slice(&from[..12]),
        _ => to.copy_from_slice(from),
    }
}

/// Associated data of a unit's rows.
#[derive(Default)]
pub(crate) struct AadColumn {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    /// Whether all are as long as the first.
    is_uniform: bool,
}

impl AadColumn {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.ends.push(0);
        self.is_uniform = true;
    }

    /// Begins a row's, which [`finish`](Self::finish) ends.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends the caller's parts of a row, each behind its length.
    #[inline(always)]
    pub(crate) fn put_parts(&mut self, segment: &Segment<'_>, row: usize) {
        for part in &segment.aad {
            let bytes = part.rows.get(row);
            #[expect(clippy::cast_possible_truncation, reason = "`check` refuses longer parts")]
            self.bytes.extend((bytes.len() as u32).to_le_bytes());
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends a row's.
    #[inline(always)]
    pub(crate) fn finish(&mut self) {
        self.ends.push(self.bytes.len() as u64);
        let rows = self.ends.len() as u64 - 1;
        self.is_uniform &= self.bytes.len() as u64 == rows * self.ends[1];
    }

    pub(crate) fn column(&self) -> Column<'_> {
        let bytes = Buffer::Borrowed(&self.bytes);
        match self.ends.get(1) {
            None | Some(0) if self.is_uniform => Column::Empty,
            Some(_) if self.is_uniform => {
                Column::fixed(bytes, self.bytes.len() / (self.ends.len() - 1))
            }
            _ => Column::offsets64(bytes, &self.ends[..]),
        }
    }
}
