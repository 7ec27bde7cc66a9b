use super::{Cipher, Draw, SimulationError, ToyCipher, drive};
use crate::{DeviceId, Engine};
use sealift_core::SimulatedClock;
use std::sync::Arc;

/// Clients, what they send, and how much of it.
///
/// Every client draws from numbers of its own, so that two engines under the same load and seed are given
/// the same batches, however differently they work them.
#[derive(Clone, Debug)]
pub struct Load {
    /// Who sends.
    pub clients: Clients,
    /// What a batch looks like.
    pub shapes: Shapes,
    /// Who works it.
    pub placement: Placement,
    /// Batches in all.
    pub batches: u64,
    /// What makes the bytes that must come back; the one of the engine's devices.
    pub cipher: Arc<dyn Cipher>,
    /// Sessions that messages are spread over; at least 1.
    pub sessions: usize,
    /// Where everything is drawn from.
    pub seed: u64,
}

/// When batches come.
#[derive(Clone, Debug, PartialEq)]
pub enum Clients {
    /// So many clients; each thinks, sends a batch and waits for it, again and again.
    Closed {
        /// How many.
        count: u32,
        /// For how long one thinks, in nanoseconds.
        think_ns: Draw,
    },
    /// Batches come at random moments (Poisson), however many are still in flight.
    Open {
        /// How many a second in the mean.
        batches_per_s: f64,
    },
}

/// What batches are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Messages a batch; at least 1.
    pub messages: Draw,
    /// Bytes of a text.
    pub text_bytes: Draw,
    /// Bytes of an aad.
    pub aad_bytes: Draw,
    /// Share of messages that are opened; the rest is sealed.
    pub opened: f64,
    /// Share of messages that are verified only.
    pub verified: f64,
    /// Share of opened and verified messages that were tampered with.
    pub tampered: f64,
}

/// Which device works a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Placement {
    /// The one that the engine chooses.
    #[default]
    Chosen,
    /// Each client, or each open arrival, has its own: the first one the first device, and round again.
    PerClient(Vec<DeviceId>),
    /// Any of these, drawn for each batch.
    PerBatch(Vec<DeviceId>),
}

/// What became of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// From the start to the last completion, in nanoseconds of virtual time.
    pub span_ns: u64,
    /// Batches that clients sent.
    pub sent: u64,
    /// Batches that came back with results.
    pub batches: u64,
    /// Messages in them.
    pub messages: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Messages whose result, tag or status is not what it should be.
    pub wrong: u64,
    /// Messages of batches that came back with an error, or that no device took for good.
    pub failed: u64,
    /// Messages that never came back.
    pub lost: u64,
    /// Messages that came back once more.
    pub doubled: u64,
    /// Batches that came back from another device than the first that was tried.
    pub moved: u64,
    /// Batches that the engine handed back, once or more often, because it was full.
    pub refused: u64,
    /// Batches that came back with results, per second.
    pub batches_per_s: f64,
    /// From sending to taking back, waiting for a free slot included, in nanoseconds.
    pub response_ns_mean: f64,
    /// What 99 of 100 batches stay within, in nanoseconds.
    pub response_ns_p99: u64,
    /// The engine's devices, in its order.
    pub devices: Vec<DeviceLoad>,
    /// Differs as soon as anything happened at another time or with another result.
    pub digest: u64,
}

/// What a device had to do.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLoad {
    /// Its name.
    pub name: String,
    /// Batches and parts of batches that it finished.
    pub batches: u64,
    /// Messages in them.
    pub messages: u64,
    /// Batches it failed.
    pub failed: u64,
    /// Batches that were given up because it did not answer in time.
    pub abandoned: u64,
    /// Of them those that it gave results for after all.
    pub late: u64,
    /// Batches whose results did not open elsewhere.
    pub wrong: u64,
    /// Share of the time that its workers were busy with what it finished; over 1 where it also works
    /// on the calling thread.
    pub utilisation: f64,
}

