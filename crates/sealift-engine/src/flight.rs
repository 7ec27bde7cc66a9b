//! Submitted batches that nobody has taken back yet.

use crate::{DeviceId, EngineError, Report};
use sealift_core::{Batch, Completion, DeviceError, OwnedOutput, Shape, Ticket};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A submitted batch that is finished.
#[derive(Debug)]
pub struct Completed {
    /// The ticket that [`submit`](crate::Engine::submit) gave for it.
    pub ticket: Ticket,
    /// The messages, as they were submitted.
    pub batch: Arc<Batch<'static>>,
    /// The results, or why the device has none.
    pub outcome: Result<(OwnedOutput, Report), DeviceError>,
}

/// What the engine remembers of a submitted batch.
#[derive(Debug)]
pub(crate) struct Flying {
    pub(crate) device: DeviceId,
    pub(crate) attempt: u32,
    pub(crate) arrived_ns: u64,
    pub(crate) shape: Shape,
    pub(crate) batch: Arc<Batch<'static>>,
}

/// Batches in flight and finished ones that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    next: u64,
    flying: HashMap<Ticket, Flying>,
    done: VecDeque<Completed>,
}

impl Flight {
    /// Batches that are not taken back yet.
    pub(crate) fn len(&self) -> usize {
        self.flying.len() + self.done.len()
    }

    /// Batches that a device has not given back yet.
    pub(crate) fn on(&self, device: DeviceId) -> usize {
        self.flying.values().filter(|flying| flying.device == device).count()
    }

    pub(crate) fn next_ticket(&mut self) -> Ticket {
        self.next += 1;
        Ticket(self.next)
    }

    pub(crate) fn take_off(&mut self, ticket: Ticket, flying: Flying) {
        self.flying.insert(ticket, flying);
    }

    /// The batch behind a completion; none for a late one of an abandoned attempt.
    pub(crate) fn land(&mut self, completion: &Completion) -> Option<Flying> {
        let current = self.flying.get(&completion.ticket)?.attempt == completion.attempt;
        if current { self.flying.remove(&completion.ticket) } else { None }
    }

    pub(crate) fn finish(&mut self, completed: Completed) {
        self.done.push_back(completed);
    }

    /// Takes the wanted batch, or the first that is finished. An unknown ticket is an error.
    pub(crate) fn take(
        &mut self,
        wanted: Option<Ticket>,
    ) -> Result<Option<Completed>, EngineError> {
        let Some(ticket) = wanted else { return Ok(self.done.pop_front()) };
        if let Some(at) = self.done.iter().position(|completed| completed.ticket == ticket) {
            return Ok(self.done.remove(at));
        }
        if self.flying.contains_key(&ticket) {
            return Ok(None);
        }
        Err(EngineError::UnknownTicket(ticket))
    }

    /// Whether finished batches wait to be taken.
    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }
}
