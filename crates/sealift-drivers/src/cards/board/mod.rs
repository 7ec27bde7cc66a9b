//! Cards that share a host, a bus, memory and an interrupt line, in virtual time.
//!
//! Here events are played one by one, so that a request waits for what came before it at the host, and
//! the host may take results back before it hands over more. Each card is a device of its own.

mod play;
mod seat;
mod tally;

pub use tally::Tally;

use super::{Card, CardError};
use crate::workers::Software;
use play::Play;
use sealift_core::{Context, Device, OpenError, SimulatedClock};
use seat::{Seat, Shared};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// The constants of a host and its cards.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Time of the host's kernel for a request, half of it before the card and half after, without
    /// copies and its interrupt, in nanoseconds.
    pub request_ns: f64,
    /// Time of the client itself for a request, on the same processor, before it is handed over.
    pub user_ns: f64,
    /// For an interrupt, to block its line and to unblock it.
    pub block_ns: f64,
    /// For each card that is asked whether an interrupt is its own.
    pub look_ns: f64,
    /// Time to write a byte to memory: copied in, by the card, and copied out.
    pub write_byte_ns: f64,
    /// Time of the bus for a byte, there and back; 0 for a bus that is never waited for.
    pub bus_byte_ns: f64,
    /// Who waits at the memory.
    pub memory: Memory,
    /// Cards on one interrupt line: so many of them an interrupt asks.
    pub line_cards: usize,
    /// What the host does first; interrupts are served before anything else.
    pub order: Order,
    /// Requests that a card works in one go, with one interrupt for all.
    pub merged_max: usize,
    /// Messages that one request of the host carries. A card takes its set-up for each message all the same,
    /// and a batch goes to it and is told of as a whole, however many requests it is.
    pub messages_per_request: usize,
    /// What is drawn at random.
    pub law: Law,
    /// The cards.
    pub seats: Vec<SeatModel>,
}

/// One card on a board, or software in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeatModel {
    /// Time for each message, in nanoseconds.
    pub setup_ns: f64,
    /// Time for each byte.
    pub byte_ns: f64,
    /// Whether it is the host's processor that does it, without a bus, an interrupt or a copy.
    pub in_software: bool,
    /// Batches that it holds at most.
    pub slots: usize,
    /// When it stops for good and without a word: what it has then, and gets later, it keeps.
    pub dies_at_ns: Option<u64>,
}

/// Who waits at the memory, where copies of the host and results of cards are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Nobody: it takes all at once.
    Unlimited,
    /// Whole requests wait in the order in which they come, whoever writes them.
    InOrder,
    /// Cards alone: the host's copies never wait, and take their time from what cards write later.
    CopiesFirst,
}

/// Whether the host takes results back or hands requests over, where both wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order in which they came.
    InTurn,
    /// Each result is taken back before anything more is handed over.
    CompletionsFirst,
    /// In rounds: all results are taken back, those that come meanwhile included; then all clients that
    /// wait hand over.
    Rounds,
}

/// Which times are drawn, exponentially, around their means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// None.
    Fixed,
    /// Those of the host's processor, as caches, clock interrupts and switches make them uneven; copies,
    /// cards and software in place of a card keep an even pace.
    #[default]
    Host,
    /// All, copies included, which is what mean-value analysis assumes.
    All,
}

/// Where factors are drawn from.
pub trait Chance: Send + Debug {
    /// The next one, exponentially distributed with mean 1.
    fn factor(&mut self) -> f64;
}

/// A board with its clock, on which devices can be opened.
#[derive(Clone, Debug)]
pub struct Played(Arc<Shared>);

impl Board {
    /// The board that a card's description tells of, with all of its units. The host's time for a request
    /// there holds an interrupt that asks all of them. It copies at one rate: where its copies were
    /// measured by length, that of 64 KiB.
    ///
    /// # Errors
    /// The description has something that a board doesn't: a link with a latency, for both ways at once or
    /// that doesn't stream, other than two copies, several messages in a request, or merging interrupts
    /// apart from those of `[board]`.
    pub fn of(card: &Card) -> Result<Self, CardError> {
        check_modelled(card)?;
        let line = card.line();
        let sharing = card.sharing();
        let seat = SeatModel {
            setup_ns: line.unit.request_ns,
            byte_ns: line.unit.byte_ns,
            in_software: false,
            slots: line.slots,
            dies_at_ns: None,
        };
        Ok(Self {
            request_ns: line.host.request_ns - sharing.apart_ns(),
            user_ns: sharing.user_ns,
            block_ns: sharing.block_ns,
            look_ns: sharing.look_ns,
            write_byte_ns: line.host.copy.byte_ns(),
            bus_byte_ns: line.link.map_or(0.0, |link| 2.0 * link.byte_ns),
            memory: Memory::InOrder,
            line_cards: sharing.line_units,
            order: Order::Rounds,
            merged_max: sharing.merged_max,
            messages_per_request: line.messages_per_request,
            law: Law::Host,
            seats: vec![seat; line.units],
        })
    }

