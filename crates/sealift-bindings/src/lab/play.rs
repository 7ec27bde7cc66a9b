//! Cards that share a host, in virtual time, as the lab asks for them.

use crate::errors::{Failure, Outcome};
use crate::gil::{self, Signals};
use crate::lab::cards::Card;
use crate::lab::rehearse::failure;
use pyo3::prelude::*;
use sealift::cards::{Board, Law, Memory, Order, SeatModel};
use sealift::{ClosedLoad, play, play_with};
use sealift_probes::tdes::{BLOCK_BYTES, Drawn};
use std::sync::Arc;

/// What a board is to do, and in what it differs from its card's description.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    clients: u32,
    messages: usize,
    message_bytes: u64,
    batches: u64,
    policy: Option<String>,
    seed: u64,
    request_us: f64,
    user_us: f64,
    block_us: f64,
    look_us: f64,
    line_cards: usize,
    setup_us: f64,
    rates_gbit_per_s: Vec<f64>,
    software_gbit_per_s: Option<f64>,
    first_dies_at_us: Option<f64>,
    law: String,
    has_bus: bool,
    memory: String,
    order: String,
    chain_requests: usize,
    messages_per_request: usize,
}

/// Works a load of closed clients on cards that share a host, with the engine's own scheduler.
///
/// Events are played one by one, in virtual time: handing over, copies, bus, memory, interrupts.
/// Bytes are true: on cards of 3DES messages of 16 KiB in all, drawn by their nonces, are
/// encrypted by one library and compared with what another one gives, and the others pass as they
/// are; on other cards each message is sealed and compared. It looks for Ctrl-C ten times a second.
///
/// Args:
///     card: Whose host, bus and slots these are.
///     asked: The load: clients, messages and bytes of each batch, batches in all, policy (None for
///         a card of its own for each client), seed. What is not as in the description: time of
///         the kernel for a request without copies and interrupt, of its client before it, of an
///         interrupt and for each of the cards on its line that is asked; of a card for a message;
///         a rate for each card, that of software beside them, when the first card dies. The law of
///         times, "fixed", "host" or "all"; memory, "unlimited", "in order" or "copies first"; the
///         host's order, "in turn", "completions first" or "rounds"; has_bus.
///
/// Raises:
///     InputError: If a number is out of range, there is no such law, memory, order or policy, or
///         messages for 3DES are no whole blocks of 8 bytes.
#[pyfunction]
pub(crate) fn play_board(
    py: Python<'_>,
    card: PyRef<'_, Card>,
    asked: Bound<'_, PyAny>,
) -> Outcome<PlayedBoard> {
    let asked: Asked = asked.extract()?;
    let board = asked.board(&card.0)?;
    let load = asked.load();
    let drawn = drawn(&card.0, &load)?;
    drop(card);
    let mut interrupt = None;
    let found = gil::leave(py, || {
        let mut signals = Signals::default();
        let mut wanted = || {
            interrupt = signals.look();
            interrupt.is_none()
        };
        match &drawn {
            Some(drawn) => play_with(board, &load, drawn, &mut wanted),
            None => play(board, &load, &mut wanted),
        }
    });
    match interrupt {
        Some(interrupt) => Err(interrupt.into()),
        None => found.map(|found| PlayedBoard::new(found, &load, drawn)).map_err(failure),
    }
}

/// What makes the bytes of a card of 3DES; nothing for one of another cipher.
fn drawn(card: &sealift::cards::Card, load: &ClosedLoad) -> Outcome<Option<Arc<Drawn>>> {
    if card.algorithm() != "3des" {
        return Ok(None);
    }
    if !load.message_bytes.is_multiple_of(BLOCK_BYTES as u64) {
        return Err(Failure::Input(format!(
            "message_bytes is {}: 3DES in CBC mode takes whole blocks, give a multiple of {BLOCK_BYTES}",
            load.message_bytes
        )));
    }
    let messages = load.batches.saturating_mul(load.messages as u64);
    let bytes = messages.saturating_mul(load.message_bytes);
    Ok(Some(Arc::new(Drawn::one_in(bytes.div_ceil(ENCRYPTED_BYTES)))))
}

/// What became of a load on a board; the origin of its times is "simulated".
#[pyclass(frozen, get_all, module = "sealift._sealift")]
pub(crate) struct PlayedBoard {
    /// Batches that came back.
    batches: u64,
    /// Batches that did not come back, or without results.
    lost: u64,
    /// Batches that came back from another card than the first that was tried.
    moved: u64,
    /// From the start to the end of the last batch.
    span_ns: u64,
    /// From sending to taking back.
    response_ns_mean: f64,
    /// What 99 of 100 batches stay within.
    response_ns_p99: f64,
    /// Batches of each card.
    by_card: Vec<u64>,
    /// Time that each card worked.
    card_ns: Vec<u64>,
    /// Bytes of the texts that came back.
    payload_bytes: u64,
    /// Bytes that were written to memory, by the host and by cards.
    written_bytes: u64,
    /// Interrupts that the host took.
    interrupts: u64,
    /// Time of the host's processor.
    host_ns: u64,
    /// Of it, copies and waits for memory.
    copy_ns: u64,
    /// Of it, interrupts.
    interrupt_ns: u64,
    /// Of it, what clients do themselves.
    user_ns: u64,
    /// Of it, encrypting in place of a card.
    software_ns: u64,
    /// Time that the bus carried bytes.
    bus_ns: u64,
    /// Time that no card had anything to work.
    idle_ns: u64,
    /// What messages were encrypted by: "3des-cbc" or "aes-128-gcm".
    cipher: &'static str,
    /// Messages that were encrypted, and compared where they came back.
    encrypted: u64,
}

