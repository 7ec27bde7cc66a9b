//! Batches on a GPU of the tests.

mod held;
mod keys;

use crate::fake::{Fake, toy};
use crate::variant::Tables;
use crate::{GpuError, Settings, Worker};
use sealift_core::{
    Batch, Column, DeviceError, Key, KeySource, Keys, Op, Ops, Output, Place, SessionId, Status,
    Tags, Work,
};
use std::sync::Arc;

/// A session's key says which it is, and its length, too.
struct KeyRing;

impl KeySource for KeyRing {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        let bytes = [16, 24, 32][session.generation as usize % 3];
        let slot = session.slot.to_le_bytes();
        let key: Vec<u8> = slot.into_iter().cycle().map(|byte| byte ^ 0x5a).take(bytes).collect();
        Key::new(&key).ok().map(Arc::new)
    }
}

fn session(slot: u32, generation: u32) -> SessionId {
    SessionId { slot, generation }
}

fn worker(fake: &Fake, lanes: usize) -> Worker {
    let settings = Settings { lanes, ..Settings::new(Tables::None) };
    Worker::new("fake".to_owned(), Arc::new(fake.clone()), settings)
}

/// What becomes of texts of these lengths under these keys: texts, tags, statuses.
type Made = (Vec<Vec<u8>>, Vec<[u8; 16]>, Vec<Status>);

/// Seals or opens one message for each length, the text a pattern of its number.
struct Load<'k> {
    op: Op,
    keys: Keys<'k>,
    texts: Vec<Vec<u8>>,
    tags: Vec<[u8; 16]>,
}

const AAD: &[u8] = b"seventeen bytes!!";

impl<'k> Load<'k> {
    fn seal(keys: impl Into<Keys<'k>>, lengths: &[usize]) -> Self {
        let text = |(number, length): (usize, &usize)| {
            (0..*length).map(|at| (7 * at + number).to_le_bytes()[0]).collect()
        };
        let texts: Vec<Vec<u8>> = lengths.iter().enumerate().map(text).collect();
        Self { op: Op::Seal, keys: keys.into(), tags: vec![[0; 16]; texts.len()], texts }
    }

    fn run(&self, worker: &Worker) -> Result<Made, DeviceError> {
        self.run_by(|work| worker.run(work).map(drop))
    }

