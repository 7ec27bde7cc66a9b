//! Submitted batches that nobody has taken back yet, and the attempts at them.

use crate::leased::JobKeys;
use crate::parts::{PartOf, Whole};
use crate::scheduler::{Decision, Given};
use crate::store::Lease;
use crate::{DeviceId, EngineError, Report};
use sealift_core::{Batch, Completion, DeviceError, OwnedOutput, Shape, Ticket};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// A submitted batch that is finished.
#[derive(Debug)]
pub struct Completed {
    /// The ticket that [`submit`](crate::Engine::submit) gave for it.
    pub ticket: Ticket,
    /// The messages, as they were submitted.
    pub batch: Arc<Batch<'static>>,
    /// The results; or, when every device that may has failed it, why the last one did.
    pub outcome: Result<(OwnedOutput, Report), DeviceError>,
}

/// What the engine remembers of a submitted batch.
#[derive(Debug)]
pub(crate) struct Flying {
    pub(crate) batch: Arc<Batch<'static>>,
    pub(crate) shape: Shape,
    pub(crate) arrived_ns: u64,
    pub(crate) named: Option<DeviceId>,
    /// The device that a part of a batch is meant for.
    pub(crate) preferred: Option<DeviceId>,
    pub(crate) part_of: Option<PartOf>,
    /// Holds the batch's keys for further attempts, too.
    pub(crate) lease: Arc<Lease>,
    /// The devices that failed it.
    pub(crate) tried: Vec<DeviceId>,
    pub(crate) attempts: u32,
    /// The attempt that counts; none while the batch waits for a device.
    pub(crate) current: Option<Attempt>,
    pub(crate) error: Option<DeviceError>,
}

/// A batch on a device.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    pub(crate) decision: Decision,
    pub(crate) given: Given,
    /// When it is given up.
    pub(crate) due_ns: u64,
    /// How often it was given more time, because nobody else could work the batch.
    pub(crate) extended: usize,
    pub(crate) keys: Arc<JobKeys>,
}

/// An attempt that was given up and has not ended yet.
#[derive(Debug)]
pub(crate) struct Abandoned {
    pub(crate) device: DeviceId,
    pub(crate) shape: Shape,
}

/// Whose a completion is.
pub(crate) enum Landed {
    /// Of the attempt that counts.
    Current(Box<Flying>, Attempt),
    /// Of one that was given up.
    Abandoned(Abandoned),
    /// Of none that was ever made.
    Unknown,
}

/// Batches in flight and finished ones that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    next: u64,
    flying: HashMap<Ticket, Flying>,
    /// When attempts are given up, the soonest first.
    due: BTreeSet<(u64, Ticket)>,
    /// Batches without a device, the oldest first.
    waiting: VecDeque<Ticket>,
    abandoned: HashMap<(Ticket, u32), Abandoned>,
    /// Batches that were cut, and how many parts of them are in flight.
    wholes: HashMap<Ticket, Whole>,
    parts: usize,
    done: VecDeque<Completed>,
}

impl Flight {
    /// Batches that are not taken back yet.
    pub(crate) fn len(&self) -> usize {
        self.flying.len() - self.parts + self.wholes.len() + self.done.len()
    }

    /// Remembers a batch that was cut.
    pub(crate) fn cut(&mut self, ticket: Ticket, whole: Whole) {
        self.wholes.insert(ticket, whole);
    }

    /// A batch that was cut.
    pub(crate) fn whole(&mut self, ticket: Ticket) -> Option<&mut Whole> {
        self.wholes.get_mut(&ticket)
    }

    /// Takes out a batch whose parts are all over.
    pub(crate) fn joined(&mut self, ticket: Ticket) -> Option<Whole> {
        self.wholes.remove(&ticket)
    }

    pub(crate) fn next_ticket(&mut self) -> Ticket {
        self.next += 1;
        Ticket(self.next)
    }

    /// A batch that a device has taken, or that waits for one.
    pub(crate) fn take_off(&mut self, ticket: Ticket, flying: Flying) {
        match &flying.current {
            Some(attempt) => {
                self.due.insert((attempt.due_ns, ticket));
            }
            None => self.waiting.push_back(ticket),
        }
        self.insert(ticket, flying);
    }

