//! Random groups of messages within what a device takes.

use crate::compare::seal_truths;
use crate::message::{Group, Message, Ring, Truth};
use crate::random::Random;
use crate::subject::Subject;
use sealift_core::{Capabilities, Key, Op, TagLength};
use std::sync::Arc;

/// How long texts and aad get, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Longest {
    pub(crate) text: usize,
    pub(crate) aad: usize,
}

/// What random messages may be.
pub(crate) struct Recipe {
    pub(crate) ring: Arc<Ring>,
    nonce_lengths: Vec<usize>,
    tag_lengths: Vec<TagLength>,
    text_bytes_max: usize,
    aad_bytes_max: usize,
}

impl Recipe {
    /// With so many keys of all sizes.
    pub(crate) fn new(subject: &Subject, keys: usize, random: &mut Random) -> Self {
        Self::with_ring(subject, Ring::new((0..keys).map(|_| random_key(random)).collect()))
    }

    /// With these keys.
    pub(crate) fn with_ring(subject: &Subject, ring: Arc<Ring>) -> Self {
        let (nonce_lengths, tag_lengths) = (subject.nonce_lengths(), subject.tag_lengths());
        let &Capabilities { text_bytes_max, aad_bytes_max, .. } = subject.capabilities();
        Self { ring, nonce_lengths, tag_lengths, text_bytes_max, aad_bytes_max }
    }

    /// Messages to seal, without truths. A quarter of the groups has one text length, a quarter
    /// short texts; a third no aad, a third one for all; a fifth nonces of all lengths.
    pub(crate) fn seals(&self, count: usize, longest: Longest, random: &mut Random) -> Group {
        let longest = Longest {
            text: longest.text.min(self.text_bytes_max),
            aad: longest.aad.min(self.aad_bytes_max),
        };
        let text_most = random.pick(&[300, 1_024, longest.text]).min(longest.text);
        let same_text = random.one_in(4).then(|| random.up_to(text_most));
        let aads = random.below(3);
        let aad_len = random.up_to(longest.aad);
        let same_aad = random.bytes(aad_len);
        let all_nonces = random.one_in(5);
        let one_key = random.one_in(4).then(|| random.below(self.ring.len()));
        let message = |_| {
            let text = same_text.unwrap_or_else(|| random.up_to(text_most));
            let aad = match aads {
                0 => vec![],
                1 => same_aad.clone(),
                _ => {
                    let len = random.up_to(longest.aad);
                    random.bytes(len)
                }
            };
            let nonce = if all_nonces { random.pick(&self.nonce_lengths) } else { 12 };
            let key = one_key.unwrap_or_else(|| random.below(self.ring.len()));
            let (nonce, text) = (random.bytes(nonce), random.bytes(text));
            Message { op: Op::Seal, key, nonce, aad, text, tag: vec![] }
        };
        let messages = (0..count).map(message).collect();
        let tag_length = random.pick(&self.tag_lengths);
        Group { ring: self.ring.clone(), tag_length, messages, truths: vec![] }
    }

    /// The same with truths.
    pub(crate) fn sealed(
        &self,
        subject: &Subject,
        count: usize,
        longest: Longest,
        random: &mut Random,
    ) -> Result<Group, String> {
        let mut group = self.seals(count, longest, random);
        seal_truths(&*subject.oracle, &mut group)?;
        Ok(group)
    }
}

/// A key of one of the three sizes.
pub(crate) fn random_key(random: &mut Random) -> Key {
    let bytes = random.pick(&[16, 24, 32]);
    Key::new(&random.bytes(bytes)).expect("a key has one of these lengths")
}

/// Opens what a group sealed, mixed with seals, verifies and wrong tags.
pub(crate) fn mixed(sealed: &Group, random: &mut Random) -> Group {
    let mut group = sealed.opening();
    let seals = sealed.messages.iter().zip(&sealed.truths);
    let opens = group.messages.iter_mut().zip(&mut group.truths);
    for ((message, truth), (seal, seal_truth)) in opens.zip(seals) {
        match random.below(20) {
            0..=1 => (*message, *truth) = (seal.clone(), seal_truth.clone()),
            2..=3 => (message.op, *truth) = (Op::Verify, Truth::verified()),
            kind @ 4..=6 => {
                message.op = if kind == 6 { Op::Verify } else { Op::Open };
                let bit = random.below(8 * message.tag.len());
                message.tag[bit / 8] ^= 1 << (bit % 8);
                *truth = Truth::failed(message);
            }
            _ => {}
        }
    }
    group
}
