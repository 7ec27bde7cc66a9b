//! Where results go, and whether they are right.

use crate::lot::Lot;
use sealift::{Layout, Status};
use sealift_probes::{ArmError, Memory};

/// The results of a lot.
pub struct Place {
    /// Texts, lying like the inputs.
    pub text: Memory,
    /// Tags of seals.
    pub tags: Memory,
    /// What became of each message.
    pub status: Vec<Status>,
    layout: Layout<'static>,
    tag_bytes: usize,
}

impl Place {
    /// Room for a lot, filled with bytes that show where nothing is written.
    #[must_use]
    pub fn of(lot: &Lot) -> Self {
        let tag_bytes = lot.tag_length.bytes();
        let mut place = Self {
            text: Memory::zeroed(lot.text_bytes()),
            tags: Memory::zeroed(lot.len() * tag_bytes),
            status: vec![Status::NotProcessed; lot.len()],
            layout: lot.texts.layout().clone(),
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
    lot: usize,
    at: usize,
    was_whole: bool,
}

impl Checks {
    /// Asks of some messages, by lot and place, what is wrong with what came of them.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn next(
        &mut self,
        name: &str,
        lots: &[Lot],
        mut wrong: impl FnMut(usize, usize) -> Option<String>,
    ) -> Result<(), ArmError> {
        let every: usize = lots.iter().map(Lot::len).sum();
        let some = if self.was_whole { every.min(CHECKED_A_SAMPLE) } else { every };
        self.was_whole = true;
        for _ in 0..some {
            if let Some(what) = wrong(self.lot, self.at) {
                return Err(ArmError::Wrong { device: name.to_owned(), what });
            }
            self.step(lots);
        }
        Ok(())
    }

    fn step(&mut self, lots: &[Lot]) {
        self.at += 1;
        if self.at == lots[self.lot].len() {
            (self.lot, self.at) = ((self.lot + 1) % lots.len(), 0);
        }
    }
}

const SPOILT: u8 = 0xA5;
const CHECKED_A_SAMPLE: usize = 256;