    /// Takes the batch behind a completion out, if its attempt counts.
    pub(crate) fn land(&mut self, completion: &Completion) -> Landed {
        let Completion { ticket, attempt, .. } = *completion;
        let is_current = |flying: &Flying| {
            flying.current.as_ref().is_some_and(|current| current.number == attempt)
        };
        if self.flying.get(&ticket).is_some_and(is_current)
            && let Some((flying, current)) = self.ground(ticket)
        {
            return Landed::Current(Box::new(flying), current);
        }
        match self.abandoned.remove(&(ticket, attempt)) {
            Some(abandoned) => Landed::Abandoned(abandoned),
            None => Landed::Unknown,
        }
    }

    /// The batch behind a completion, its keys and its device, if its attempt counts.
    pub(crate) fn current(
        &self,
        completion: &Completion,
    ) -> Option<(Arc<Batch<'static>>, Arc<Lease>, DeviceId)> {
        let flying = self.flying.get(&completion.ticket)?;
        let current = flying.current.as_ref()?;
        let found = (Arc::clone(&flying.batch), Arc::clone(&flying.lease), current.decision.device);
        (current.number == completion.attempt).then_some(found)
    }

    /// Takes out a batch whose attempt is to be given up by now.
    pub(crate) fn overdue(&mut self, now_ns: u64) -> Option<(Ticket, Flying, Attempt)> {
        let &(due_ns, ticket) = self.due.first()?;
        if due_ns > now_ns {
            return None;
        }
        self.ground(ticket).map(|(flying, attempt)| (ticket, flying, attempt))
    }

    /// The devices that should have answered by now.
    pub(crate) fn overdue_on(&self, now_ns: u64) -> impl Iterator<Item = DeviceId> {
        let due = self.due.iter().take_while(move |(due_ns, _)| *due_ns <= now_ns);
        let current = due.filter_map(|(_, ticket)| self.flying.get(ticket)?.current.as_ref());
        current.map(|attempt| attempt.decision.device)
    }

    /// When the next attempt is given up.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        self.due.first().map(|(due_ns, _)| *due_ns)
    }

    /// Remembers an attempt that was given up.
    pub(crate) fn abandon(&mut self, ticket: Ticket, number: u32, abandoned: Abandoned) {
        self.abandoned.insert((ticket, number), abandoned);
    }

    /// Whether a device holds an attempt that was given up.
    pub(crate) fn hangs(&self, device: DeviceId) -> bool {
        self.abandoned.values().any(|abandoned| abandoned.device == device)
    }

    /// Batches that wait for a device.
    pub(crate) fn count_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Overwrites all results that nobody has taken.
    pub(crate) fn wipe(&mut self) {
        for completed in &mut self.done {
            if let Ok((output, _)) = &mut completed.outcome {
                output.wipe();
            }
        }
        self.wholes.values_mut().for_each(Whole::wipe);
    }

    /// Takes out the oldest batch that waits for a device.
    pub(crate) fn next_waiting(&mut self) -> Option<(Ticket, Flying)> {
        let ticket = self.waiting.pop_front()?;
        self.remove(ticket).map(|flying| (ticket, flying))
    }

    /// Whether batches wait for a device.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Finished batches that wait to be taken.
    pub(crate) fn count_done(&self) -> usize {
        self.done.len()
    }

    /// Puts those back that have to wait on, before all others.
    pub(crate) fn keep_waiting(&mut self, kept: Vec<(Ticket, Flying)>) {
        for (ticket, flying) in kept.into_iter().rev() {
            self.waiting.push_front(ticket);
            self.insert(ticket, flying);
        }
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
        let is_whole = self.flying.get(&ticket).is_some_and(|flying| flying.part_of.is_none());
        if is_whole || self.wholes.contains_key(&ticket) {
            return Ok(None);
        }
        Err(EngineError::UnknownTicket(ticket))
    }

    /// Whether finished batches wait to be taken.
    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// Takes a batch out together with its attempt.
    fn ground(&mut self, ticket: Ticket) -> Option<(Flying, Attempt)> {
        let mut flying = self.remove(ticket)?;
        let attempt = flying.current.take()?;
        self.due.remove(&(attempt.due_ns, ticket));
        Some((flying, attempt))
    }

    fn insert(&mut self, ticket: Ticket, flying: Flying) {
        self.parts += usize::from(flying.part_of.is_some());
        self.flying.insert(ticket, flying);
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Flying> {
        let flying = self.flying.remove(&ticket)?;
        self.parts -= usize::from(flying.part_of.is_some());
        Some(flying)
    }
}
