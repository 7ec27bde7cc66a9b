//! Devices that are wrong in one way, to see that the suite notices.

use sealift_core::{
    Batch, Capabilities, Completion, Device, DeviceError, Job, Keys, Op, OwnedOutput, Place,
    SessionId, Slot, SlotTag, SlotText, Stability, Status, Submission, Tags, Text, Ticket, Timing,
    Work,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One byte of every tag.
    WrongTagByte,
    /// A message that fails leaves something in its output.
    LeavesFailedText,
    /// One bit of sealed texts of this length.
    FlipsBitAt { text: usize },
    /// One bit of texts whose nonce has this length.
    FlipsBitUnderNonceOf { bytes: usize },
    /// One bit in the last message of batches of this size.
    FlipsBitInBatchOf { messages: usize },
    /// One bit under sessions in high slots.
    FlipsBitFromSlot { slot: u32 },
    /// Looks at the slot of a session and not at its generation.
    TakesTheSlotForTheSession,
    /// Two batches at the same time spoil each other.
    OneBatchAtATime,
    /// Messages of a kind are left out.
    LeavesOut(Kind),
    /// Every message is said to be right.
    AcceptsEverything,
    /// Every message of this operation is said to be right.
    Accepts(Op),
    /// An input shorter than its tag is said to be right.
    AcceptsShortInputs,
    /// Decrypts other bytes than it checked, when they change meanwhile.
    ReadsTwice,
    /// Takes work without a key.
    HidesGoneKeys,
    /// Refuses nonces that its capabilities promise.
    RefusesUnannounced,
    /// Results of submitted work.
    SpoilsSubmittedWork,
    /// A message that fails when it was submitted leaves what was in its output before.
    LeavesSubmittedText,
}

/// A kind of message, by its batch and what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OutOfPlace,
    InPlace,
    Detached,
    Appended,
    Sessions,
    RawKeys,
    Frozen,
    Shared,
    Of(Op),
    /// Opened in place in memory that others write to, under a raw key.
    OpenInPlaceSharedRaw,
}

impl Kind {
    fn holds(self, batch: &Batch<'_>, op: Op) -> bool {
        let in_place = matches!(batch.text, Text::InPlace);
        let appended = matches!(batch.tags, Tags::Appended);
        let raw_keys = matches!(batch.keys, Keys::Raw(_));
        let shared = batch.stability == Stability::Shared;
        match self {
            Self::OutOfPlace => !in_place,
            Self::InPlace => in_place,
            Self::Detached => !appended,
            Self::Appended => appended,
            Self::Sessions => !raw_keys,
            Self::RawKeys => raw_keys,
            Self::Frozen => !shared,
            Self::Shared => shared,
            Self::Of(one) => op == one,
            Self::OpenInPlaceSharedRaw => op == Op::Open && in_place && shared && raw_keys,
        }
    }
}

/// A right device with a fault.
#[derive(Debug)]
pub(crate) struct Broken {
    inner: Arc<dyn Device>,
    fault: Fault,
    running: AtomicUsize,
    generations: Mutex<HashMap<u32, u32>>,
    /// What lay in the outputs of submitted jobs.
    before: Mutex<HashMap<(Ticket, u32), Vec<u8>>>,
}

impl Broken {
    pub(crate) fn new(inner: Arc<dyn Device>, fault: Fault) -> Arc<Self> {
        let (running, generations, before) = Default::default();
        Arc::new(Self { inner, fault, running, generations, before })
    }

    fn spoil(&self, work: &mut Work<'_>, message: usize, first_read: &[u8], alone: bool) {
        let (len, session) = (work.len(), work.batch().session_of(message));
        let op = work.batch().ops.get(message);
        if let Fault::LeavesOut(kind) = self.fault
            && kind.holds(work.batch(), op)
        {
            return work.set_status(message, Status::NotProcessed);
        }
        let slot = work.slot(message);
        let is_seal = op == Op::Seal;
        match self.fault {
            Fault::WrongTagByte => flip_tag(slot),
            Fault::LeavesFailedText => leave_text(slot),
            Fault::FlipsBitAt { text } if is_seal && text_len(&slot) == text => flip(slot),
            Fault::FlipsBitUnderNonceOf { bytes } if slot.nonce.len() == bytes => flip(slot),
            Fault::FlipsBitInBatchOf { messages } if len == messages && message + 1 == len => {
                flip(slot);
                work.set_status(message, Status::NotProcessed);
            }
            Fault::FlipsBitFromSlot { slot: from } if session.is_some_and(|s| s.slot >= from) => {
                flip(slot);
            }
            Fault::TakesTheSlotForTheSession if self.is_another_generation(session) => flip(slot),
            Fault::OneBatchAtATime if !alone => flip(slot),
            Fault::ReadsTwice => decrypt_again(slot, first_read),
            Fault::AcceptsEverything => work.set_status(message, Status::Ok),
            Fault::Accepts(one) if op == one => work.set_status(message, Status::Ok),
            Fault::AcceptsShortInputs if matches!(slot.tag, SlotTag::Missing) => {
                work.set_status(message, Status::Ok);
            }
            _ => {}
        }
    }

