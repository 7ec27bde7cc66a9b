//! A card of a board as a device.

use super::super::device::complete;
use super::Tally;
use super::play::{Play, Request};
use crate::workers::Software;
use sealift_core::{
    Algorithm, Capabilities, Clock, Completion, Context, Cost, Cuts, Device, DeviceError, Job,
    MAX_TEXT_BYTES, NonceLengths, Notify, Origin, Refusal, Refused, Resource, Role, SessionId,
    Shape, SimulatedClock, Submission, TagLength, Timing, Work,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// What the cards of a board share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Itself, for the clock to ring.
    pub(super) own: Weak<Self>,
    pub(super) clock: Arc<SimulatedClock>,
    pub(super) state: Mutex<State>,
}

/// A board with the jobs that are in it.
#[derive(Debug)]
pub(super) struct State {
    play: Play,
    flying: HashMap<u64, Flying>,
    taken: u64,
    seats: Vec<SeatState>,
    /// When the clock rings next, as far as was asked of it.
    rings_at_ns: Option<u64>,
}

#[derive(Debug, Default)]
struct SeatState {
    /// What is rung for each result; none for a card that is not open.
    bell: Option<Arc<dyn Notify>>,
    held: usize,
    over: Vec<(Flying, Timing)>,
    /// When its last result was there.
    told_ns: u64,
}

#[derive(Debug)]
struct Flying {
    job: Box<Job>,
    came_ns: u64,
}

impl State {
    pub(super) fn new(play: Play) -> Self {
        let seats = play.board().seats.iter().map(|_| SeatState::default()).collect();
        Self { play, flying: HashMap::new(), taken: 0, seats, rings_at_ns: None }
    }

    pub(super) fn tally(&self) -> Tally {
        self.play.tally().clone()
    }

    /// Plays up to now, and gives the bells of the cards with new results.
    fn advance(&mut self, now_ns: u64) -> Vec<Arc<dyn Notify>> {
        self.play.advance(now_ns);
        let mut bells = vec![];
        for told in self.play.take_told() {
            let Some(flying) = self.flying.remove(&told.id) else { continue };
            let seat = &mut self.seats[told.seat];
            // As long as one that comes behind others keeps the card from the next one.
            let start_ns = seat.told_ns.max(flying.came_ns);
            seat.told_ns = told.at_ns;
            let timing =
                Timing { origin: Origin::Simulated, ..Timing::in_memory(start_ns, told.at_ns) };
            seat.over.push((flying, timing));
            bells.extend(seat.bell.clone());
        }
        bells
    }
}

