//! What a pool of devices would do, some or all of which are not here.

mod aes;
mod board;
mod check;
mod error;

pub use board::{ClosedLoad, PlayedLoad, play, play_with};
pub use error::RehearsalError;

use aes::Aes;
use sealift_core::{Context, Cost, Device, Resource, Role, SimulatedClock};
use sealift_drivers::cards::Card;
use sealift_engine::simulate::{DeviceLoad, Draw, Load, LoadReport, Model, Shapes};
use sealift_engine::{Engine, Settings};
use std::collections::HashMap;
use std::sync::Arc;

/// A device of a pool that is rehearsed.
#[derive(Clone, Debug)]
pub enum Player {
    /// One that is described by constants.
    Card(Box<Card>),
    /// One of this machine's processors, of which is known what a batch costs.
    Machine {
        /// Its name.
        name: String,
        /// What a batch costs on one worker.
        cost: Cost,
        /// Batches that it works at the same time; at least 1.
        workers: usize,
    },
}

/// Batches of one shape that come at random moments (Poisson), however many are still in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLoad {
    /// How many a second in the mean.
    pub batches_per_s: f64,
    /// Messages of each; at least 1.
    pub messages: usize,
    /// Bytes of each text.
    pub message_bytes: u64,
    /// How many in all; at least 1.
    pub batches: u64,
    /// Who chooses a device for each: a policy's spec, `earliest-finish`.
    pub policy: String,
    /// Where moments, keys and texts are drawn from: with the same one all is the same again.
    pub seed: u64,
}

/// What became of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// Batches that came back.
    pub batches: u64,
    /// Batches that were handed back, once or more often, because every device was full.
    pub refused: u64,
    /// Batches that did not come back, or without results.
    pub lost: u64,
    /// From sending to taking back, waiting for a slot included, in nanoseconds.
    pub response_ns_mean: f64,
    /// What 99 of 100 batches stay within, in nanoseconds.
    pub response_ns_p99: f64,
    /// From the start to the last batch's end, in nanoseconds.
    pub span_ns: u64,
    /// The sum of the devices' [`Rehearsed::host_utilisation`]. Where it is more than this machine has
    /// processors, it can't keep up with all of them together, whatever is said of each.
    pub host_utilisation: f64,
    /// The devices, in their order.
    pub devices: Vec<Rehearsed>,
}

/// What a device had to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsed {
    /// Its name; of a second card of one kind with `,number=2` behind it.
    pub name: String,
    /// Batches and parts of batches that it worked.
    pub batches: u64,
    /// Share of the time that its workers were busy; of a card, share of the batches that it could have
    /// worked at its best.
    pub utilisation: f64,
    /// Processors of this machine that were busy for it, in the mean over the span: 1.5 is one and a
    /// half.
    pub host_utilisation: f64,
}

