//! The events of a host and its cards.

mod card;
mod host;

use super::{Board, Chance, SeatModel, Tally};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What happens, event by event.
///
/// A request is handed over by the host, which copies it in; its card works it, with its bytes on the bus
/// and written to memory meanwhile; an interrupt tells the host, which copies it out. Bus and memory
/// serve whole requests in the order in which they come; what a card works in one go comes as one, when
/// the card begins.
#[derive(Debug)]
pub(super) struct Play {
    board: Board,
    chance: Box<dyn Chance>,
    now_ns: u64,
    order: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Interrupts, and results where those come first.
    urgent: VecDeque<Task>,
    /// Results of a round.
    completed: VecDeque<Task>,
    waiting: VecDeque<Task>,
    /// Whether it is the part of a round in which clients hand over.
    is_handing_over: bool,
    at_work: Option<Task>,
    cards: Vec<CardState>,
    bus_free_ns: u64,
    memory_free_ns: u64,
    tally: Tally,
    told: Vec<Told>,
}

/// One request on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) seat: usize,
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

/// A request whose results are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) id: u64,
    pub(super) seat: usize,
    pub(super) at_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The host is through with what it reckons.
    Reckoned,
    /// The host is through with a copy.
    Copied,
    /// A card is through with what it was given.
    Worked(usize),
    Dies(usize),
}

/// What the host has to do.
#[derive(Clone, Debug)]
enum Task {
    HandOver(Request),
    Interrupt(Vec<Request>),
    TakeBack(Request),
}

#[derive(Debug, Default)]
struct CardState {
    queue: VecDeque<Request>,
    /// What it works; empty for an idle card.
    group: Vec<Request>,
    is_dead: bool,
}

impl Play {
    pub(super) fn new(board: Board, chance: Box<dyn Chance>) -> Self {
        let cards: Vec<_> = board.seats.iter().map(|_| CardState::default()).collect();
        let tally = Tally { card_ns: vec![0; cards.len()], ..Tally::default() };
        let deaths = board.seats.iter().enumerate();
        let deaths: Vec<_> =
            deaths.filter_map(|(seat, model)| Some((seat, model.dies_at_ns?))).collect();
        let mut play = Self {
            board,
            chance,
            now_ns: 0,
            order: 0,
            events: BinaryHeap::new(),
            urgent: VecDeque::new(),
            completed: VecDeque::new(),
            waiting: VecDeque::new(),
            is_handing_over: true,
            at_work: None,
            cards,
            bus_free_ns: 0,
            memory_free_ns: 0,
            tally,
            told: vec![],
        };
        deaths.into_iter().for_each(|(seat, at_ns)| play.at(at_ns, Event::Dies(seat)));
        play
    }

    /// When the next thing happens.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Plays everything up to then.
    pub(super) fn advance(&mut self, now_ns: u64) {
        while let Some(&Reverse((at_ns, _, event))) =
            self.events.peek().filter(|Reverse((at_ns, ..))| *at_ns <= now_ns)
        {
            self.events.pop();
            self.pass(at_ns);
            match event {
                Event::Reckoned => self.reckoned(),
                Event::Copied => self.done(),
                Event::Worked(seat) => self.worked(seat),
                Event::Dies(seat) => self.die(seat),
            }
        }
        self.pass(now_ns);
    }

    /// Takes a request over from a client, now.
    pub(super) fn submit(&mut self, request: Request) {
        self.waiting.push_back(Task::HandOver(request));
        self.go_on();
    }

    /// Moves out what was told since.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    pub(super) fn model(&self, seat: usize) -> Option<&SeatModel> {
        self.board.seats.get(seat)
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    fn pass(&mut self, now_ns: u64) {
        if self.cards.iter().all(|card| card.group.is_empty()) {
            let idle_ns = now_ns.saturating_sub(self.now_ns);
            self.tally.idle_ns = self.tally.idle_ns.saturating_add(idle_ns);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at_ns, self.order, event)));
    }
}

#[cfg(test)]
mod tests;
