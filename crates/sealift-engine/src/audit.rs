//! Opens a share of what was sealed on another device.

use crate::EngineError;
use crate::route::{self, DeviceId};
use crate::settings::Audit;
use sealift_core::{
    Batch, Buffer, Column, Device, KeySource, Keys, Op, Ops, OwnedOutput, Role, SlotTag, SlotText,
    Stability, Status, Tags, Text, Work,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Draws the messages that are checked, and checks them.
#[derive(Debug)]
pub(crate) struct Auditor {
    share: f64,
    random: AtomicU64,
    /// What is left of a message where shares of batches are no whole numbers.
    rest: Mutex<f64>,
}

/// What a device made of some messages of a batch.
pub(crate) struct Sealed {
    message: usize,
    status: Status,
    text: Vec<u8>,
    tag: Vec<u8>,
}

impl Auditor {
    pub(crate) fn new(audit: Audit, devices: &[Arc<dyn Device>]) -> Result<Self, EngineError> {
        let Audit { share, seed } = audit;
        let wrong = |reason: &str| EngineError::Audit {
            share: share.to_string(),
            reason: reason.to_owned(),
        };
        if !(share > 0.0 && share <= 1.0) {
            return Err(wrong("give a share above 0 and of at most 1"));
        }
        if devices.len() < 2 || !devices.iter().any(|device| can_check(&**device)) {
            return Err(wrong("it takes a second device that runs on the calling thread"));
        }
        let (random, rest) = (AtomicU64::new(seed), Mutex::new(0.0));
        Ok(Self { share, random, rest })
    }

    /// Draws some messages out of a submitted batch's results.
    pub(crate) fn draw_from(&self, batch: &Batch<'_>, output: &OwnedOutput) -> Vec<Sealed> {
        let draw = |message| Sealed {
            message,
            status: output.status()[message],
            text: output.text_of(message).to_vec(),
            tag: output.tag_of(message).to_vec(),
        };
        self.pick(batch).into_iter().map(draw).collect()
    }

    /// The same of a batch that was worked on the calling thread; nothing where its texts were in place,
    /// for then nobody knows what they were.
    pub(crate) fn draw_from_work(&self, work: &mut Work<'_>) -> Vec<Sealed> {
        if work.shape().in_place {
            return vec![];
        }
        let appended = matches!(work.batch().tags, Tags::Appended);
        let picked = self.pick(work.batch());
        let draw = |message| {
            let status = work.statuses()[message];
            let slot = work.slot(message);
            let mut text = match slot.text {
                SlotText::Apart { output, .. } => output.to_vec(),
                SlotText::InPlace(_) | SlotText::Read(_) => vec![],
            };
            let tag = match slot.tag {
                SlotTag::Write(tag) => tag.to_vec(),
                SlotTag::Check(_) | SlotTag::Missing => vec![],
            };
            if appended {
                text.extend_from_slice(&tag);
            }
            Sealed { message, status, text, tag }
        };
        picked.into_iter().map(draw).collect()
    }

    /// The device that is wrong: whoever sealed the messages, or, where two others don't agree, the one
    /// that is alone. Nothing when they open, or when nobody could look.
    pub(crate) fn who_is_wrong(
        devices: &[Arc<dyn Device>],
        trusted: &[DeviceId],
        worker: DeviceId,
        batch: &Batch<'_>,
        sealed: &[Sealed],
        keys: &dyn KeySource,
    ) -> Option<DeviceId> {
        if sealed.is_empty() {
            return None;
        }
        // A message that a device did not seal is wrong by itself.
        if sealed.iter().any(|each| each.status != Status::Ok) {
            return Some(worker);
        }
        let opening = opening(batch, sealed);
        let shape = opening.shape().ok()?;
        let can_check = |at: &usize| {
            let device = &*devices[*at];
            can_check(device) && route::accept(device.capabilities(), &shape, true).is_ok()
        };
        let others = trusted.iter().filter(|device| **device != worker).map(|DeviceId(at)| *at);
        let mut checkers: Vec<_> = others.filter(can_check).collect();
        // Oracles are slow, and there to be right: they are asked when somebody is to be blamed.
        checkers.sort_by_key(|&at| devices[at].capabilities().role == Role::Oracle);
        let verdict = |at: &usize| opens(&*devices[*at], &opening, batch, sealed, keys);
        let (first, agrees) = checkers.iter().find_map(|at| Some((*at, verdict(at)?)))?;
        if agrees {
            return None;
        }
        let second = checkers.iter().rev().filter(|at| **at != first).find_map(verdict);
        Some(if second == Some(true) { DeviceId(first) } else { worker })
    }

    /// Seals of a batch, drawn so that over many batches the share is right.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of messages, far under 2^52"
    )]
    fn pick(&self, batch: &Batch<'_>) -> Vec<usize> {
        let mut seals: Vec<_> =
            (0..batch.len).filter(|message| batch.ops.get(*message) == Op::Seal).collect();
        let count = {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = *rest + self.share * seals.len() as f64;
            let count = (wanted as usize).min(seals.len());
            *rest = wanted - count as f64;
            count
        };
        for at in 0..count {
            let left = seals.len() - at;
            let other = at + (self.random() % left as u64) as usize;
            seals.swap(at, other);
        }
        seals.truncate(count);
        seals
    }

    /// The next number of splitmix64.
    fn random(&self) -> u64 {
        let seed = self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

fn can_check(device: &dyn Device) -> bool {
    let capabilities = device.capabilities();
    matches!(capabilities.role, Role::Real | Role::Oracle | Role::Simulated)
        && capabilities.runs_on_calling_thread
}

/// Whether sealed messages open on a device to what they were; nothing when it can't say.
fn opens(
    device: &dyn Device,
    opening: &Batch<'_>,
    batch: &Batch<'_>,
    sealed: &[Sealed],
    keys: &dyn KeySource,
) -> Option<bool> {
    let mut opened = OwnedOutput::for_batch(opening).ok()?;
    let mut work = Work::new(opening, opened.as_output(), keys).ok()?;
    device.run(&mut work).ok()?;
    let same = |at: usize| {
        // Texts that somebody may change may be others by now.
        let may_differ = batch.stability == Stability::Shared;
        let is_right = may_differ || opened.text_of(at) == batch.text_of(sealed[at].message);
        opened.status()[at] == Status::Ok && is_right
    };
    let all_same = (0..sealed.len()).all(same);
    opened.wipe();
    Some(all_same)
}

/// A batch that opens some sealed messages.
fn opening<'b>(batch: &'b Batch<'_>, sealed: &'b [Sealed]) -> Batch<'b> {
    let of_batch = |column: &'b Column<'_>| scattered(sealed, |each| column.get(each.message));
    let keys = match &batch.keys {
        Keys::Raw(column) => Keys::Raw(of_batch(column)),
        Keys::Session(session) => Keys::Session(*session),
        Keys::Sessions(sessions) => {
            Keys::Sessions(sealed.iter().map(|each| sessions[each.message]).collect())
        }
    };
    let tags = match &batch.tags {
        Tags::Appended => Tags::Appended,
        Tags::Apart(_) => Tags::Apart(scattered(sealed, |each| &each.tag)),
    };
    Batch {
        len: sealed.len(),
        algorithm: batch.algorithm,
        ops: Ops::All(Op::Open),
        keys,
        nonce: of_batch(&batch.nonce),
        aad: of_batch(&batch.aad),
        text: Text::Apart(scattered(sealed, |each| &each.text)),
        tags,
        tag_length: batch.tag_length,
        nonce_rule: batch.nonce_rule,
        stability: batch.stability,
    }
}

fn scattered<'b>(sealed: &'b [Sealed], bytes: impl Fn(&'b Sealed) -> &'b [u8]) -> Column<'b> {
    Column::Scattered(sealed.iter().map(|each| Buffer::Borrowed(bytes(each))).collect())
}
