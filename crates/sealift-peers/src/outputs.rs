//! Where results go, and whether they are right.

use crate::messages::PreparedMessages;
use sealift::{Layout, Status};
use sealift_probes::{ArmError, Memory};

/// The results of a set.
pub struct Outputs {
    /// Texts, lying like the inputs.
    pub text: Memory,
    /// Tags of seals.
    pub tags: Memory,
    /// What became of each message.
    pub status: Vec<Status>,
    layout: Layout<'static>,
    tag_bytes: usize,
}

impl Outputs {
    /// Room for a set, filled with bytes that show where nothing is written.
    #[must_use]
    pub fn of(set: &PreparedMessages) -> Self {
        let tag_bytes = set.tag_length.bytes();
        let mut place = Self {
            text: Memory::zeroed(set.text_bytes()),
            tags: Memory::zeroed(set.len() * tag_bytes),
            status: vec![Status::NotProcessed; set.len()],
            layout: set.texts.layout().clone(),
            tag_bytes,
        };
        place.text.fill(SPOILT);
        place.tags.fill(SPOILT);
        place
    }

    /// A message's text and tag and what became of it.
    #[must_use]
    pub fn message(&self, at: usize) -> (&[u8], &[u8], Status) {
        let tag = &self.tags[at * self.tag_bytes..][..self.tag_bytes];
        (&self.text[self.layout.range(at)], tag, self.status[at])
    }
}

/// Checks every message once, and then some after each sample, going round.
#[derive(Default)]
pub struct Checks {
    set: usize,
    at: usize,
    was_whole: bool,
}

impl Checks {
    /// Asks of some messages, by set and place, what is wrong with what came of them.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn next(
        &mut self,
        name: &str,
        messages: &[PreparedMessages],
        mut wrong: impl FnMut(usize, usize) -> Option<String>,
    ) -> Result<(), ArmError> {
        let every: usize = messages.iter().map(PreparedMessages::len).sum();
        let some = if self.was_whole { every.min(CHECKED_A_SAMPLE) } else { every };
        self.was_whole = true;
        for _ in 0..some {
            if let Some(what) = wrong(self.set, self.at) {
                return Err(ArmError::Wrong { device: name.to_owned(), what });
            }
            self.step(messages);
        }
        Ok(())
    }

    fn step(&mut self, messages: &[PreparedMessages]) {
        self.at += 1;
        if self.at == messages[self.set].len() {
            (self.set, self.at) = ((self.set + 1) % messages.len(), 0);
        }
    }
}

const SPOILT: u8 = 0xA5;
const CHECKED_A_SAMPLE: usize = 256;