/// Works a load on devices in virtual time, with the engine's own scheduler and true messages.
///
/// Hosts are not shared: each card hands over as if a processor of this machine were there for it alone,
/// beside those that the machine's own devices work on, and so each has a bus and an interrupt line of
/// its own. So a pool does no better than this says, and worse where
/// [`host_utilisation`](Rehearsal::host_utilisation) comes near the processors there are.
///
/// It goes on for as long as `wanted` says so, which is asked after everything that happens.
///
/// ```
/// use sealift::{Cost, OpenLoad, Player, cards, rehearse};
/// let core = Player::Machine { name: "a core".into(), cost: Cost::new(500.0, 0.0, 0.3)?, workers: 1 };
/// let card = cards::bundled().remove(0);
/// let load = OpenLoad {
///     batches_per_s: 1_000.0,
///     messages: 16,
///     message_bytes: 1_024,
///     batches: 500,
///     policy: "earliest-finish".into(),
///     seed: 1,
/// };
/// let found = rehearse(&[core, Player::Card(Box::new(card))], &load, &mut || true)?;
/// // The core is 100 times as fast as the board of 2003, and most of the time it is free.
/// assert!(found.devices[0].batches > 490 && found.devices[0].utilisation < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A number out of its range, no device, two of one name, more than should be in memory, no such
/// policy; it was stopped.
pub fn rehearse(
    players: &[Player],
    load: &OpenLoad,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<Rehearsal, RehearsalError> {
    check::numbers(players, load)?;
    let in_flight_max = check::in_flight_max(players, load)?;
    let settings = Settings { in_flight_max, ..Settings::with_policy(&load.policy)? };
    let clock = Arc::new(SimulatedClock::new());
    let names = names(players)?;
    let open = players.iter().zip(names).map(|(player, name)| {
        let clock = &clock;
        move |context: &Context| player.open(name, clock, context)
    });
    let engine = Engine::with_settings(Arc::clone(&clock) as _, settings, open)?;
    let report = load.native()?.drive_while(&engine, &clock, wanted)?;
    if report.wrong > 0 {
        return Err(RehearsalError::Wrong { messages: report.wrong });
    }
    Ok(Rehearsal::of(report, players, load))
}

impl OpenLoad {
    fn native(&self) -> Result<Load, RehearsalError> {
        let bytes = Draw::Exactly(self.message_bytes as f64);
        let shapes = Shapes::seals(Draw::Exactly(self.messages as f64), bytes);
        let load = Load::open(self.batches_per_s, shapes, self.batches);
        Ok(Load { seed: self.seed, cipher: Arc::new(Aes::new("expected")?), ..load })
    }
}

impl Player {
    fn open(
        &self,
        name: String,
        clock: &Arc<SimulatedClock>,
        context: &Context,
    ) -> Result<Arc<dyn Device>, RehearsalError> {
        match self {
            Self::Card(card) => Ok(card.rehearse(name, context)?),
            Self::Machine { cost, workers, .. } => {
                let model = Model {
                    workers: *workers,
                    slots: self.slots(),
                    works_on: Resource::Cores(vec![]),
                    role: Role::Real,
                    cipher: Arc::new(Aes::new(&name)?),
                    ..Model::new(name, *cost)
                };
                Ok(model.open(clock, &context.notify)?)
            }
        }
    }

    fn slots(&self) -> usize {
        match self {
            Self::Card(card) => card.slots(),
            Self::Machine { workers, .. } => {
                workers.saturating_mul(SLOTS_PER_WORKER).max(SLOTS_MIN)
            }
        }
    }
}

impl Rehearsal {
    fn of(report: LoadReport, players: &[Player], load: &OpenLoad) -> Self {
        let rehearsed = |(device, player)| Rehearsed::of(device, player, load, report.span_ns);
        let devices: Vec<_> = report.devices.into_iter().zip(players).map(rehearsed).collect();
        Self {
            batches: report.batches,
            refused: report.refused,
            lost: (report.lost + report.failed).div_ceil(load.messages as u64),
            response_ns_mean: report.response_ns_mean,
            response_ns_p99: report.response_ns_p99 as f64,
            span_ns: report.span_ns,
            host_utilisation: devices.iter().map(|device| device.host_utilisation).sum(),
            devices,
        }
    }
}

impl Rehearsed {
    fn of(device: DeviceLoad, player: &Player, load: &OpenLoad, span_ns: u64) -> Self {
        let (utilisation, host_utilisation) = match player {
            Player::Machine { workers, .. } => {
                (device.utilisation, device.utilisation * *workers as f64)
            }
            Player::Card(card) => {
                // Parts of batches counted as what they are of one.
                let batches = device.messages as f64 / load.messages as f64;
                let each = card.predict(load.messages as u64, load.message_bytes);
                let share = |batch_ns: f64| batches * batch_ns / span_ns.max(1) as f64;
                (share(each.interval_ns), share(each.host_ns))
            }
        };
        Self { name: device.name, batches: device.batches, utilisation, host_utilisation }
    }
}

/// A name for each; cards that are alike are numbered.
fn names(players: &[Player]) -> Result<Vec<String>, RehearsalError> {
    let mut cards: HashMap<&str, (&Card, usize)> = HashMap::new();
    let mut names = vec![];
    for player in players {
        let card = match player {
            Player::Card(card) => card.as_ref(),
            Player::Machine { name, .. } => {
                names.push(name.clone());
                continue;
            }
        };
        let (first, number) = cards.entry(card.name()).or_insert((card, 0));
        if !first.is_alike(card) {
            return Err(RehearsalError::OtherCard { name: card.name().to_owned() });
        }
        *number += 1;
        let more = if *number > 1 { format!(",number={number}") } else { String::new() };
        names.push(format!("{}{more}", card.name()));
    }
    Ok(names)
}

/// As many as a real device of this processor has.
const SLOTS_PER_WORKER: usize = 32;
const SLOTS_MIN: usize = 64;
