//! How a host lays out messages, and where it finds what became of them.

use super::message::{LayoutError, Message, OPEN, Operation, SEAL, TAG, VERIFY, check, padded};
use super::{CONTEXT, HEADER_BYTES, KEY, MESSAGE, RESULTS_AT};
use crate::program::Region;
use std::ops::Range;

/// Messages as they lie in a DPU's MRAM.
pub struct Layout {
    image: Vec<u8>,
    places: Places,
}

/// Where results are. It holds neither keys nor texts.
#[derive(Clone, Debug)]
pub struct Places {
    /// Of each message: where its tag is among the results, and how long its text.
    messages: Vec<(usize, usize)>,
    results_bytes: usize,
    used_bytes: usize,
}

impl Layout {
    /// Lays out what one DPU is to work on, which may be nothing.
    ///
    /// # Errors
    /// A key or nonce that is none, or more than MRAM holds.
    pub fn new(keys: &[&[u8]], messages: &[Message<'_>]) -> Result<Self, LayoutError> {
        let uses = check(keys, messages)?;
        let shared = uses.iter().filter(|uses| **uses > 1).count();
        let sum = |part: fn(&Message<'_>) -> usize| messages.iter().map(part).sum::<usize>();
        let results = sum(|message| TAG + padded(message.text.len()));
        let mut builder = Builder { next: [0; 4], places: Vec::new(), image: Vec::new() };
        let mut end = HEADER_BYTES as usize;
        let parts = [
            results,
            messages.len() * MESSAGE as usize,
            keys.len() * KEY as usize,
            sum(|message| message.mram_bytes()) - results - messages.len() * MESSAGE as usize,
        ];
        for (next, bytes) in builder.next.iter_mut().zip(parts) {
            *next = end;
            end += bytes;
        }
        let used_bytes = end + shared * CONTEXT as usize;
        builder.image = vec![0; end];
        let [_, descriptions, key_at, _] = builder.next;
        builder.word(0, messages.len());
        builder.word(4, address(descriptions));
        builder.keys(keys, &uses, end);
        builder.messages(messages, key_at);
        let places = Places { messages: builder.places, results_bytes: results, used_bytes };
        Ok(Self { image: builder.image, places })
    }

    /// What a host writes to MRAM, from `PLACE` on: a multiple of eight bytes.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// Where results will be.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Both. The image holds keys and texts: whoever has it wipes it.
    #[must_use]
    pub fn into_image(self) -> (Vec<u8>, Places) {
        (self.image, self.places)
    }
}

impl Places {
    /// Bytes of all results, from `RESULTS_AT` on: a multiple of eight.
    #[must_use]
    pub fn results_bytes(&self) -> usize {
        self.results_bytes
    }

    /// Bytes of MRAM from `PLACE` on that hold keys, texts or what was made of them.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// The tag that a message should have.
    ///
    /// # Panics
    /// There is no such message, or the results are not all there.
    #[must_use]
    pub fn tag(&self, message: usize, results: &[u8]) -> [u8; TAG] {
        let mut tag = [0; TAG];
        let at = self.messages[message].0;
        tag.copy_from_slice(&results[at..at + TAG]);
        tag
    }

    /// Where among the results a message's text is.
    ///
    /// # Panics
    /// There is no such message.
    #[must_use]
    pub fn text(&self, message: usize) -> Range<usize> {
        let (at, bytes) = self.messages[message];
        at + TAG..at + TAG + bytes
    }
}

/// An address in MRAM.
fn address(at: usize) -> usize {
    Region::Mram.base() as usize + at
}

/// Fills an image that has its size.
struct Builder {
    /// Where the next result, description, key, and nonce or additional data goes.
    next: [usize; 4],
    places: Vec<(usize, usize)>,
    image: Vec<u8>,
}

impl Builder {
    fn word(&mut self, at: usize, value: usize) {
        // Everything was checked to be within MRAM.
        let word = u32::try_from(value).unwrap_or(u32::MAX);
        self.bytes(at, &word.to_le_bytes());
    }

    fn bytes(&mut self, at: usize, bytes: &[u8]) {
        self.image[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Takes room of one kind.
    fn take(&mut self, kind: usize, bytes: usize) -> usize {
        let at = self.next[kind];
        self.next[kind] += bytes;
        at
    }

    fn keys(&mut self, keys: &[&[u8]], uses: &[usize], mut context: usize) {
        for (key, &uses) in keys.iter().zip(uses) {
            let at = self.take(2, KEY as usize);
            self.word(at + 4, key.len());
            if uses > 1 {
                self.word(at + 8, address(context));
                context += CONTEXT as usize;
            }
            self.bytes(at + 16, key);
        }
    }

    /// The longest first, so that tasklets end about the same time.
    fn messages(&mut self, messages: &[Message<'_>], key_at: usize) {
        let results = RESULTS_AT as usize;
        let mut order: Vec<usize> = (0..messages.len()).collect();
        order.sort_by_key(|&message| {
            std::cmp::Reverse(messages[message].text.len() + messages[message].aad.len())
        });
        for message in messages {
            let at = self.take(0, TAG + padded(message.text.len()));
            self.places.push((at - results, message.text.len()));
            self.bytes(at + TAG, message.text);
        }
        for number in order {
            let text = results + self.places[number].0 + TAG;
            self.description(&messages[number], text, key_at);
        }
    }

    fn description(&mut self, message: &Message<'_>, text: usize, key_at: usize) {
        let at = self.take(1, MESSAGE as usize);
        let operation = match message.operation {
            Operation::Seal => SEAL,
            Operation::Open => OPEN,
            Operation::Verify => VERIFY,
        };
        let blocks = message.nonce_blocks();
        let nonce = self.take(3, 16 * blocks);
        let aad = self.take(3, padded(message.aad.len()));
        let words = [
            operation as usize,
            address(key_at + KEY as usize * message.key),
            address(nonce),
            blocks,
            address(aad),
            message.aad.len(),
            address(text),
            message.text.len(),
        ];
        for (number, word) in words.into_iter().enumerate() {
            self.word(at + 4 * number, word);
        }
        self.bytes(aad, message.aad);
        if blocks == 0 {
            self.bytes(at + 40, message.nonce);
            self.bytes(at + 52, &1_u32.to_be_bytes());
        } else {
            let bits = 8 * message.nonce.len() as u64;
            self.bytes(nonce, message.nonce);
            self.bytes(nonce + 16 * blocks - 8, &bits.to_be_bytes());
        }
    }
}
