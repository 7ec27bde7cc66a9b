//! The long messages of a batch whose texts are worked in parts.

use crate::DeviceId;
use crate::shared::{Shared, message_of};
use sealift_core::{
    Batch, DeviceError, KeySource, Keys, LongMessage, PartHash, Piece, SessionId, Status, TextPart,
    Timing, Work,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// They, in order, each with what its parts came to so far.
#[derive(Default)]
pub(crate) struct LongMessages(Vec<Parted>);

struct Parted {
    message: usize,
    long: Box<dyn LongMessage>,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// How many were begun.
    begun: usize,
    /// Of those that are done.
    hashes: Vec<(usize, PartHash)>,
}

impl LongMessages {
    /// Those that are cut in `pieces`; none if the device works no parts after all.
    ///
    /// # Errors
    /// A key is gone, or the device can't expand it.
    pub(crate) fn of(
        shared: &Shared,
        device: DeviceId,
        batch: &Batch<'_>,
        pieces: &[Piece<'_>],
    ) -> Result<Option<Self>, DeviceError> {
        let mut all: Vec<Parted> = vec![];
        for piece in pieces {
            let Piece::Text(TextPart { message, .. }) = *piece else { continue };
            if all.last().is_none_or(|last| last.message != message) {
                let Some(long) = begin(shared, device, batch, message)? else { return Ok(None) };
                all.push(Parted { message, long, parts: Mutex::default() });
            }
        }
        Ok(Some(Self(all)))
    }

    /// Works a part of one of them.
    ///
    /// # Errors
    /// The device has panicked.
    pub(crate) fn work(
        &self,
        shared: &Shared,
        device: DeviceId,
        part: TextPart<'_>,
    ) -> Result<Timing, DeviceError> {
        let TextPart { message, part, first_block, text } = part;
        let at = self.0.partition_point(|one| one.message < message);
        let Parted { long, parts, .. } = &self.0[at];
        lock(parts).begun += 1;
        let start_ns = shared.clock.now_ns();
        let hash = guarded(shared, device, || long.work_part(first_block, text))?;
        lock(parts).hashes.push((part, hash));
        Ok(Timing::in_memory(start_ns, shared.clock.now_ns()))
    }

    /// Makes or compares the tags of those that are done, and wipes those that are not and were begun.
    ///
    /// # Errors
    /// The device has panicked.
    pub(crate) fn conclude(
        self,
        shared: &Shared,
        device: DeviceId,
        work: &mut Work<'_>,
    ) -> Result<(), DeviceError> {
        let mut failed = Ok(());
        for Parted { message, long, parts } in self.0 {
            let Parts { begun, mut hashes } =
                parts.into_inner().unwrap_or_else(PoisonError::into_inner);
            if begun == 0 {
                continue;
            }
            hashes.sort_unstable_by_key(|(part, _)| *part);
            let hashes: Vec<_> = hashes.into_iter().map(|(_, hash)| hash).collect();
            let slot = work.slot(message);
            let status = match guarded(shared, device, || long.conclude(slot, &hashes)) {
                Ok(Status::NotProcessed) => Status::Wiped,
                Ok(status) => status,
                Err(error) => {
                    failed = Err(error);
                    work.wipe_message(message);
                    Status::Wiped
                }
            };
            work.set_status(message, status);
        }
        failed
    }
}

/// What a device does with a message, which has failed if it panics.
fn guarded<T>(
    shared: &Shared,
    device: DeviceId,
    work: impl FnOnce() -> T,
) -> Result<T, DeviceError> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| shared.failure(device, message_of(&*panic)))
}

fn begin(
    shared: &Shared,
    device: DeviceId,
    batch: &Batch<'_>,
    message: usize,
) -> Result<Option<Box<dyn LongMessage>>, DeviceError> {
    let of_session = |session: SessionId| {
        shared.store.key(session).ok_or_else(|| DeviceError::KeyGone {
            device: shared.devices[device.0].capabilities().name.clone(),
            session: session.to_string(),
        })
    };
    let (algorithm, op) = (batch.algorithm, batch.ops.get(message));
    let nonce = batch.nonce.get(message);
    let long = |key: &[u8]| {
        guarded(shared, device, || shared.devices[device.0].long_message(algorithm, op, key, nonce))
    };
    let long = match &batch.keys {
        Keys::Session(session) => long(of_session(*session)?.as_bytes()),
        Keys::Sessions(sessions) => long(of_session(sessions[message])?.as_bytes()),
        Keys::Raw(column) => long(column.get(message)),
    };
    long?.transpose()
}

/// Nothing panics while it holds it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
