//! Fills hands with frames and compares those that come: plain, or sealed by the engine.

use super::content::{Content, wrong};
use super::region::Region;
use super::rules::{Name, Rules, Side};
use super::{Form, Way};
use crate::ArmError;
use crate::random::Random;
use sealift::{
    Batch, Column, Engine, Key, Layout, NONCE_BYTES, Op, Ops, Options, Output, Place, Session,
    Settings, Stability, Status, Tags,
};

/// The frames that one process sends, as it writes them or as the other compares them.
pub(super) struct Texts {
    content: Content,
    form: Form,
    sealing: Option<Sealing>,
}

/// What sealing and opening takes: the plaintexts lie in a region of the process's own.
struct Sealing {
    engine: Engine,
    session: Session,
    sender: Side,
    plain: Region,
    nonces: Vec<u8>,
    status: Vec<Status>,
}

impl Texts {
    /// Of those that `sender` sends, in the process `here`.
    pub(super) fn of(
        sender: Side,
        here: Side,
        form: Form,
        seed: u64,
        rules: &Rules,
    ) -> Result<Self, ArmError> {
        let content = Content::of(sender, seed, form.frame_bytes);
        let sealing = match form.way {
            Way::SealedRing => Some(Sealing::new(sender, here, form, seed, rules)?),
            _ => None,
        };
        Ok(Self { content, form, sealing })
    }

    /// Writes the frames from this number on.
    pub(super) fn fill(&mut self, hand: &mut [u8], first: u64) -> Result<(), ArmError> {
        match &mut self.sealing {
            None => fill(&self.content, hand, self.form.frame_bytes, first),
            Some(sealing) => {
                let plain = sealing.plain.bytes_mut(0..self.form.plain_bytes());
                fill(&self.content, plain, self.form.frame_bytes, first);
                sealing.seal(hand, self.form, first)?;
            }
        }
        Ok(())
    }

    /// Compares every byte of the frames from this number on.
    pub(super) fn check(&mut self, hand: &[u8], first: u64) -> Result<(), ArmError> {
        let Self { content, form, sealing } = self;
        let plain = match sealing {
            None => hand,
            Some(sealing) => sealing.open(hand, *form, first)?,
        };
        for (frame, number) in plain.chunks_exact(form.frame_bytes).zip(first..) {
            content.check(frame, number).map_err(|what| wrong(form.way.name(), what))?;
        }
        Ok(())
    }

    /// Writes the few bytes that say that all frames before this number were right.
    pub(super) fn fill_receipt(&self, receipt: &mut [u8], number: u64) {
        self.content.fill(receipt, number);
    }

    /// Compares them.
    pub(super) fn check_receipt(&self, receipt: &[u8], number: u64) -> Result<(), ArmError> {
        let named = |what| wrong(self.form.way.name(), format!("as a receipt, {what}"));
        self.content.check(receipt, number).map_err(named)
    }

    /// Who seals, for people; empty when nobody does.
    pub(super) fn sealed_by(&self) -> String {
        let Some(sealing) = &self.sealing else { return String::new() };
        let devices =
            sealing.engine.devices().filter(|(_, device)| device.role == sealift::Role::Real);
        devices.map(|(_, device)| device.name.clone()).collect::<Vec<_>>().join(" or ")
    }
}

fn fill(content: &Content, frames: &mut [u8], frame_bytes: usize, first: u64) {
    for (frame, number) in frames.chunks_exact_mut(frame_bytes).zip(first..) {
        content.fill(frame, number);
    }
}

impl Sealing {
    fn new(
        sender: Side,
        here: Side,
        form: Form,
        seed: u64,
        rules: &Rules,
    ) -> Result<Self, ArmError> {
        let key = Random::new(seed, KEY_STREAM + sender as u64).bytes(KEY_BYTES);
        let key = Key::new(&key).map_err(|error| ArmError::Spec {
            what: "a key",
            value: KEY_BYTES.to_string(),
            right: error.to_string(),
        })?;
        let engine = Engine::detect_with(Settings::on_one_thread())?;
        Ok(Self {
            session: engine.session(key)?,
            engine,
            sender,
            plain: Region::make(Name::own(here), here, form.plain_bytes(), rules)?,
            nonces: vec![0; NONCE_BYTES * form.batch],
            status: vec![Status::NotProcessed; form.batch],
        })
    }