    fn run_by(
        &self,
        run: impl FnOnce(&mut Work<'_>) -> Result<(), DeviceError>,
    ) -> Result<Made, DeviceError> {
        let count = self.texts.len();
        let nonces: Vec<u8> = (0..12 * count).map(|at| (at / 12).to_le_bytes()[0]).collect();
        let texts = self.texts.iter().map(|text| text.as_slice().into()).collect();
        let tags: Vec<u8> = self.tags.concat();
        let batch = Batch {
            ops: Ops::All(self.op),
            aad: Column::Same(AAD.into()),
            tags: match self.op {
                Op::Seal => Tags::Apart(Column::Empty),
                _ => Tags::Apart(Column::fixed(&tags, 16)),
            },
            ..Batch::seal(
                count,
                self.keys.clone(),
                Column::fixed(&nonces, 12),
                Column::Scattered(texts),
            )
        };
        let mut made: Vec<_> = self.texts.iter().map(|text| vec![0xee; text.len()]).collect();
        let (mut made_tags, mut status) = (vec![0xee; 16 * count], vec![Status::Ok; count]);
        let output = Output {
            text: Place::Scattered(made.iter_mut().map(Vec::as_mut_slice).collect()),
            tags: Place::fixed(&mut made_tags, 16),
            status: &mut status,
        };
        run(&mut Work::new(&batch, output, &KeyRing).unwrap())?;
        Ok((made, made_tags.as_chunks().0.to_vec(), status))
    }

    /// What sealing gives.
    fn sealed(&self) -> (Vec<Vec<u8>>, Vec<[u8; 16]>) {
        let messages = self.texts.iter().enumerate().map(|(number, text)| {
            let own;
            let key = match &self.keys {
                Keys::Raw(column) => column.get(number),
                Keys::Session(session) => {
                    own = KeyRing.key(*session).unwrap();
                    own.as_bytes()
                }
                Keys::Sessions(sessions) => {
                    own = KeyRing.key(sessions[number]).unwrap();
                    own.as_bytes()
                }
            };
            toy(key, &[number.to_le_bytes()[0]; 12], AAD, text, true)
        });
        messages.unzip()
    }

    /// Seals, holds it against what it should be, opens, and opens with every fifth tag wrong.
    fn check(&self, worker: &Worker) {
        let (texts, tags) = self.sealed();
        let all_ok = vec![Status::Ok; texts.len()];
        assert!(self.run(worker).unwrap() == (texts.clone(), tags.clone(), all_ok.clone()));
        let mut open = Self { op: Op::Open, keys: self.keys.clone(), texts, tags };
        let (opened, _, status) = open.run(worker).unwrap();
        assert!((&opened, status) == (&self.texts, all_ok));
        open.tags.iter_mut().step_by(5).for_each(|tag| tag[15] ^= 1);
        let (opened, _, status) = open.run(worker).unwrap();
        for (number, (text, status)) in opened.iter().zip(status).enumerate() {
            let fails = number % 5 == 0;
            assert_eq!(status, if fails { Status::AuthFailed } else { Status::Ok });
            assert!(*text == if fails { vec![0; text.len()] } else { self.texts[number].clone() });
        }
    }
}

/// Lengths on both sides of each limit, in no order.
fn lengths() -> Vec<usize> {
    let edges = [0, 1, 15, 16, 17, 2_047, 2_048, 2_049, 16_384, 16_385, 40_000, 128];
    edges.into_iter().cycle().take(61).collect()
}

#[test]
fn messages_of_all_lengths_under_all_kinds_of_keys_are_laid_out_and_given_back() {
    let fake = Fake::new();
    let count = u32::try_from(lengths().len()).unwrap();
    let raw: Vec<Vec<u8>> = (0..count)
        .map(|number| vec![number.to_le_bytes()[0]; [16, 24, 32][number as usize % 3]])
        .collect();
    let raw = Column::Scattered(raw.iter().map(|key| key.as_slice().into()).collect());
    let sessions: Vec<_> = (0..count).map(|number| session(number % 7, 1 + number % 7)).collect();
    for lanes in [1, 3] {
        let worker = worker(&fake, lanes);
        Load::seal(Keys::Raw(raw.clone()), &lengths()).check(&worker);
        Load::seal(session(3, 5), &lengths()).check(&worker);
        Load::seal(Keys::Sessions(sessions.clone().into()), &lengths()).check(&worker);
    }
    assert_eq!(fake.seen.lock().unwrap().left_behind, 0);
    assert!(fake.calls("lane") <= 4, "lanes are used again");
}

#[test]
fn a_large_batch_is_worked_in_rounds_that_overlap() {
    let fake = Fake::new();
    let worker = worker(&fake, 3);
    Load::seal(session(1, 1), &[64 << 10; 96]).check(&worker);
    assert_eq!(fake.calls("lane"), 3);
    assert!(fake.calls("flush") >= 3 * 6, "{}", fake.calls("flush"));
    assert_eq!(fake.calls("wipe"), 3 * 3, "each lane once a batch");
    Load::seal(session(1, 1), &[]).check(&worker);
}

#[test]
fn rounds_fit_the_largest_buffer_and_a_message_that_does_not_is_told() {
    let raw: Vec<_> = (0..24 * 61).map(|at: usize| at.to_le_bytes()[0]).collect();
    let fake = Fake::with_buffers_of(41_000);
    let worker = worker(&fake, 2);
    for keys in [Keys::Raw(Column::fixed(&raw, 24)), session(1, 1).into()] {
        let load = Load::seal(keys, &lengths());
        load.check(&worker);
        let held = load.run_by(|work| worker.hold(work)?.read().map(drop));
        let (texts, tags) = load.sealed();
        assert!(held.unwrap() == (texts, tags, vec![Status::Ok; 61]));
    }
    Load::seal(session(1, 1), &[0; 3_000]).check(&worker);
    let failed = Load::seal(session(1, 1), &[100, 41_000]).run(&worker).unwrap_err().to_string();
    let said = "takes messages of at most 41000, and this is 41056: split it";
    assert!(failed.contains(said), "{failed}");
    assert_eq!(worker.broken(), None);
}

#[test]
fn a_call_that_fails_fails_the_batch_and_the_next_one_is_right() {
    let fake = Fake::new();
    let worker = worker(&fake, 2);
    let load = Load::seal(session(1, 1), &[100, 3_000]);
    let calls = [
        "lane",
        "write_keys",
        "reserve",
        "write",
        "many",
        "long_pieces",
        "read",
        "flush",
        "wait",
        "wipe",
    ];
    for call in calls {
        worker.release();
        let device = "fake".to_owned();
        let error = GpuError::OutOfMemory { device, what: "input", bytes: 12_345 };
        fake.fail(call, error);
        let failed = load.run(&worker).unwrap_err().to_string();
        assert!(failed.starts_with("fake failed: fake has no 12345 bytes for input"), "{failed}");
        fake.repair();
        load.check(&worker);
        assert_eq!(worker.broken(), None);
    }
}

#[test]
fn a_lost_device_is_asked_nothing_more_and_says_why() {
    let device = || "fake".to_owned();
    for (error, said) in [
        (GpuError::Lost { device: device(), code: "it fell off".to_owned() }, "it fell off"),
        (GpuError::TimedOut { device: device(), seconds: 5 }, "did not answer for 5 s"),
    ] {
        let fake = Fake::new();
        let worker = worker(&fake, 2);
        let load = Load::seal(session(1, 1), &[100, 3_000]);
        fake.fail("wait", error);
        let failed = load.run(&worker).unwrap_err();
        assert!(failed.to_string().contains(said), "{failed}");
        assert_eq!(worker.broken(), Some(failed.clone()));
        fake.repair();
        let calls = fake.calls("reserve");
        assert_eq!(load.run(&worker).unwrap_err(), failed);
        assert_eq!(fake.calls("reserve"), calls);
    }
}

#[test]
fn a_device_that_says_nothing_of_a_message_has_failed() {
    let fake = Fake::new();
    let worker = worker(&fake, 1);
    fake.seen.lock().unwrap().silent = true;
    let failed = Load::seal(session(1, 1), &[100]).run(&worker).unwrap_err().to_string();
    assert!(failed.contains("left message 0 without a status"), "{failed}");
}

#[test]
fn nobody_takes_what_a_lane_made_before_for_what_a_kernel_left_undone() {
    let fake = Fake::new();
    let worker = worker(&fake, 1);
    let failed = Load::seal(session(1, 1), &[100]).run_by(|work| {
        let mut held = worker.hold(work)?;
        held.read()?;
        fake.seen.lock().unwrap().silent = true;
        held.work()?;
        held.read().map(drop)
    });
    let failed = failed.unwrap_err().to_string();
    assert!(failed.contains("left message 0 without a status"), "{failed}");
}