impl Load {
    /// Closed clients that send this.
    pub fn closed(count: u32, think_ns: Draw, shapes: Shapes, batches: u64) -> Self {
        Self::of(Clients::Closed { count, think_ns }, shapes, batches)
    }

    /// Open arrivals of this.
    pub fn open(batches_per_s: f64, shapes: Shapes, batches: u64) -> Self {
        Self::of(Clients::Open { batches_per_s }, shapes, batches)
    }

    fn of(clients: Clients, shapes: Shapes, batches: u64) -> Self {
        let (placement, cipher) = (Placement::Chosen, Arc::new(ToyCipher));
        Self { clients, shapes, placement, batches, cipher, sessions: 4, seed: 0 }
    }

    /// Sends all of it through an engine and takes everything back. The engine's clock must be `clock`,
    /// its devices simulated, and nobody else may use it meanwhile.
    ///
    /// # Errors
    /// A draw or share out of its range; no clients, sessions or devices to place on; a batch that the
    /// engine refuses for another reason than a full or failed device.
    pub fn drive(
        &self,
        engine: &Engine,
        clock: &Arc<SimulatedClock>,
    ) -> Result<LoadReport, SimulationError> {
        self.drive_while(engine, clock, &mut || true)
    }

    /// The same for as long as somebody wants it, who is asked after each thing that happens.
    ///
    /// # Errors
    /// As [`drive`](Self::drive), and [`SimulationError::Stopped`].
    pub fn drive_while(
        &self,
        engine: &Engine,
        clock: &Arc<SimulatedClock>,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<LoadReport, SimulationError> {
        self.check()?;
        drive::drive(self, engine, clock, wanted)
    }

    fn check(&self) -> Result<(), SimulationError> {
        match &self.clients {
            Clients::Closed { count: 0, .. } => {
                return Err(SimulationError::Zero { what: "clients" });
            }
            Clients::Closed { think_ns, .. } => think_ns.check("think_ns")?,
            Clients::Open { batches_per_s } => {
                let (least, most) = (f64::MIN_POSITIVE, f64::MAX);
                SimulationError::range("batches_per_s", *batches_per_s, least, most)?;
            }
        }
        if let Placement::PerClient(devices) | Placement::PerBatch(devices) = &self.placement
            && devices.is_empty()
        {
            return Err(SimulationError::Zero { what: "devices to place on" });
        }
        if self.sessions == 0 {
            return Err(SimulationError::Zero { what: "sessions" });
        }
        self.shapes.check()
    }
}

impl Shapes {
    /// Seals of so many messages of so many bytes, without aad.
    pub fn seals(messages: Draw, text_bytes: Draw) -> Self {
        let aad_bytes = Draw::Exactly(0.0);
        Self { messages, text_bytes, aad_bytes, opened: 0.0, verified: 0.0, tampered: 0.0 }
    }

    /// Everything at once: seals, opens and verifies of 1 to `messages_max` messages, a quarter of what
    /// is opened tampered with.
    pub fn mixed(messages_max: f64, text_bytes_max: f64) -> Self {
        Self {
            messages: Draw::Even { least: 1.0, most: messages_max },
            text_bytes: Draw::Even { least: 0.0, most: text_bytes_max },
            aad_bytes: Draw::OneOf(vec![0.0, 13.0]),
            opened: 0.4,
            verified: 0.1,
            tampered: 0.25,
        }
    }

    fn check(&self) -> Result<(), SimulationError> {
        self.messages.check("messages")?;
        self.text_bytes.check("text_bytes")?;
        self.aad_bytes.check("aad_bytes")?;
        let shares = [
            ("opened", self.opened),
            ("verified", self.verified),
            ("opened and verified", self.opened + self.verified),
            ("tampered", self.tampered),
        ];
        shares.iter().try_for_each(|(what, share)| SimulationError::range(what, *share, 0.0, 1.0))
    }
}