impl Shared {
    /// What a card is as a device, which opens it; nothing where there is none, or it is open.
    pub(super) fn open(&self, seat: usize, name: &str, context: &Context) -> Option<Capabilities> {
        let mut state = self.lock();
        let model = *state.play.model(seat)?;
        let own = &mut state.seats[seat].bell;
        if own.is_some() {
            return None;
        }
        *own = Some(Arc::clone(&context.notify));
        let board = state.play.board();
        let host_ns = if model.in_software { 0.0 } else { board.host_ns() };
        let copied_ns = if model.in_software { 0.0 } else { 2.0 * board.write_byte_ns };
        Some(Capabilities {
            name: name.to_owned(),
            driver: "cards",
            role: Role::Real,
            origin: Origin::Simulated,
            detail: "a card of a board, in virtual time".to_owned(),
            algorithms: vec![Algorithm::AesGcm],
            runs_on_calling_thread: false,
            cuts: Cuts::Nothing,
            works_on: if model.in_software { Resource::Cores(vec![]) } else { Resource::Own },
            cost: Cost::clamped(host_ns, model.setup_ns, model.byte_ns + copied_ns),
            in_place: false,
            workers: 1,
            slots: model.slots,
            messages_max: usize::MAX,
            text_bytes_max: usize::try_from(MAX_TEXT_BYTES).unwrap_or(usize::MAX),
            aad_bytes_max: usize::MAX,
            prepares: Duration::ZERO,
            nonce_lengths: NonceLengths::ALL,
            tag_lengths: TagLength::ALL.to_vec(),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays up to now, asks the clock to ring for what is next, and rings for what is over.
    fn go_on(&self) {
        let mut state = self.lock();
        let bells = state.advance(self.clock.now_ns());
        self.ring_for_next(&mut state);
        drop(state);
        bells.iter().for_each(|bell| bell.ring());
    }

    fn ring_for_next(&self, state: &mut State) {
        let now_ns = self.clock.now_ns();
        let Some(next_ns) = state.play.next_ns() else { return };
        let is_asked = state.rings_at_ns.is_some_and(|at_ns| at_ns > now_ns && at_ns <= next_ns);
        if !is_asked && let Some(own) = self.own.upgrade() {
            state.rings_at_ns = Some(next_ns);
            self.clock.at(next_ns, Arc::new(Turn(Arc::downgrade(&own))));
        }
    }
}

/// What the clock rings: the board goes on.
#[derive(Debug)]
struct Turn(Weak<Shared>);

impl Notify for Turn {
    fn ring(&self) {
        if let Some(shared) = self.0.upgrade() {
            shared.go_on();
        }
    }
}

/// One card of a board.
#[derive(Debug)]
pub(super) struct Seat {
    shared: Arc<Shared>,
    seat: usize,
    capabilities: Capabilities,
    software: Arc<dyn Software>,
}

impl Seat {
    pub(super) fn new(
        shared: Arc<Shared>,
        seat: usize,
        capabilities: Capabilities,
        software: Arc<dyn Software>,
    ) -> Self {
        Self { shared, seat, capabilities, software }
    }

    fn take(&self, state: &mut State, job: Box<Job>, now_ns: u64) -> Submission {
        let shape = match self.accepted(state, &job) {
            Ok(shape) => shape,
            Err(refusal) => return Err(Refused { job, refusal }),
        };
        state.taken += 1;
        let (id, seat) = (state.taken, self.seat);
        let (messages, bytes) = (shape.messages as u64, shape.bytes());
        state.flying.insert(id, Flying { job, came_ns: now_ns });
        state.seats[seat].held += 1;
        state.play.submit(Request { id, seat, messages, bytes });
        Ok(())
    }

    /// The shape of a job's batch, or why it is not taken now.
    fn accepted(&self, state: &State, job: &Job) -> Result<Shape, Refusal> {
        let failed = |reason: String| {
            let device = self.capabilities.name.clone();
            Refusal::Broken(DeviceError::Failed { device, reason })
        };
        let (in_flight, slots) = (state.seats[self.seat].held, self.capabilities.slots);
        if in_flight >= slots {
            return Err(Refusal::Full { in_flight, slots });
        }
        let shape = job.batch.shape().map_err(|error| failed(error.to_string()))?;
        let accepted = self.capabilities.accept(&shape);
        accepted.map_err(|error| Refusal::Broken(DeviceError::from(error)))?;
        Ok(shape)
    }
}

impl Device for Seat {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, _: &mut Work<'_>) -> Result<Timing, DeviceError> {
        Err(DeviceError::NotOnCallingThread { device: self.capabilities.name.clone() })
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        let mut state = self.shared.lock();
        let now_ns = self.shared.clock.now_ns();
        let bells = state.advance(now_ns);
        let taken = self.take(&mut state, job, now_ns);
        self.shared.ring_for_next(&mut state);
        drop(state);
        bells.iter().for_each(|bell| bell.ring());
        taken
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        let mut state = self.shared.lock();
        let over = std::mem::take(&mut state.seats[self.seat].over);
        state.seats[self.seat].held -= over.len();
        drop(state);
        let name = &self.capabilities.name;
        done.extend(
            over.into_iter().map(|(Flying { job, .. }, timing)| {
                complete(&*self.software, name, *job, Ok(timing))
            }),
        );
    }

    fn retire(&self, session: SessionId) {
        self.software.retire(session);
    }
}
