use super::aes::Aes;
use super::{RehearsalError, check};
use sealift_core::{Context, MAX_TEXT_BYTES, SimulatedClock};
use sealift_drivers::cards::{Board, Chance, Tally};
use sealift_drivers::workers::Software;
use sealift_engine::simulate::{Cipher, Draw, Load, LoadReport, Placement, Random, Shapes};
use sealift_engine::{Engine, Patience, Settings};
use std::sync::Arc;
use std::time::Duration;

/// Clients of which each sends a batch, waits for it and sends the next.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoad {
    /// How many.
    pub clients: u32,
    /// Messages of each batch; at least 1.
    pub messages: usize,
    /// Bytes of each text.
    pub message_bytes: u64,
    /// Batches in all; at least 1.
    pub batches: u64,
    /// Who chooses a card for each batch: a policy's spec. None gives each client a card to keep, as
    /// OpenBSD's framework does with equal cards: the one with the least sessions.
    pub policy: Option<String>,
    /// Where times, keys and texts are drawn from: with the same one all is the same again.
    pub seed: u64,
}

/// What became of it. Nothing of it was measured: its times are simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedLoad {
    /// Batches that came back.
    pub batches: u64,
    /// Batches that did not come back, or without results.
    pub lost: u64,
    /// Batches that came back from another card than the first that was tried.
    pub moved: u64,
    /// From the start to the last batch's end, in nanoseconds.
    pub span_ns: u64,
    /// From sending to taking back, in nanoseconds.
    pub response_ns_mean: f64,
    /// What 99 of 100 batches stay within, in nanoseconds.
    pub response_ns_p99: f64,
    /// Batches of each card.
    pub by_card: Vec<u64>,
    /// What host, bus and memory did.
    pub tally: Tally,
}

/// Works a load on a board in virtual time, with the engine's own scheduler and true messages.
///
/// It goes on for as long as `wanted` says so, which is asked after everything that happens.
///
/// ```
/// use sealift::cards::{self, Board};
/// use sealift::{ClosedLoad, play};
/// let quad = Board::of(&cards::bundled()[0])?;
/// let load = ClosedLoad {
///     clients: 1,
///     messages: 1,
///     message_bytes: 16,
///     batches: 2_000,
///     policy: None,
///     seed: 1,
/// };
/// let found = play(quad, &load, &mut || true)?;
/// // Document 002, table 1: 3.06 Mbit/s.
/// let mbit_per_s = 128_000.0 * found.batches as f64 / found.span_ns as f64;
/// assert!((mbit_per_s - 3.06).abs() < 0.05 * 3.06, "{mbit_per_s}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A number out of its range, a board that can't be, no such policy; it was stopped.
pub fn play(
    board: Board,
    load: &ClosedLoad,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<PlayedLoad, RehearsalError> {
    play_with(board, load, &Arc::new(Aes::new("card")?), wanted)
}

/// The same with another cipher: what its cards work as [`Software`] must be what it [seals](Cipher::seal).
/// Batches that it fails are lost.
///
/// # Errors
/// As [`play`]; a card gave something else.
pub fn play_with<C: Software + Cipher>(
    board: Board,
    load: &ClosedLoad,
    cipher: &Arc<C>,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<PlayedLoad, RehearsalError> {
    numbers(load)?;
    let clock = Arc::new(SimulatedClock::new());
    let cards = board.seats.clone();
    let played = board.play(&clock, Box::new(Factors(Random::stream(load.seed, FACTORS))))?;
    let open = (0..cards.len()).map(|seat| {
        let (played, software) = (&played, cards[seat].in_software);
        move |context: &Context| {
            let name = if software { "software".to_owned() } else { format!("card-{seat}") };
            Ok::<_, RehearsalError>(played.open(seat, name, context, Arc::clone(cipher) as _)?)
        }
    });
    let engine = Engine::with_settings(Arc::clone(&clock) as _, settings(load, &cards)?, open)?;
    let own = engine.devices().map(|(device, _)| device).zip(&cards);
    let own = own.filter(|(_, model)| !model.in_software).map(|(device, _)| device).collect();
    let placement =
        if load.policy.is_some() { Placement::Chosen } else { Placement::PerClient(own) };
    let load_of = Load { placement, cipher: Arc::clone(cipher) as _, ..native(load) };
    let report = load_of.drive_while(&engine, &clock, wanted)?;
    if report.wrong > 0 {
        return Err(RehearsalError::Wrong { messages: report.wrong });
    }
    Ok(PlayedLoad::of(&report, load, played.tally()))
}

impl PlayedLoad {
    fn of(report: &LoadReport, load: &ClosedLoad, tally: Tally) -> Self {
        Self {
            batches: report.batches,
            lost: (report.lost + report.failed).div_ceil(load.messages as u64),
            moved: report.moved,
            span_ns: report.span_ns,
            response_ns_mean: report.response_ns_mean,
            response_ns_p99: report.response_ns_p99 as f64,
            by_card: report.devices.iter().map(|device| device.batches).collect(),
            tally,
        }
    }
}

#[derive(Debug)]
struct Factors(Random);

impl Chance for Factors {
    fn factor(&mut self) -> f64 {
        self.0.exponential(1.0)
    }
}

fn numbers(load: &ClosedLoad) -> Result<(), RehearsalError> {
    check::whole("clients", load.clients.into(), 1, CLIENTS_MAX)?;
    check::whole("messages", load.messages as u64, 1, MESSAGES_MAX)?;
    check::whole("message_bytes", load.message_bytes, 0, MAX_TEXT_BYTES)?;
    check::whole("batches", load.batches, 1, BATCHES_MAX)?;
    let each = load.messages as u64 * (load.message_bytes + EXTRA_BYTES);
    check::whole("bytes in flight", u64::from(load.clients).saturating_mul(each), 0, HELD_BYTES_MAX)
}

fn settings(
    load: &ClosedLoad,
    cards: &[sealift_drivers::cards::SeatModel],
) -> Result<Settings, RehearsalError> {
    let usual = match &load.policy {
        Some(policy) => Settings::with_policy(policy)?,
        None => Settings::default(),
    };
    let in_flight_max = cards.iter().map(|card| card.slots).sum::<usize>().max(1);
    // A load lasts for less than a second, in which a dead card is to be noticed. Where none dies, none
    // may be taken for dead because the others are quicker.
    let one_dies = cards.iter().any(|card| card.dies_at_ns.is_some());
    let extra = if one_dies { Duration::from_millis(5) } else { PATIENCE };
    let patience = Patience { extra, ..Patience::default() };
    Ok(Settings { in_flight_max, patience, ..usual })
}

fn native(load: &ClosedLoad) -> Load {
    let bytes = Draw::Exactly(load.message_bytes as f64);
    let shapes = Shapes::seals(Draw::Exactly(load.messages as f64), bytes);
    let closed = Load::closed(load.clients, Draw::Exactly(0.0), shapes, load.batches);
    Load { sessions: load.clients as usize, seed: load.seed, ..closed }
}

/// A stream of its own, beside those of the clients.
const FACTORS: u64 = 1 << 40;
/// Of virtual time.
const PATIENCE: Duration = Duration::from_secs(3_600);
const CLIENTS_MAX: u64 = 1 << 12;
const MESSAGES_MAX: u64 = 1 << 16;
const BATCHES_MAX: u64 = 10_000_000;
const EXTRA_BYTES: u64 = 256;
const HELD_BYTES_MAX: u64 = 1 << 29;
