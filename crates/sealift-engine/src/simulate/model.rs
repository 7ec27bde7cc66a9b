use super::random::Random;
use super::{Cipher, FaultPlan, Machine, SharedCores, SimulationError, ToyCipher};
use sealift_core::{
    Algorithm, Capabilities, Cost, Cuts, NonceLengths, Notify, Origin, Resource, Role,
    SimulatedClock, TagLength,
};
use std::sync::Arc;
use std::time::Duration;

/// What a simulated device is like.
///
/// ```
/// use sealift_core::{Cost, Role};
/// use sealift_engine::simulate::{Jitter, Model};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let card = Model {
///     workers: 4,
///     jitter: Jitter::Even { share: 0.1 },
///     ..Model::new("card", Cost::new(30_000.0, 2.0, 0.05)?)
/// };
/// assert_eq!((card.slots, card.role), (64, Role::Simulated));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name among an engine's devices.
    pub name: String,
    /// What a batch truly costs on one worker, without jitter.
    pub cost: Cost,
    /// What it says that a batch costs, before anyone measured; none for the truth.
    pub quoted: Option<Cost>,
    /// How much batches of one shape differ.
    pub jitter: Jitter,
    /// Batches worked at the same time, first come first served.
    pub workers: usize,
    /// Submitted batches it holds at most, those being worked included.
    pub slots: usize,
    /// Whether it also works on the calling thread, beside its workers.
    pub runs_on_calling_thread: bool,
    /// What it says that it computes on.
    pub works_on: Resource,
    /// Cores that it truly shares with other machines, if it does.
    pub shared_cores: Option<Arc<SharedCores>>,
    /// What engines may use it for: as [`Role::Real`] they take it for users' work.
    pub role: Role,
    /// Most messages a batch.
    pub messages_max: usize,
    /// Longest text in bytes.
    pub text_bytes_max: usize,
    /// What makes its bytes.
    pub cipher: Arc<dyn Cipher>,
    /// What goes wrong.
    pub faults: FaultPlan,
    /// Where jitter and faults are drawn from.
    pub seed: u64,
}

/// How much the times of equal batches differ. The mean is the cost in every case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Jitter {
    /// Not at all.
    #[default]
    None,
    /// Evenly between 1 - share and 1 + share times the cost.
    Even {
        /// From 0 to 1.
        share: f64,
    },
    /// Exponentially: what queueing theory assumes.
    Exponential,
}

impl Model {
    /// One worker, 64 slots, the toy cipher, no jitter, no faults, nothing on the calling thread.
    pub fn new(name: impl Into<String>, cost: Cost) -> Self {
        Self {
            name: name.into(),
            cost,
            quoted: None,
            jitter: Jitter::None,
            workers: 1,
            slots: 64,
            runs_on_calling_thread: false,
            works_on: Resource::Own,
            shared_cores: None,
            role: Role::Simulated,
            messages_max: 1 << 24,
            text_bytes_max: 1 << 30,
            cipher: Arc::new(ToyCipher),
            faults: FaultPlan::none(),
            seed: 0,
        }
    }

    /// Makes the device. `notify` is what it rings, an engine's
    /// [`Context::notify`](sealift_core::Context).
    ///
    /// # Errors
    /// A share or factor out of its range; no workers or no slots.
    pub fn open(
        self,
        clock: &Arc<SimulatedClock>,
        notify: &Arc<dyn Notify>,
    ) -> Result<Arc<Machine>, SimulationError> {
        self.check()?;
        Ok(Arc::new(Machine::new(self, Arc::clone(clock), Arc::clone(notify))))
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        let cost = &self.cost;
        let (setup, message, byte) = (cost.setup_ns(), cost.per_message_ns(), cost.per_byte_ns());
        Capabilities {
            name: self.name.clone(),
            driver: "simulated",
            role: self.role,
            origin: Origin::Simulated,
            detail: format!("{setup} ns a batch, {message} ns a message, {byte} ns a byte"),
            algorithms: vec![Algorithm::AesGcm],
            runs_on_calling_thread: self.runs_on_calling_thread,
            cuts: Cuts::Nothing,
            works_on: self.works_on.clone(),
            cost: self.quoted.unwrap_or(self.cost),
            in_place: true,
            workers: self.workers,
            slots: self.slots,
            messages_max: self.messages_max,
            text_bytes_max: self.text_bytes_max,
            aad_bytes_max: usize::MAX,
            prepares: Duration::ZERO,
            nonce_lengths: NonceLengths::ALL,
            tag_lengths: TagLength::ALL.to_vec(),
        }
    }

    fn check(&self) -> Result<(), SimulationError> {
        if let Jitter::Even { share } = self.jitter {
            SimulationError::range("share of jitter", share, 0.0, 1.0)?;
        }
        for (what, value) in [("workers", self.workers), ("slots", self.slots)] {
            if value == 0 {
                return Err(SimulationError::Zero { what });
            }
        }
        self.faults.check()
    }
}

impl Jitter {
    pub(super) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Even { share } => 1.0 + share * (2.0 * random.unit() - 1.0),
            Self::Exponential => random.exponential(1.0),
        }
    }
}