    /// Seals into the other process's view: what is written there is ciphertext and tags.
    fn seal(&mut self, hand: &mut [u8], form: Form, first: u64) -> Result<(), ArmError> {
        self.count(first);
        let texts = Column::fixed(self.plain.bytes(0..form.plain_bytes()), form.frame_bytes);
        let nonces = Column::fixed(&self.nonces, NONCE_BYTES);
        let batch = Batch {
            tags: Tags::Appended,
            ..Batch::seal(form.batch, self.session.id(), nonces, texts)
        };
        let layout = Layout::Fixed { stride: form.slot_bytes(), len: form.sealed_bytes() };
        let text = Place::Packed { bytes: hand, layout };
        let output = Output { text, tags: Place::Empty, status: &mut self.status };
        self.engine.run(&batch, output, &Options::default())?;
        self.all_right("sealed", first)
    }

    /// Opens from the other process's region, which could write to it meanwhile: every byte is read once.
    fn open(&mut self, hand: &[u8], form: Form, first: u64) -> Result<&[u8], ArmError> {
        self.count(first);
        let batch = Batch {
            ops: Ops::All(Op::Open),
            tags: Tags::Appended,
            stability: Stability::Shared,
            ..Batch::seal(
                form.batch,
                self.session.id(),
                Column::fixed(&self.nonces, NONCE_BYTES),
                Column::strided(hand, form.slot_bytes(), form.sealed_bytes()),
            )
        };
        let plain = self.plain.bytes_mut(0..form.plain_bytes());
        let text = Place::fixed(plain, form.frame_bytes);
        let output = Output { text, tags: Place::Empty, status: &mut self.status };
        self.engine.run(&batch, output, &Options::default())?;
        self.all_right("opened", first)?;
        Ok(self.plain.bytes(0..form.plain_bytes()))
    }

    /// A nonce is who sends, and the frame's number, which never comes again.
    fn count(&mut self, first: u64) {
        for (nonce, number) in self.nonces.chunks_exact_mut(NONCE_BYTES).zip(first..) {
            nonce[..4].copy_from_slice(&(self.sender as u32).to_be_bytes());
            nonce[4..].copy_from_slice(&number.to_be_bytes());
        }
    }

    fn all_right(&self, done: &str, first: u64) -> Result<(), ArmError> {
        let Some(at) = self.status.iter().position(|status| *status != Status::Ok) else {
            return Ok(());
        };
        let (number, sender, status) = (first + at as u64, self.sender, self.status[at]);
        let what =
            format!("frame {number} of the {sender} process could not be {done}: {status:?}");
        Err(wrong(Way::SealedRing.name(), what))
    }
}

const KEY_STREAM: u64 = 16;
const KEY_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::super::rules::RULES;
    use super::*;

    fn both(way: Way, batch: usize) -> (Form, Texts, Texts) {
        let form = Form { way, frame_bytes: 1_000, batch };
        let rules = Rules::parse(RULES).unwrap();
        let texts = |here| Texts::of(Side::Near, here, form, 3, &rules).unwrap();
        (form, texts(Side::Near), texts(Side::Far))
    }

    #[test]
    fn what_one_process_fills_the_other_finds_right_once_and_in_its_place() {
        for way in [Way::Ring, Way::SealedRing] {
            for batch in [1, 3] {
                let (form, mut near, mut far) = both(way, batch);
                let mut hand = vec![0; form.hand_bytes()];
                for first in [0, batch as u64, 1 << 40] {
                    near.fill(&mut hand, first).unwrap();
                    far.check(&hand, first).unwrap();
                    assert!(far.check(&hand, first + 1).is_err());
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_a_wrong_frame_that_is_named() {
        for (way, told) in [(Way::Ring, "has 0x"), (Way::SealedRing, "could not be opened")] {
            let (form, mut near, mut far) = both(way, 2);
            let mut hand = vec![0; form.hand_bytes()];
            near.fill(&mut hand, 40).unwrap();
            hand[form.slot_bytes() + 500] ^= 4;
            let error = far.check(&hand, 40).unwrap_err().to_string();
            assert!(
                error.contains("frame 41 of the near process") && error.contains(told),
                "{error}"
            );
        }
    }

    #[test]
    fn sealed_frames_show_nothing_of_the_plain_ones() {
        let ((form, mut near, _), (_, mut plain, _)) =
            (both(Way::SealedRing, 1), both(Way::Ring, 1));
        let (mut sealed, mut text) = (vec![0; form.hand_bytes()], vec![0; 1_000]);
        near.fill(&mut sealed, 1).unwrap();
        plain.fill(&mut text, 1).unwrap();
        let same = sealed.iter().zip(&text).filter(|(one, other)| one == other).count();
        assert!(same < 30, "{same} of 1,000 bytes are the same");
    }
}
