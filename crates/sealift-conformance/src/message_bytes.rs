//! One message whose every byte lies in memory that changes while it is opened.

use crate::message::{Group, Hex, Ring};
use bytes::Bytes;
use sealift_core::{Batch, Column, Keys, NonceRule, Stability, Status, Tags};
use std::ops::Range;
use std::sync::Arc;

/// Key, nonce, aad, ciphertext and tag behind each other.
pub(crate) struct MessageBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ring: Arc<Ring>,
    plain: Vec<u8>,
    /// Of key, nonce, aad, text and tag.
    pub(crate) parts: [Range<usize>; 5],
}

impl MessageBytes {
    /// Of the first message of a group that opens.
    pub(crate) fn new(group: &Group) -> Self {
        let message = &group.messages[0];
        let columns = [
            group.ring.key_bytes(message.key),
            &message.nonce,
            &message.aad,
            &message.text,
            &message.tag,
        ];
        let mut end = 0;
        let parts = columns.map(|column| {
            end += column.len();
            end - column.len()..end
        });
        let (bytes, plain) = (columns.concat(), group.truths[0].text.clone());
        Self { bytes, ring: group.ring.clone(), plain, parts }
    }

    /// Bytes of ciphertext.
    pub(crate) fn text_bytes(&self) -> usize {
        self.plain.len()
    }

    /// Opens so many copies of the message as it lies in `input`.
    pub(crate) fn batch<'b>(&self, input: &'b Bytes, raw_keys: bool, len: usize) -> Batch<'b> {
        let column = |part: usize| Column::Same(input.slice(self.parts[part].clone()).into());
        let keys = if raw_keys { Keys::Raw(column(0)) } else { self.ring.session(0).into() };
        Batch {
            aad: column(2),
            nonce_rule: NonceRule::Standard,
            stability: Stability::Shared,
            ..Batch::open(len, keys, column(1), column(3), Tags::Apart(column(4)))
        }
    }

    /// Whether a message opened; an error where it neither opened right nor failed with zeros.
    pub(crate) fn opened(&self, status: Status, text: &[u8]) -> Result<bool, String> {
        match status {
            Status::Ok if text == self.plain => Ok(true),
            Status::AuthFailed if text.iter().all(|byte| *byte == 0) => Ok(false),
            other => Err(format!("{other:?} with {}", Hex(text))),
        }
    }
}
