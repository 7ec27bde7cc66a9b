//! Random groups of messages within what a device takes.

use crate::compare::seal_truths;
use crate::message::{Group, Message, Ring, Truth};
use crate::random::Random;
use crate::subject::Subject;
use sealift_core::{Algorithm, Capabilities, Key, Op, TagLength};
use std::sync::Arc;

/// How long texts and aad get, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Longest {
    pub(crate) text: usize,
    pub(crate) aad: usize,
}

/// What the messages of a group have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupClass {
    /// Which of the three bounds its texts have.
    pub(crate) bound: usize,
    /// Whether all texts have one length.
    pub(crate) same_text: bool,
    pub(crate) aads: Aads,
    /// Whether nonces have all lengths, or 12 bytes.
    pub(crate) all_nonces: bool,
    /// Whether all are under one key.
    pub(crate) one_key: bool,
    /// Which tag length, modulo their number.
    pub(crate) tag_length: usize,
}

/// Additional data of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Aads {
    None,
    Same,
    Each,
}

const AADS: [Aads; 3] = [Aads::None, Aads::Same, Aads::Each];

impl GroupClass {
    /// So many first classes have every kind, in and out of place, with sessions and raw keys, frozen and
    /// shared; and each bound with each kind of aad.
    pub(crate) const COVERING: usize = 20;

    /// The `n`-th class.
    pub(crate) fn nth(n: usize) -> Self {
        Self {
            bound: n % 3,
            same_text: n / 3 % 2 == 1,
            aads: AADS[n / 3 % 3],
            all_nonces: n / 4 % 2 == 1,
            one_key: n / 5 % 2 == 1,
            tag_length: n,
        }
    }

    /// A quarter has one text length, a quarter one key, a third no aad, a third one for all, a fifth
    /// nonces of all lengths.
    pub(crate) fn random(random: &mut Random) -> Self {
        Self {
            bound: random.below(3),
            same_text: random.one_in(4),
            aads: random.pick(&AADS),
            all_nonces: random.one_in(5),
            one_key: random.one_in(4),
            // A multiple of every number of tag lengths there can be.
            tag_length: random.below(7 * 6 * 5 * 4),
        }
    }
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
    /// For AES-GCM, with so many keys of all sizes.
    pub(crate) fn new(subject: &Subject, keys: usize, random: &mut Random) -> Self {
        Self::for_algorithm(subject, Algorithm::AesGcm, keys, random)
    }

    /// The same for another algorithm.
    pub(crate) fn for_algorithm(
        subject: &Subject,
        algorithm: Algorithm,
        keys: usize,
        random: &mut Random,
    ) -> Self {
        let lengths = algorithm.key_bytes();
        let key = |n: usize| key_for(algorithm, lengths[n % lengths.len()], random);
        Self::with_ring(subject, Ring::new((0..keys).map(key).collect()))
    }

    /// With these keys.
    pub(crate) fn with_ring(subject: &Subject, ring: Arc<Ring>) -> Self {
        let (nonce_lengths, tag_lengths) = match ring.algorithm() {
            Algorithm::AesGcm => (subject.nonce_lengths(), subject.tag_lengths()),
            other => (vec![other.nonce_bytes()], vec![TagLength::FULL]),
        };
        let &Capabilities { text_bytes_max, aad_bytes_max, .. } = subject.capabilities();
        Self { ring, nonce_lengths, tag_lengths, text_bytes_max, aad_bytes_max }
    }

    /// Messages to seal, without truths, of a random class.
    pub(crate) fn seals(&self, count: usize, longest: Longest, random: &mut Random) -> Group {
        self.seals_of(GroupClass::random(random), count, longest, random)
    }

