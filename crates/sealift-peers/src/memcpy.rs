//! Texts copied to where results go, to compare with: what encrypting costs over reading and writing them.

use crate::messages::PreparedMessages;
use crate::timed::{self, Timed};
use sealift_probes::{Arm, ArmError, Done, Memory, Part};
use std::hint::black_box;

/// The C library's copy of all texts, a set at a time.
///
/// # Errors
/// The thread couldn't be started.
pub fn arm(messages: &[PreparedMessages]) -> Result<Box<dyn Arm + '_>, ArmError> {
    let to = messages.iter().map(|set| Memory::zeroed(set.text_bytes())).collect();
    let pass = Pass { messages, to, done: timed::done(messages, 1) };
    Ok(Box::new(Timed::unchecked("memcpy".to_owned(), vec![pass])?))
}

struct Pass<'m> {
    messages: &'m [PreparedMessages],
    to: Vec<Memory>,
    done: Done,
}

impl Part for Pass<'_> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            for (set, to) in self.messages.iter().zip(&mut self.to) {
                to.copy_from_slice(set.texts.bytes());
                black_box(to);
            }
        }
        let (many, Done { operations, bytes }) = (times as u64, self.done);
        Ok(Done { operations: operations * many, bytes: bytes * many })
    }
}
