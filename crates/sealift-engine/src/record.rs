//! What was done, in bounded memory.

use crate::DeviceId;
use sealift_core::{Ticket, Timing};

const RECORDS: usize = 1_024;

/// One finished batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its ticket, when it was submitted.
    pub ticket: Option<Ticket>,
    /// Who worked it.
    pub device: DeviceId,
    /// Messages in it.
    pub messages: usize,
    /// Bytes of its texts.
    pub text_bytes: u64,
    /// Messages that did not open.
    pub auth_failed: usize,
    /// When the engine was called with it.
    pub arrived_ns: u64,
    /// When it was worked, and what the time went into.
    pub timing: Timing,
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
    /// Time between start and end of all batches.
    pub busy_ns: u64,
}

/// The last records and everything's sums. Allocates once.
#[derive(Debug)]
pub(crate) struct Records {
    ring: Vec<Record>,
    next: usize,
    counters: Vec<Counters>,
}

impl Records {
    pub(crate) fn new(devices: usize) -> Self {
        let counters = vec![Counters::default(); devices];
        Self { ring: Vec::with_capacity(RECORDS), next: 0, counters }
    }

    pub(crate) fn push(&mut self, record: Record) {
        let counters = &mut self.counters[record.device.0];
        counters.batches += 1;
        counters.messages += record.messages as u64;
        counters.text_bytes += record.text_bytes;
        counters.auth_failed += record.auth_failed as u64;
        counters.busy_ns += record.timing.end_ns.saturating_sub(record.timing.start_ns);
        if self.ring.len() < RECORDS {
            self.ring.push(record);
        } else {
            self.ring[self.next] = record;
            self.next = (self.next + 1) % RECORDS;
        }
    }

    pub(crate) fn push_failure(&mut self, device: DeviceId) {
        self.counters[device.0].failed += 1;
    }

    /// The last records, oldest first.
    pub(crate) fn last(&self) -> Vec<Record> {
        let (newer, older) = self.ring.split_at(self.next);
        [older, newer].concat()
    }

    pub(crate) fn counters(&self, device: DeviceId) -> Option<Counters> {
        self.counters.get(device.0).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_last_records_in_order_and_the_sums_of_all() {
        let mut records = Records::new(1);
        let count = RECORDS as u64 * 2 + 5;
        for n in 0..count {
            let timing = Timing::in_memory(n, n + 2);
            records.push(Record {
                ticket: Some(Ticket(n)),
                device: DeviceId(0),
                messages: 3,
                text_bytes: 10,
                auth_failed: 1,
                arrived_ns: n,
                timing,
            });
        }
        let last: Vec<_> = records.last().iter().map(|record| record.arrived_ns).collect();
        assert_eq!(last, (count - RECORDS as u64..count).collect::<Vec<_>>());
        let sums = records.counters(DeviceId(0)).unwrap();
        assert_eq!((sums.batches, sums.messages, sums.busy_ns), (count, 3 * count, 2 * count));
    }
}