    /// Messages to seal, without truths.
    pub(crate) fn seals_of(
        &self,
        class: GroupClass,
        count: usize,
        longest: Longest,
        random: &mut Random,
    ) -> Group {
        let longest = Longest {
            text: longest.text.min(self.text_bytes_max),
            aad: longest.aad.min(self.aad_bytes_max),
        };
        let text_most = [300, 1_024, longest.text][class.bound].min(longest.text);
        let same_text = class.same_text.then(|| random.up_to(text_most));
        let aad_len = random.up_to(longest.aad);
        let same_aad = random.bytes(aad_len);
        let one_key = class.one_key.then(|| random.below(self.ring.len()));
        let message = |_| {
            let text = same_text.unwrap_or_else(|| random.up_to(text_most));
            let aad = match class.aads {
                Aads::None => vec![],
                Aads::Same => same_aad.clone(),
                Aads::Each => {
                    let len = random.up_to(longest.aad);
                    random.bytes(len)
                }
            };
            let usual = self.ring.algorithm().nonce_bytes();
            let nonce = if class.all_nonces { random.pick(&self.nonce_lengths) } else { usual };
            let key = one_key.unwrap_or_else(|| random.below(self.ring.len()));
            let (nonce, text) = (random.bytes(nonce), random.bytes(text));
            Message { op: Op::Seal, key, nonce, aad, text, tag: vec![] }
        };
        let messages = (0..count).map(message).collect();
        let tag_length = self.tag_lengths[class.tag_length % self.tag_lengths.len()];
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

/// Keys of the three sizes in turn.
pub(crate) fn keys_of_all_sizes(keys: usize, random: &mut Random) -> Vec<Key> {
    (0..keys).map(|n| key_of_size([16, 24, 32][n % 3], random)).collect()
}

/// A key of so many bytes.
pub(crate) fn key_of_size(bytes: usize, random: &mut Random) -> Key {
    key_for(Algorithm::AesGcm, bytes, random)
}

fn key_for(algorithm: Algorithm, bytes: usize, random: &mut Random) -> Key {
    Key::with_algorithm(algorithm, &random.bytes(bytes)).expect("a key has one of these lengths")
}

/// A key of one of the three sizes.
pub(crate) fn random_key(random: &mut Random) -> Key {
    let bytes = random.pick(&[16, 24, 32]);
    key_of_size(bytes, random)
}

/// What becomes of a message that was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Seal,
    Verify,
    FailedOpen,
    FailedVerify,
}

impl Kind {
    const ALL: [Self; 5] =
        [Self::Open, Self::Seal, Self::Verify, Self::FailedOpen, Self::FailedVerify];

    /// Most are opened.
    fn random(random: &mut Random) -> Self {
        match random.below(20) {
            0..=1 => Self::Seal,
            2..=3 => Self::Verify,
            4..=5 => Self::FailedOpen,
            6 => Self::FailedVerify,
            _ => Self::Open,
        }
    }
}

/// Opens what a group sealed, mixed with seals, verifies and wrong tags. Five messages have each of these.
pub(crate) fn mixed(sealed: &Group, random: &mut Random) -> Group {
    let mut group = sealed.opening();
    let seals = sealed.messages.iter().zip(&sealed.truths);
    let opens = group.messages.iter_mut().zip(&mut group.truths);
    let first = random.below(Kind::ALL.len());
    for (n, ((message, truth), (seal, seal_truth))) in opens.zip(seals).enumerate() {
        let kind = match n {
            0..5 => Kind::ALL[(first + n) % Kind::ALL.len()],
            _ => Kind::random(random),
        };
        match kind {
            Kind::Open => {}
            Kind::Seal => (*message, *truth) = (seal.clone(), seal_truth.clone()),
            Kind::Verify => (message.op, *truth) = (Op::Verify, Truth::verified()),
            Kind::FailedOpen | Kind::FailedVerify => {
                let verifies = kind == Kind::FailedVerify;
                message.op = if verifies { Op::Verify } else { Op::Open };
                let bit = random.below(8 * message.tag.len());
                message.tag[bit / 8] ^= 1 << (bit % 8);
                *truth = Truth::failed(message);
            }
        }
    }
    group
}
