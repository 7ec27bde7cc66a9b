//! A card of a board as a driver, for the suite alone: others open boards from Rust.

use sealift_core::{
    Capabilities, Completion, Context, Device, DeviceError, Driver, Job, OpenError, Probe, Role,
    SessionId, SimulatedClock, Spec, Submission, Timing, Work,
};
use sealift_drivers::cards::{self, Board, Chance};
use sealift_drivers::kernels::Kernels;
use std::sync::Arc;

/// The first card of four. Virtual time passes as soon as a batch is submitted, until all is over.
#[derive(Debug)]
pub(crate) struct OnABoard;

impl Driver for OnABoard {
    fn name(&self) -> &'static str {
        "board"
    }

    fn summary(&self) -> &'static str {
        "a card that shares host, bus and memory with three others"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::Simulated, detail: self.summary().to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let wrong = |reason| OpenError::Setting { device: spec.to_string(), reason };
        let quad = cards::bundled().swap_remove(0);
        let clock = Arc::new(SimulatedClock::new());
        let board = Board::of(&quad).and_then(|board| board.play(&clock, Box::new(Even)));
        let board = board.map_err(|error| wrong(error.to_string()))?;
        let kernels = Kernels::best(spec.to_string()).map_err(|error| wrong(error.to_string()))?;
        let context =
            Context { clock: Arc::clone(&clock) as _, notify: Arc::clone(&context.notify) };
        let device = board.open(0, spec.to_string(), &context, Arc::new(kernels))?;
        Ok(Arc::new(Passing { device, clock }))
    }
}

#[derive(Debug)]
struct Even;

impl Chance for Even {
    fn factor(&mut self) -> f64 {
        1.0
    }
}

#[derive(Debug)]
struct Passing {
    device: Arc<dyn Device>,
    clock: Arc<SimulatedClock>,
}

impl Device for Passing {
    fn capabilities(&self) -> &Capabilities {
        self.device.capabilities()
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        self.device.run(work)
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        let taken = self.device.submit(job);
        while self.clock.step() {}
        taken
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        self.device.poll(done);
    }

    fn retire(&self, session: SessionId) {
        self.device.retire(session);
    }
}
