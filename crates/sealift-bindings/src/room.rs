//! Memory for what a call makes. Where there is none it raises MemoryError, and the process goes on.

use crate::batch::Statuses;
use crate::errors::{Failure, Outcome};
use crate::ffi;
use sealift::{BatchError, Status};

/// A vector with room for so many items.
pub(crate) fn empty<T>(items: usize, name: &str) -> Outcome<Vec<T>> {
    let mut all = Vec::new();
    match all.try_reserve_exact(items) {
        Ok(()) => Ok(all),
        Err(_) => Err(none(items as u128 * size_of::<T>() as u128, name)),
    }
}

/// A status for each message.
pub(crate) fn statuses(messages: usize) -> Outcome<Statuses> {
    let mut all = Statuses::new();
    match all.try_reserve_exact(messages) {
        Ok(()) => all.resize(messages, Status::NotProcessed),
        Err(_) => return Err(none(messages as u128, "status")),
    }
    Ok(all)
}

/// A copy.
#[expect(clippy::disallowed_methods, reason = "one message, nonces, or offsets")]
pub(crate) fn copy<T: Copy>(items: &[T], name: &str) -> Outcome<Vec<T>> {
    let mut all = empty(items.len(), name)?;
    all.extend_from_slice(items);
    Ok(all)
}

/// Zeros for the results of so many messages of so many bytes.
pub(crate) fn zeros(messages: usize, bytes: usize, name: &str) -> Outcome<Vec<u8>> {
    let Some(all) = messages.checked_mul(bytes) else {
        return Err(BatchError::TooMuch { messages, bytes }.into());
    };
    ffi::zeros(all).ok_or_else(|| none(all as u128, name))
}

fn none(bytes: u128, name: &str) -> Failure {
    Failure::NoMemory(format!(
        "{name} takes {bytes} bytes, and there is no memory for them: split the batch"
    ))
}
