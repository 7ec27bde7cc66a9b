//! A client: its messages, its device, and how it gets them worked.

use super::race::Race;
use super::{Cipher, OffloadSpec, Way};
use crate::crew::{Done, Part};
use crate::memory::Memory;
use crate::{ArmError, Random, tdes};
use bytes::Bytes;
use sealift::{
    Batch, Column, DeviceId, Engine, EngineError, Key, NONCE_BYTES, Options, OwnedOutput,
    SEALS_MAX, Session, Settings, Status, SubmitError, SubmitRefusal, Ticket,
};
use std::hint::spin_loop;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::Duration;

pub(super) struct Client {
    engine: Engine,
    device: DeviceId,
    name: String,
    way: Way,
    key: Key,
    session: Session,
    batch: Batch<'static>,
    text_bytes: u64,
    expected: Expected,
    /// Of the last batch; its memory is used again on the calling thread.
    output: Option<OwnedOutput>,
    /// Whether it is of the last round: where others were quicker, a client may have had no batch.
    is_new: bool,
    race: Arc<Race>,
    /// Since the session was new.
    sealed: u64,
    pub(super) checked: u64,
}

impl Client {
    /// Makes a client's messages, and by another library what must come of them.
    pub(super) fn make(
        spec: &OffloadSpec,
        engine: &Engine,
        (device, name): (DeviceId, &str),
        number: usize,
        race: &Arc<Race>,
    ) -> Result<Self, ArmError> {
        let mut random = Random::new(spec.seed, number as u64);
        let wrong = |what: String| ArmError::Wrong { device: name.to_owned(), what };
        let key = Key::new(&random.bytes(spec.cipher.key_bytes()));
        let key = key.map_err(|error| wrong(error.to_string()))?;
        let session = engine.session(key.clone())?;
        let column =
            |bytes: &[u8], len| Column::fixed(Bytes::from_owner(Memory::holding(bytes)), len);
        let nonces = column(&random.bytes(spec.batch * NONCE_BYTES), NONCE_BYTES);
        let texts = random.bytes(spec.batch * spec.message_bytes);
        let texts = column(&texts, spec.message_bytes);
        let batch = Batch::seal(spec.batch, session.id(), nonces, texts);
        let expected = match spec.cipher {
            Cipher::TripleDes => by_aws_lc(&batch, &key)
                .ok_or_else(|| wrong("AWS-LC refuses a message".to_owned()))?,
            Cipher::AesGcm => by_the_library(&batch, &key)?,
        };
        let text_bytes = (spec.batch * spec.message_bytes) as u64;
        let (engine, name, race) = (engine.clone(), name.to_owned(), Arc::clone(race));
        let (way, output, is_new, sealed, checked) = (spec.way, None, false, 0, 0);
        Ok(Self {
            engine,
            device,
            name,
            way,
            key,
            session,
            batch,
            text_bytes,
            expected,
            output,
            is_new,
            race,
            sealed,
            checked,
        })
    }

    fn once(&mut self) -> Result<(), ArmError> {
        match self.way {
            Way::CallingThread => self.here(),
            Way::Sleeping | Way::Polling => self.there(),
        }
    }

    fn here(&mut self) -> Result<(), ArmError> {
        let mut output = match self.output.take() {
            Some(output) => output,
            None => OwnedOutput::for_batch(&self.batch).map_err(EngineError::from)?,
        };
        self.engine.run(&self.batch, output.as_output(), &self.options())?;
        self.output = Some(output);
        Ok(())
    }

    fn there(&mut self) -> Result<(), ArmError> {
        let ticket = self.hand_over()?;
        let waits = if self.way == Way::Sleeping { None } else { Some(Duration::ZERO) };
        let mut looks = 0_u32;
        loop {
            if let Some(completed) = self.engine.wait(Some(ticket), waits)? {
                let (output, _) = completed.outcome.map_err(EngineError::from)?;
                self.output = Some(output);
                return Ok(());
            }
            if waits.is_none() {
                return Err(self.wrong("a batch that was handed over is in flight no more"));
            }
            looks = looks.wrapping_add(1);
            give_way(looks);
        }
    }

