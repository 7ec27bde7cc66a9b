//! Runs work on a device that takes submitted jobs only, for the checks that run it.

use crate::bell::Bell;
use crate::strip::CANARY;
use sealift_core::{
    Batch, Buffer, Capabilities, Column, Completion, Device, DeviceError, Job, Key, KeySource,
    Keys, Layout, Ops, OwnedOutput, Refusal, SessionId, SlotTag, SlotText, Submission, Tags, Text,
    Ticket, Timing, Work,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A device that runs what it is given by submitting a copy and waiting for it.
#[derive(Debug)]
pub(crate) struct Submitting {
    inner: Arc<dyn Device>,
    capabilities: Capabilities,
    bell: Arc<Bell>,
    next: AtomicU64,
    done: Mutex<Done>,
}

/// Completions that were polled and not yet asked for.
#[derive(Debug, Default)]
struct Done {
    /// Of what is run, by ticket.
    own: HashMap<Ticket, Completion>,
    /// Of what somebody else submitted.
    others: Vec<Completion>,
}

/// Tickets from here on are those of work that is run.
const OWN: u64 = 1 << 63;
/// Far longer than any batch of the suite takes.
const PATIENCE: Duration = Duration::from_secs(60);

impl Submitting {
    /// Over a device that rings this bell.
    pub(crate) fn new(inner: Arc<dyn Device>, bell: Arc<Bell>) -> Self {
        // In place exists for work that is run only.
        let capabilities = Capabilities { in_place: false, ..inner.capabilities().clone() };
        let (next, done) = (AtomicU64::new(OWN), Mutex::default());
        Self { inner, capabilities, bell, next, done }
    }

    fn submit_when_free(&self, mut job: Box<Job>) -> Result<(), DeviceError> {
        loop {
            let rings = self.bell.rings();
            drop(self.drain());
            let refused = match self.inner.submit(job) {
                Ok(()) => return Ok(()),
                Err(refused) => refused,
            };
            match refused.refusal {
                Refusal::Full { .. } => self.wait_beyond(rings)?,
                Refusal::Broken(error) => return Err(error),
            }
            job = refused.job;
        }
    }

    fn wait_for(&self, ticket: Ticket) -> Result<Completion, DeviceError> {
        loop {
            let rings = self.bell.rings();
            if let Some(completion) = self.drain().own.remove(&ticket) {
                return Ok(completion);
            }
            self.wait_beyond(rings)?;
        }
    }

    fn wait_beyond(&self, rings: u64) -> Result<(), DeviceError> {
        self.bell.wait_beyond(rings, PATIENCE).map_err(|reason| self.failed(reason))
    }

    /// Takes what is done, for whomever it is.
    fn drain(&self) -> MutexGuard<'_, Done> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut polled = vec![];
        self.inner.poll(&mut polled);
        for completion in polled {
            if completion.ticket.0 < OWN {
                done.others.push(completion);
            } else {
                done.own.insert(completion.ticket, completion);
            }
        }
        done
    }

    fn failed(&self, reason: String) -> DeviceError {
        DeviceError::Failed { device: self.capabilities.name.clone(), reason }
    }
}

impl Device for Submitting {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let batch = owned(work.batch());
        let output = OwnedOutput::for_batch(&batch);
        let mut output = output.map_err(|error| self.failed(error.to_string()))?;
        // As an engine does that uses memory again.
        output.fill_text(CANARY);
        let ticket = Ticket(self.next.fetch_add(1, Ordering::Relaxed));
        let (batch, keys) = (Arc::new(batch), Arc::new(Held::of(work)));
        self.submit_when_free(Box::new(Job { ticket, attempt: 0, batch, output, keys }))?;
        let (output, timing) = self.wait_for(ticket)?.outcome?;
        copy_results(&output, work);
        Ok(timing)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        self.inner.submit(job)
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        done.append(&mut self.drain().others);
    }

    fn retire(&self, session: SessionId) {
        self.inner.retire(session);
    }

    fn release(&self) {
        self.inner.release();
    }
}

/// The keys of a batch, for as long as its job lives.
struct Held(HashMap<SessionId, Arc<Key>>);

impl Held {
    fn of(work: &Work<'_>) -> Self {
        let sessions = (0..work.len()).filter_map(|message| work.batch().session_of(message));
        // One that is gone is for the device to find out.
        Self(sessions.filter_map(|id| Some((id, work.key(id, "").ok()?))).collect())
    }
}

impl KeySource for Held {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.0.get(&session).cloned()
    }
}

fn copy_results(output: &OwnedOutput, work: &mut Work<'_>) {
    for message in 0..work.len() {
        let made = output.text_of(message);
        let slot = work.slot(message);
        let text_bytes = match slot.text {
            SlotText::Apart { output, .. } => {
                output.copy_from_slice(&made[..output.len()]);
                output.len()
            }
            SlotText::InPlace(_) | SlotText::Read(_) => 0,
        };
        if let SlotTag::Write(tag) = slot.tag {
            let apart = !output.tags().is_empty();
            let bytes = if apart { output.tag_of(message) } else { &made[text_bytes..] };
            tag.copy_from_slice(&bytes[..tag.len()]);
        }
        work.set_status(message, output.status()[message]);
    }
}

/// The same batch over copies of what is borrowed; what is shared stays where it is.
fn owned(batch: &Batch<'_>) -> Batch<'static> {
    Batch {
        len: batch.len,
        algorithm: batch.algorithm,
        ops: match &batch.ops {
            Ops::All(op) => Ops::All(*op),
            Ops::Each(ops) => Ops::Each(ops.to_vec().into()),
        },
        keys: match &batch.keys {
            Keys::Session(session) => Keys::Session(*session),
            Keys::Sessions(sessions) => Keys::Sessions(sessions.to_vec().into()),
            Keys::Raw(keys) => Keys::Raw(owned_column(keys)),
        },
        nonce: owned_column(&batch.nonce),
        aad: owned_column(&batch.aad),
        text: match &batch.text {
            Text::Apart(text) => Text::Apart(owned_column(text)),
            Text::InPlace => Text::InPlace,
        },
        tags: match &batch.tags {
            Tags::Apart(tags) => Tags::Apart(owned_column(tags)),
            Tags::Appended => Tags::Appended,
        },
        tag_length: batch.tag_length,
        nonce_rule: batch.nonce_rule,
        stability: batch.stability,
    }
}

fn owned_column(column: &Column<'_>) -> Column<'static> {
    match column {
        Column::Empty => Column::Empty,
        Column::Same(buffer) => Column::Same(owned_buffer(buffer)),
        Column::Scattered(buffers) => Column::Scattered(buffers.iter().map(owned_buffer).collect()),
        Column::Packed { buffer, layout } => {
            let layout = match layout {
                Layout::Fixed { stride, len } => Layout::Fixed { stride: *stride, len: *len },
                Layout::Offsets32(offsets) => Layout::Offsets32(offsets.to_vec().into()),
                Layout::Offsets64(offsets) => Layout::Offsets64(offsets.to_vec().into()),
            };
            Column::Packed { buffer: owned_buffer(buffer), layout }
        }
    }
}

fn owned_buffer(buffer: &Buffer<'_>) -> Buffer<'static> {
    match buffer {
        Buffer::Borrowed(bytes) => bytes.to_vec().into(),
        Buffer::Shared(bytes) => Buffer::Shared(bytes.clone()),
    }
}