impl PlayedBoard {
    fn new(found: sealift::PlayedLoad, load: &ClosedLoad, drawn: Option<Arc<Drawn>>) -> Self {
        let tally = found.tally;
        let messages = found.batches * load.messages as u64;
        Self {
            batches: found.batches,
            lost: found.lost,
            moved: found.moved,
            span_ns: found.span_ns,
            response_ns_mean: found.response_ns_mean,
            response_ns_p99: found.response_ns_p99,
            by_card: found.by_card,
            card_ns: tally.card_ns,
            payload_bytes: tally.payload_bytes,
            written_bytes: tally.written_bytes,
            interrupts: tally.interrupts,
            host_ns: tally.host_ns,
            copy_ns: tally.copy_ns,
            interrupt_ns: tally.interrupt_ns,
            user_ns: tally.user_ns,
            software_ns: tally.software_ns,
            bus_ns: tally.bus_ns,
            idle_ns: tally.idle_ns,
            cipher: if drawn.is_some() { "3des-cbc" } else { "aes-128-gcm" },
            encrypted: drawn.map_or(messages, |drawn| drawn.encrypted()),
        }
    }
}

impl Asked {
    fn board(&self, card: &sealift::cards::Card) -> Outcome<Board> {
        let own = Board::of(card).map_err(|error| Failure::Input(error.to_string()))?;
        let Some(&first) = own.seats.first() else {
            return Err(Failure::Input("the card has no units".to_owned()));
        };
        self.check()?;
        let seat = |rate: &f64| SeatModel {
            setup_ns: US * self.setup_us,
            byte_ns: 8.0 / rate,
            dies_at_ns: None,
            ..first
        };
        let mut seats: Vec<_> = self.rates_gbit_per_s.iter().map(seat).collect();
        if let (Some(first), Some(dies_at_us)) = (seats.first_mut(), self.first_dies_at_us) {
            first.dies_at_ns = Some(whole_ns(US * dies_at_us));
        }
        if let Some(rate) = &self.software_gbit_per_s {
            seats.push(SeatModel { setup_ns: 0.0, in_software: true, ..seat(rate) });
        }
        Ok(Board {
            request_ns: US * self.request_us,
            user_ns: US * self.user_us,
            block_ns: US * self.block_us,
            look_ns: US * self.look_us,
            line_cards: self.line_cards,
            bus_byte_ns: if self.has_bus { own.bus_byte_ns } else { 0.0 },
            memory: chosen("memory", &self.memory, MEMORIES)?,
            order: chosen("order", &self.order, ORDERS)?,
            merged_max: self.chain_requests,
            messages_per_request: self.messages_per_request,
            law: chosen("law", &self.law, LAWS)?,
            seats,
            ..own
        })
    }

    fn check(&self) -> Outcome<()> {
        let wrong = |what: &str, value: f64, right: &str| {
            Err(Failure::Input(format!("{what} is {value}: give {right}")))
        };
        for rate in self.rates_gbit_per_s.iter().chain(&self.software_gbit_per_s) {
            if !(1e-6..=1e6).contains(rate) {
                return wrong("a rate in Gbit/s", *rate, "0.000001 to 1000000");
            }
        }
        match self.first_dies_at_us {
            Some(at_us) if !(0.0..=1e12).contains(&at_us) => {
                wrong("first_dies_at_us", at_us, "a time from 0 to 10^12 us")
            }
            _ => Ok(()),
        }
    }

    fn load(&self) -> ClosedLoad {
        ClosedLoad {
            clients: self.clients,
            messages: self.messages,
            message_bytes: self.message_bytes,
            batches: self.batches,
            policy: self.policy.clone(),
            seed: self.seed,
        }
    }
}

/// The choice of a name.
fn chosen<T: Copy>(what: &str, name: &str, choices: [(&str, T); 3]) -> Outcome<T> {
    let [(one, _), (two, _), (three, _)] = choices;
    let found = choices.into_iter().find(|(known, _)| *known == name);
    found
        .map(|(_, choice)| choice)
        .ok_or_else(|| Failure::Input(format!("{what} is {name:?}: give {one}, {two} or {three}")))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is wanted")]
fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

const US: f64 = 1_000.0;
const LAWS: [(&str, Law); 3] = [("fixed", Law::Fixed), ("host", Law::Host), ("all", Law::All)];
const MEMORIES: [(&str, Memory); 3] = [
    ("unlimited", Memory::Unlimited),
    ("in order", Memory::InOrder),
    ("copies first", Memory::CopiesFirst),
];
const ORDERS: [(&str, Order); 3] = [
    ("in turn", Order::InTurn),
    ("completions first", Order::CompletionsFirst),
    ("rounds", Order::Rounds),
];
/// Encrypting twice takes no longer then than all else that is played: 2 of 9 ms (AMD EPYC, 3.7 GHz).
const ENCRYPTED_BYTES: u64 = 16 << 10;
