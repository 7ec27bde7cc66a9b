//! What was done, in bounded memory.

use crate::DeviceId;
use crate::scheduler::Decision;
use crate::stripes::Stripes;
use sealift_core::{Ticket, Timing};
use std::iter::Sum;
use std::sync::{Mutex, MutexGuard, PoisonError};

const RECORDS: usize = 1_024;

/// One attempt at a batch that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The batch's ticket, when it was submitted.
    pub ticket: Option<Ticket>,
    /// Who worked it.
    pub device: DeviceId,
    /// Which attempt at the batch, from 0.
    pub attempt: u32,
    /// What came of it.
    pub end: End,
    /// Messages in it.
    pub messages: usize,
    /// Bytes of its texts.
    pub text_bytes: u64,
    /// Messages that did not open.
    pub auth_failed: usize,
    /// When the engine was called with it.
    pub arrived_ns: u64,
    /// When it was worked, and what the time went into. Of an attempt without results, from when the
    /// device got it until the engine gave it up.
    pub timing: Timing,
    /// Who was asked, and why this device.
    pub decision: Decision,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Results.
    Done,
    /// The device said that it failed.
    Failed,
    /// It did not answer in time.
    Abandoned,
    /// Its results did not open elsewhere.
    Wrong,
}

/// What a device has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Batches finished.
    pub batches: u64,
    /// Messages in them.
    pub messages: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Messages that did not open.
    pub auth_failed: u64,
    /// Batches that the device failed.
    pub failed: u64,
    /// Batches that were given up because it did not answer in time.
    pub abandoned: u64,
    /// Batches whose results did not open elsewhere.
    pub wrong: u64,
    /// Abandoned batches that it gave results for after all; they were wiped.
    pub late: u64,
    /// Time between start and end of all finished batches.
    pub busy_ns: u64,
}

/// The last records and everything's sums, of each group of threads by itself.
#[derive(Debug)]
pub(crate) struct Records {
    devices: usize,
    stripes: Stripes<Mutex<ThreadRecords>>,
}

/// Grows to its bound once.
#[derive(Debug)]
struct ThreadRecords {
    ring: Vec<Record>,
    next: usize,
    counters: Vec<Counters>,
}

impl Records {
    pub(crate) fn new(devices: usize) -> Self {
        let counters = || vec![Counters::default(); devices];
        let own = || Mutex::new(ThreadRecords { ring: vec![], next: 0, counters: counters() });
        Self { devices, stripes: Stripes::new(own) }
    }

    pub(crate) fn push(&self, record: Record) {
        lock(self.stripes.own()).push(record);
    }

    pub(crate) fn count_late(&self, device: DeviceId) {
        lock(self.stripes.own()).counters[device.0].late += 1;
    }

    /// The last records, oldest first: by when they ended, where different threads made them.
    pub(crate) fn last(&self) -> Vec<Record> {
        let mut all = vec![];
        for stripe in self.stripes.iter() {
            let own = lock(stripe);
            let (newer, older) = own.ring.split_at(own.next);
            all.extend([older, newer].concat());
        }
        all.sort_by_key(|record| record.timing.end_ns);
        all.split_off(all.len().saturating_sub(RECORDS))
    }

    pub(crate) fn counters(&self, device: DeviceId) -> Option<Counters> {
        let own = |stripe| lock(stripe).counters[device.0];
        (device.0 < self.devices).then(|| self.stripes.iter().map(own).sum())
    }
}

impl ThreadRecords {
    fn push(&mut self, record: Record) {
        let counters = &mut self.counters[record.device.0];
        match record.end {
            End::Done => {
                counters.batches += 1;
                counters.messages += record.messages as u64;
                counters.text_bytes += record.text_bytes;
                counters.auth_failed += record.auth_failed as u64;
                counters.busy_ns += record.timing.end_ns.saturating_sub(record.timing.start_ns);
            }
            End::Failed => counters.failed += 1,
            End::Abandoned => counters.abandoned += 1,
            End::Wrong => counters.wrong += 1,
        }
        if self.ring.len() < RECORDS {
            self.ring.push(record);
        } else {
            self.ring[self.next] = record;
            self.next = (self.next + 1) % RECORDS;
        }
    }
}

impl Sum for Counters {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |sum, one| Self {
            batches: sum.batches + one.batches,
            messages: sum.messages + one.messages,
            text_bytes: sum.text_bytes + one.text_bytes,
            auth_failed: sum.auth_failed + one.auth_failed,
            failed: sum.failed + one.failed,
            abandoned: sum.abandoned + one.abandoned,
            wrong: sum.wrong + one.wrong,
            late: sum.late + one.late,
            busy_ns: sum.busy_ns + one.busy_ns,
        })
    }
}

/// Nothing panics while it is locked.
fn lock(stripe: &Mutex<ThreadRecords>) -> MutexGuard<'_, ThreadRecords> {
    stripe.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_last_records_in_order_and_the_sums_of_all() {
        let records = Records::new(1);
        let count = RECORDS as u64 * 2 + 5;
        for n in 0..count {
            let end = if n == 7 { End::Failed } else { End::Done };
            records.push(Record {
                ticket: Some(Ticket(n)),
                device: DeviceId(0),
                attempt: 0,
                end,
                messages: 3,
                text_bytes: 10,
                auth_failed: 1,
                arrived_ns: n,
                timing: Timing::in_memory(n, n + 2),
                decision: Decision::named(DeviceId(0)),
            });
        }
        let last: Vec<_> = records.last().iter().map(|record| record.arrived_ns).collect();
        assert_eq!(last, (count - RECORDS as u64..count).collect::<Vec<_>>());
        let sums = records.counters(DeviceId(0)).unwrap();
        assert_eq!((sums.batches, sums.messages), (count - 1, 3 * (count - 1)));
        assert_eq!((sums.busy_ns, sums.failed), (2 * (count - 1), 1));
    }
}