    /// Puts it on a clock.
    ///
    /// # Errors
    /// No card, or a number that is no time or no count.
    pub fn play(
        self,
        clock: &Arc<SimulatedClock>,
        chance: Box<dyn Chance>,
    ) -> Result<Played, CardError> {
        self.check()?;
        Ok(Played(Arc::new_cyclic(|own| Shared {
            own: own.clone(),
            clock: Arc::clone(clock),
            state: Mutex::new(seat::State::new(Play::new(self, chance))),
        })))
    }

    fn check(&self) -> Result<(), CardError> {
        let mut times = vec![
            ("request_ns", self.request_ns),
            ("user_ns", self.user_ns),
            ("block_ns", self.block_ns),
            ("look_ns", self.look_ns),
            ("write_byte_ns", self.write_byte_ns),
            ("bus_byte_ns", self.bus_byte_ns),
        ];
        for seat in &self.seats {
            times.extend([("setup_ns", seat.setup_ns), ("byte_ns", seat.byte_ns)]);
        }
        for (what, value) in times {
            if !(0.0..=TIME_NS_MAX).contains(&value) {
                return Err(wrong(what, value.to_string(), "a time from 0 to 10^10 ns"));
            }
        }
        let mut counts = vec![
            ("cards", self.seats.len()),
            ("line_cards", self.line_cards),
            ("merged_max", self.merged_max),
            ("messages_per_request", self.messages_per_request),
        ];
        counts.extend(self.seats.iter().map(|seat| ("slots", seat.slots)));
        for (what, value) in counts {
            if value == 0 {
                return Err(wrong(what, value.to_string(), "at least 1"));
            }
        }
        Ok(())
    }

    /// Time of the host's processor for an interrupt.
    fn interrupt_ns(&self) -> f64 {
        let cards = self.seats.iter().filter(|seat| !seat.in_software).count();
        self.block_ns + self.look_ns * cards.min(self.line_cards) as f64
    }

    /// Time of the host's processor for a request, its client's own included, without copies.
    fn host_ns(&self) -> f64 {
        self.request_ns + self.user_ns + self.interrupt_ns()
    }
}

impl Played {
    /// Opens one of its cards as a device of this name, whose bytes `software` makes when they are polled.
    ///
    /// # Errors
    /// There is no such card, or it is open.
    pub fn open(
        &self,
        seat: usize,
        name: String,
        context: &Context,
        software: Arc<dyn Software>,
    ) -> Result<Arc<dyn Device>, OpenError> {
        let capabilities = self.0.open(seat, &name, context).ok_or_else(|| OpenError::Setting {
            device: name,
            reason: format!("the board has no card {seat}, counted from 0, that is not open"),
        })?;
        Ok(Arc::new(Seat::new(Arc::clone(&self.0), seat, capabilities, software)))
    }

    /// What the host, its bus and its memory did so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.0.lock().tally()
    }
}

/// Refuses by name what a board leaves out, so that nothing is played that the description doesn't say.
fn check_modelled(card: &Card) -> Result<(), CardError> {
    let line = card.line();
    let copies = card.constants().iter().find(|each| each.name == "host.copies");
    if let Some(copies) = copies.filter(|copies| copies.value != COPIES) {
        return Err(wrong("host.copies", copies.value.to_string(), "2, in and out"));
    }
    if line.messages_per_request != 1 {
        let value = line.messages_per_request.to_string();
        return Err(wrong("card.messages_per_request", value, "1"));
    }
    if line.interrupts.merged_max != 1 {
        let value = line.interrupts.merged_max.to_string();
        return Err(wrong("interrupts.merge_requests", value, "board.chain_requests instead"));
    }
    let Some(link) = line.link else { return Ok(()) };
    if link.latency_ns > 0.0 {
        let value = (link.latency_ns / 1_000.0).to_string();
        return Err(wrong("link.latency_us", value, "0: a board's bus has none"));
    }
    if link.duplex || !link.streams {
        let value = format!("{}, {}", link.duplex, link.streams);
        let right = "false, true: cards stream over one bus for both ways";
        return Err(wrong("link.duplex and link.streams", value, right));
    }
    Ok(())
}

fn wrong(what: &str, value: String, right: &str) -> CardError {
    CardError::Board { what: what.to_owned(), value, right: right.to_owned() }
}

/// In and out.
const COPIES: f64 = 2.0;
/// Ten seconds, as of a card's description.
const TIME_NS_MAX: f64 = 1e10;