    fn is_another_generation(&self, session: Option<SessionId>) -> bool {
        let Some(session) = session else { return false };
        let mut known = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(session.slot).or_insert(session.generation) != session.generation
    }
}

impl Broken {
    fn before(&self) -> MutexGuard<'_, HashMap<(Ticket, u32), Vec<u8>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device for Broken {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        if self.fault == Fault::RefusesUnannounced
            && work.shape().nonce_lengths.iter().any(|n| n != 12)
        {
            return Err(DeviceError::Failed { device: "broken".into(), reason: "a nonce".into() });
        }
        let inputs: Vec<_> = (0..work.len()).map(|i| first_read(work.slot(i))).collect();
        let before = self.running.fetch_add(1, Ordering::SeqCst);
        if self.fault == Fault::OneBatchAtATime {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ran = self.inner.run(work);
        if self.fault == Fault::ReadsTwice {
            std::thread::sleep(Duration::from_micros(50));
        }
        let alone = before == 0 && self.running.fetch_sub(1, Ordering::SeqCst) == 1;
        match ran {
            Err(DeviceError::KeyGone { .. }) if self.fault == Fault::HidesGoneKeys => {
                Ok(Timing::in_memory(0, 0))
            }
            Ok(timing) => {
                inputs.iter().enumerate().for_each(|(i, input)| self.spoil(work, i, input, alone));
                Ok(timing)
            }
            error => error,
        }
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        if self.fault == Fault::LeavesSubmittedText {
            let (text, _) = job.output.text();
            self.before().insert((job.ticket, job.attempt), text.to_vec());
        }
        self.inner.submit(job)
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        self.inner.poll(done);
        for Completion { ticket, attempt, outcome } in done {
            let Ok((output, _)) = outcome else { continue };
            match self.fault {
                Fault::SpoilsSubmittedWork => spoil_first(output),
                Fault::LeavesSubmittedText => {
                    let before = self.before().remove(&(*ticket, *attempt));
                    leave_before(output, &before.unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }
}

fn spoil_first(output: &mut OwnedOutput) {
    if let Place::Packed { bytes: [first, ..], .. } = output.as_output().text {
        *first ^= 1;
    }
}

fn leave_before(output: &mut OwnedOutput, before: &[u8]) {
    let failed: Vec<_> =
        output.status().iter().map(|status| *status == Status::AuthFailed).collect();
    let Place::Packed { bytes, layout } = output.as_output().text else { return };
    for (message, _) in failed.iter().enumerate().filter(|(_, failed)| **failed) {
        let place = layout.range(message);
        bytes[place.clone()].copy_from_slice(&before[place]);
    }
}

/// What is read before the work is done.
fn first_read(slot: Slot<'_>) -> Vec<u8> {
    match slot.text {
        SlotText::Apart { input, .. } => input.to_vec(),
        SlotText::InPlace(_) | SlotText::Read(_) => vec![],
    }
}

fn text_len(slot: &Slot<'_>) -> usize {
    match &slot.text {
        SlotText::Apart { input, .. } => input.len(),
        SlotText::InPlace(text) => text.len(),
        SlotText::Read(text) => text.len(),
    }
}

fn flip(slot: Slot<'_>) {
    match slot.text {
        SlotText::Apart { output: [.., last], .. } | SlotText::InPlace([.., last]) => *last ^= 0x80,
        _ => flip_tag(slot),
    }
}

fn flip_tag(slot: Slot<'_>) {
    if let SlotTag::Write([first, ..]) = slot.tag {
        *first ^= 1;
    }
}

fn leave_text(slot: Slot<'_>) {
    let (SlotText::Apart { output, .. } | SlotText::InPlace(output)) = slot.text else { return };
    if slot.op == Op::Open && output.iter().all(|byte| *byte == 0) {
        output.fill(1);
    }
}

/// Gives what decrypting the bytes that are there now would give.
fn decrypt_again(slot: Slot<'_>, first_read: &[u8]) {
    let SlotText::Apart { input, output } = slot.text else { return };
    if slot.op == Op::Open && output.iter().any(|byte| *byte != 0) {
        let bytes = output.iter_mut().zip(first_read).zip(input);
        bytes.for_each(|((out, before), now)| *out ^= before ^ now);
    }
}
