//! A batch of mixed keys and operations.

use std::sync::Arc;

use sealift_core::{
    Algorithm, Batch, Column, Key, KeySource, Keys, NonceRule, Op, Ops, Output, Place, SessionId,
    Slot, SlotTag, SlotText, Status, Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, process_xaes, run, valgrind};

use crate::common::{Message, Place as At, Random, Sealed};
use crate::{nothing_follows, paths, public, secret};

#[test]
fn a_batch_of_mixed_keys_and_operations_follows_no_secret() {
    for path in paths() {
        // Nonces of one length that are hashed are among them.
        let nonces =
            [(Algorithm::AesGcm, 12), (Algorithm::AesGcm, 20), (Algorithm::Xaes256Gcm, 24)];
        for (nonce, how) in nonces
            .into_iter()
            .flat_map(|nonce| [How::Each, How::Raw, How::One].map(|how| (nonce, how)))
        {
            for text_bytes in TEXT_LENGTHS {
                let mixed = Mixed::new(nonce, how, text_bytes);
                let opened = mixed.run(path, how);
                let expected = mixed.messages.iter().enumerate().map(|(i, _)| mixed.expected(i));
                for (i, (status, text)) in expected.enumerate() {
                    assert_eq!(opened.status[i], status, "{i}");
                    assert_eq!(opened.text[i * text_bytes..][..text_bytes], text, "{i}");
                }
            }
        }
    }
}

/// Of one block, of a few and of many, with a part of one and without.
const TEXT_LENGTHS: [usize; 6] = [5, 16, 40, 64, 100, 128];

/// Where the expanded keys of a batch come from.
#[derive(Clone, Copy, PartialEq)]
enum How {
    One,
    Each,
    Raw,
}

/// A batch in which every third message is sealed, every third opens, and every third does not.
struct Mixed {
    algorithm: Algorithm,
    nonce_bytes: usize,
    text_bytes: usize,
    messages: Vec<Message>,
    sealed: Vec<Sealed>,
}

/// What became of it.
struct Worked {
    text: Vec<u8>,
    status: Vec<Status>,
}

impl Mixed {
    const MESSAGES: usize = 60;

    fn new((algorithm, nonce_bytes): (Algorithm, usize), how: How, text_bytes: usize) -> Mixed {
        let mut random = Random(40);
        let messages: Vec<Message> = (0..Mixed::MESSAGES)
            .scan(None, |key: &mut Option<Vec<u8>>, _| {
                let mut message = random.message(32, nonce_bytes, 17, text_bytes);
                message.tag_len = 16;
                if how == How::One {
                    message.key.clone_from(key.get_or_insert_with(|| message.key.clone()));
                }
                Some(message)
            })
            .collect();
        let seal = |message: &Message| match algorithm {
            Algorithm::Xaes256Gcm => seal_xaes(message),
            _ => message.seal(Path::Model, At::Apart),
        };
        let mut sealed: Vec<Sealed> = messages.iter().map(seal).collect();
        sealed.iter_mut().skip(2).step_by(3).for_each(|sealed| sealed.tag[15] ^= 1);
        Mixed { algorithm, nonce_bytes, text_bytes, messages, sealed }
    }

    fn op(message: usize) -> Op {
        if message % 3 == 0 { Op::Seal } else { Op::Open }
    }

    /// The status and the output of a message.
    fn expected(&self, message: usize) -> (Status, Vec<u8>) {
        match message % 3 {
            0 => (Status::Ok, self.sealed[message].text.clone()),
            1 => (Status::Ok, self.messages[message].text.clone()),
            _ => (Status::AuthFailed, vec![0; self.text_bytes]),
        }
    }

    fn run(&self, path: Path, how: How) -> Worked {
        let nonces = self.messages.iter().flat_map(|m| m.nonce.clone()).collect::<Vec<u8>>();
        let tags = self.sealed.iter().flat_map(|s| s.tag.clone()).collect::<Vec<u8>>();
        let keys = secret(&self.messages.iter().flat_map(|m| m.key.clone()).collect::<Vec<u8>>());
        let mut texts = vec![];
        for (i, (message, sealed)) in self.messages.iter().zip(&self.sealed).enumerate() {
            texts.extend(if Mixed::op(i) == Op::Seal { &message.text } else { &sealed.text });
        }
        for message in (0..Mixed::MESSAGES).step_by(3) {
            valgrind::make_secret(&mut texts[message * self.text_bytes..][..self.text_bytes]);
        }
        let batch_keys = match how {
            How::Raw => Keys::Raw(Column::fixed(&keys, 32)),
            How::One | How::Each => Keys::Session(SESSION),
        };
        let aads = self.messages.iter().flat_map(|m| m.aad.clone()).collect::<Vec<u8>>();
        let (nonce, text) =
            (Column::fixed(&nonces, self.nonce_bytes), Column::fixed(&texts, self.text_bytes));
        let batch = Batch {
            algorithm: self.algorithm,
            nonce_rule: match self.algorithm {
                Algorithm::AesGcm => NonceRule::HazmatAnyLength,
                _ => NonceRule::Standard,
            },
            ops: Ops::Each((0..Mixed::MESSAGES).map(Mixed::op).collect()),
            aad: Column::fixed(&aads, 17),
            tags: Tags::Apart(Column::fixed(&tags, 16)),
            ..Batch::seal(Mixed::MESSAGES, batch_keys, nonce, text)
        };
        let mut worked = Worked { text: vec![0xee; texts.len()], status: vec![] };
        worked.status.resize(Mixed::MESSAGES, Status::Ok);
        let mut made = vec![0xee; tags.len()];
        nothing_follows(|| {
            let expand = |key| Schedule::from_raw(path, key).unwrap();
            let schedules: Vec<Schedule> = keys.chunks(32).map(expand).collect();
            let each: Vec<&Schedule> = schedules.iter().collect();
            let text = Place::fixed(&mut worked.text, self.text_bytes);
            let (tags, status) = (Place::fixed(&mut made, 16), &mut worked.status[..]);
            let mut work = Work::new(&batch, Output { text, tags, status }, &NoKeys).unwrap();
            let schedules = match how {
                How::One => Schedules::One(&schedules[0]),
                How::Each => Schedules::Each(&each),
                How::Raw => Schedules::Raw,
            };
            run(path, &mut work, 0..Mixed::MESSAGES, schedules);
        });
        assert!(valgrind::secret_bytes(&worked.text) > 0, "marks have been lost on the way");
        worked.text = public(worked.text);
        worked
    }
}

/// What the model makes of a message of XAES-256-GCM.
fn seal_xaes(message: &Message) -> Sealed {
    let (mut text, mut tag) = (message.text.clone(), vec![0; 16]);
    let slot = Slot {
        op: Op::Seal,
        nonce: &message.nonce,
        aad: &message.aad,
        text: SlotText::InPlace(&mut text),
        tag: SlotTag::Write(&mut tag),
    };
    let status = process_xaes(Path::Model, &message.schedule(Path::Model), slot);
    assert_eq!(status, Status::Ok);
    Sealed { text, tag }
}

struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _session: SessionId) -> Option<Arc<Key>> {
        None
    }
}

const SESSION: SessionId = SessionId { slot: 0, generation: 0 };
