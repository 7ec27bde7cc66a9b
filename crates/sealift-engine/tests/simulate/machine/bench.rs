//! A simulated device with nothing around it.

use sealift_core::{
    Batch, Column, Completion, Cost, Device, DeviceError, Job, Key, KeySource, Notify, Output,
    OwnedOutput, Place, Refusal, SessionId, SimulatedClock, Status, Ticket, Timing, Work,
};
use sealift_engine::simulate::{FaultPlan, Machine, Model, toy};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const SESSION: SessionId = SessionId { slot: 3, generation: 7 };
pub(crate) const KEY: [u8; 16] = [5; 16];
pub(crate) const NONCE: [u8; 12] = [1; 12];

#[derive(Debug, Default)]
pub(crate) struct Rings(pub(crate) AtomicU64);

impl Notify for Rings {
    fn ring(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) struct OneKey;

impl KeySource for OneKey {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        (session == SESSION).then(|| Arc::new(Key::Aes128(KEY)))
    }
}

/// A device with what it rings and its time.
pub(crate) struct Bench {
    pub(crate) machine: Arc<Machine>,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) rings: Arc<Rings>,
    pub(crate) keys: Arc<dyn KeySource>,
}

/// 100 ns for each batch, whatever is in it.
pub(crate) fn model() -> Model {
    Model { slots: 4, ..Model::new("m", Cost::new(100.0, 0.0, 0.0).unwrap()) }
}

impl Bench {
    pub(crate) fn new(model: Model) -> Self {
        Self::with_clock(model, Arc::new(SimulatedClock::new()))
    }

    pub(crate) fn with_clock(model: Model, clock: Arc<SimulatedClock>) -> Self {
        let rings = Arc::new(Rings::default());
        let machine = model.open(&clock, &(Arc::clone(&rings) as Arc<dyn Notify>)).unwrap();
        Self { machine, clock, rings, keys: Arc::new(OneKey) }
    }

    pub(crate) fn with(faults: FaultPlan) -> Self {
        Self::new(Model { faults, ..model() })
    }

    pub(crate) fn submit(&self, ticket: u64, batch: Batch<'static>) -> Result<(), Refusal> {
        let output = OwnedOutput::for_batch(&batch).unwrap();
        let (ticket, keys) = (Ticket(ticket), Arc::clone(&self.keys));
        let job = Box::new(Job { ticket, attempt: 0, batch: Arc::new(batch), output, keys });
        self.machine.submit(job).map_err(|refused| {
            assert_eq!(refused.job.ticket, ticket);
            refused.refusal
        })
    }

    pub(crate) fn submit_seals(&self, tickets: std::ops::Range<u64>) {
        tickets.for_each(|ticket| self.submit(ticket, seal()).unwrap());
    }

    pub(crate) fn poll(&self) -> Vec<Completion> {
        let mut done = vec![];
        self.machine.poll(&mut done);
        done
    }

    /// What is finished at these times: tickets that went right.
    pub(crate) fn finished(&self, times_ns: &[u64]) -> Vec<Vec<u64>> {
        let at = |&at_ns: &u64| {
            self.clock.advance_to(at_ns);
            self.poll().into_iter().filter(|done| done.outcome.is_ok()).map(|done| done.ticket.0)
        };
        times_ns.iter().map(|at_ns| at(at_ns).collect()).collect()
    }

    pub(crate) fn run(&self) -> Result<Timing, DeviceError> {
        let (batch, mut out, mut tag) = (seal(), [0; 9], [0; 16]);
        let mut status = [Status::Ok];
        let (text, tags) = (Place::fixed(&mut out, 9), Place::fixed(&mut tag, 16));
        let output = Output { text, tags, status: &mut status };
        let mut work = Work::new(&batch, output, &OneKey).unwrap();
        let timing = self.machine.run(&mut work)?;
        let (sealed, expected) = toy::seal(&KEY, &NONCE, b"aad", b"some text");
        assert_eq!((&out[..], tag, status[0]), (&sealed[..], expected, Status::Ok));
        Ok(timing)
    }
}

/// A seal of one message of nine bytes.
pub(crate) fn seal() -> Batch<'static> {
    let column = |bytes: &'static [u8]| Column::Same(bytes.into());
    let aad = column(b"aad");
    Batch { aad, ..Batch::seal(1, SESSION, column(&NONCE), column(b"some text")) }
}