    fn hand_over(&self) -> Result<Ticket, ArmError> {
        let mut batch = self.batch.clone();
        loop {
            match self.engine.submit(batch, &self.options()) {
                Ok(ticket) => return Ok(ticket),
                Err(SubmitError { reason: SubmitRefusal::Engine(error), .. }) => {
                    return Err(error.into());
                }
                Err(SubmitError { batch: back, .. }) => {
                    batch = *back;
                    yield_now();
                }
            }
        }
    }

    fn options(&self) -> Options {
        Options { on: Some(self.device), ..Options::default() }
    }

    /// A session seals so many messages and no more.
    fn renew(&mut self) -> Result<(), ArmError> {
        self.session = self.engine.session(self.key.clone())?;
        self.batch.keys = self.session.id().into();
        self.sealed = 0;
        Ok(())
    }

    fn wrong(&self, what: &str) -> ArmError {
        ArmError::Wrong { device: self.name.clone(), what: what.to_owned() }
    }
}

impl Part for Client {
    fn ready(&mut self, times: usize) {
        self.race.ready(times);
        // What an earlier round gave would be right, too.
        if let Some(output) = &mut self.output {
            output.fill_text(SPOILT);
        }
    }

    fn work(&mut self, _: usize) -> Result<Done, ArmError> {
        if self.sealed > SEALS_MAX / 2 {
            self.renew()?;
        }
        let began = self.race.begin();
        let mut batches = 0;
        while self.race.take() {
            self.once()?;
            batches += 1;
        }
        self.race.end(began, batches);
        self.is_new = batches > 0;
        let operations = batches * self.batch.len as u64;
        self.sealed += operations;
        Ok(Done { operations, bytes: batches * self.text_bytes })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Some(output) = self.output.as_ref().filter(|_| self.is_new) else { return Ok(()) };
        if output.status().iter().any(|status| *status != Status::Ok) {
            return Err(self.wrong("a message has not the status that it was encrypted"));
        }
        if let Some(at) = self.expected.first_other(output, self.batch.len) {
            return Err(self.wrong(&format!("message {at} of a batch is not what it should be")));
        }
        self.checked += self.batch.len as u64;
        if self.way != Way::CallingThread {
            self.output = None;
        }
        Ok(())
    }
}

/// What must come of a batch.
struct Expected {
    texts: Vec<u8>,
    tags: Vec<u8>,
}

impl Expected {
    /// The first message that came out otherwise.
    fn first_other(&self, output: &OwnedOutput, messages: usize) -> Option<usize> {
        let other = |found: &[u8], expected: &[u8]| {
            let each = (expected.len() / messages.max(1)).max(1);
            let first = found.chunks(each).zip(expected.chunks(each)).position(|(a, b)| a != b);
            first.or((found.len() != expected.len()).then_some(0))
        };
        other(output.text().0, &self.texts).or_else(|| other(output.tags(), &self.tags))
    }
}

/// Spins, and leaves the core to others now and then: there may be more threads than cores.
fn give_way(looks: u32) {
    if looks.is_multiple_of(LOOKS) { yield_now() } else { spin_loop() }
}

fn by_the_library(batch: &Batch<'static>, key: &Key) -> Result<Expected, ArmError> {
    let engine = Engine::open(&["library"], &[], Settings::on_one_thread())?;
    let session = engine.session(key.clone())?;
    let own = Batch { keys: session.id().into(), ..batch.clone() };
    let mut output = OwnedOutput::for_batch(&own).map_err(EngineError::from)?;
    engine.run(&own, output.as_output(), &Options::default())?;
    Ok(Expected { texts: output.text().0.to_vec(), tags: output.tags().to_vec() })
}

/// Its tags are zeros.
fn by_aws_lc(batch: &Batch<'static>, key: &Key) -> Option<Expected> {
    let three = tdes::three_keys(key)?;
    let mut texts = vec![];
    for message in 0..batch.len {
        let iv = tdes::initial_vector(batch.nonce.get(message))?;
        texts.extend(tdes::encrypted(&three, &iv, batch.text_of(message))?);
    }
    Some(Expected { texts, tags: vec![0; batch.len * batch.tag_length.bytes()] })
}

/// Looks between two times that a core is left to others.
const LOOKS: u32 = 16;
const SPOILT: u8 = 0xA5;
