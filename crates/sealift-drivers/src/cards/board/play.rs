//! The events of a host and its cards.

use super::super::device::whole_ns;
use super::{Board, Chance, Law, SeatModel};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What happens, event by event.
///
/// A request is handed over by the host, which copies it in; its card works it, with its bytes on the bus
/// and written to memory meanwhile; an interrupt tells the host, which copies it out. Bus and memory
/// serve whole requests in the order in which they come.
#[derive(Debug)]
pub(super) struct Play {
    board: Board,
    chance: Box<dyn Chance>,
    now_ns: u64,
    order: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// Results to be taken back, before `waiting` where that comes first.
    urgent: VecDeque<Task>,
    waiting: VecDeque<Task>,
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

/// What a board did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Interrupts that the host took.
    pub interrupts: u64,
    /// Time of the host's processor, copies and waits for memory included, in nanoseconds.
    pub host_ns: u64,
    /// Of it, copies and their waits.
    pub copy_ns: u64,
    /// Of it, work that it did itself in place of a card.
    pub software_ns: u64,
    /// Time that the bus carried bytes.
    pub bus_ns: u64,
    /// Bytes written to memory, by the host and by cards.
    pub written_bytes: u64,
    /// Bytes that came back to clients.
    pub payload_bytes: u64,
    /// Time that no card had anything to work, in nanoseconds.
    pub idle_ns: u64,
    /// Time that each card worked.
    pub card_ns: Vec<u64>,
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
            waiting: VecDeque::new(),
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

    pub(super) fn is_dead(&self, seat: usize) -> bool {
        self.cards[seat].is_dead
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
            self.tally.idle_ns += now_ns.saturating_sub(self.now_ns);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at_ns, self.order, event)));
    }

    /// Gives an idle host its next task.
    fn go_on(&mut self) {
        if self.at_work.is_some() {
            return;
        }
        let Some(task) = self.urgent.pop_front().or_else(|| self.waiting.pop_front()) else {
            return;
        };
        let ns = self.reckoning_ns(&task);
        if let Task::HandOver(request) = &task
            && self.board.seats[request.seat].in_software
        {
            self.tally.software_ns += ns;
        }
        self.tally.host_ns += ns;
        self.at_work = Some(task);
        self.at(self.now_ns + ns, Event::Reckoned);
    }

    /// The processor's time for a task, without its copy unless that is drawn together with it.
    fn reckoning_ns(&mut self, task: &Task) -> u64 {
        let half_ns = self.board.request_ns / 2.0;
        let mean_ns = match task {
            Task::Interrupt(_) => self.board.interrupt_ns(),
            Task::HandOver(request) if self.board.seats[request.seat].in_software => {
                self.card_ns(request)
            }
            Task::HandOver(request) | Task::TakeBack(request) => {
                let copied_ns =
                    if self.board.law == Law::All { self.copy_ns(request) } else { 0.0 };
                self.requests(request) * half_ns + copied_ns
            }
        };
        let factor = if self.board.law == Law::Fixed { 1.0 } else { self.chance.factor() };
        whole_ns(mean_ns * factor)
    }

    /// Into how many requests of the card the messages are cut.
    fn requests(&self, request: &Request) -> f64 {
        request.messages.div_ceil(self.board.messages_per_request as u64) as f64
    }

    fn copy_ns(&self, request: &Request) -> f64 {
        request.bytes as f64 * self.board.write_byte_ns
    }

    fn card_ns(&self, request: &Request) -> f64 {
        let model = &self.board.seats[request.seat];
        request.messages as f64 * model.setup_ns + request.bytes as f64 * model.byte_ns
    }

    /// The host has reckoned, and copies where there is something to copy.
    fn reckoned(&mut self) {
        let (Some(Task::HandOver(request)) | Some(Task::TakeBack(request))) = self.at_work else {
            return self.done();
        };
        if self.board.seats[request.seat].in_software {
            return self.done();
        }
        self.tally.written_bytes += request.bytes;
        if self.board.law == Law::All {
            self.tally.copy_ns += whole_ns(self.copy_ns(&request));
            return self.done();
        }
        let end_ns = self.written_ns(whole_ns(self.copy_ns(&request)));
        self.tally.copy_ns += end_ns - self.now_ns;
        self.tally.host_ns += end_ns - self.now_ns;
        self.at(end_ns, Event::Copied);
    }

    /// When something is written that begins now.
    fn written_ns(&mut self, ns: u64) -> u64 {
        if !self.board.shares_memory {
            return self.now_ns + ns;
        }
        self.memory_free_ns = self.memory_free_ns.max(self.now_ns) + ns;
        self.memory_free_ns
    }

    /// The host is through with its task.
    fn done(&mut self) {
        match self.at_work.take() {
            Some(Task::HandOver(request)) if self.board.seats[request.seat].in_software => {
                self.tell(&request);
            }
            Some(Task::HandOver(request)) => {
                let card = &mut self.cards[request.seat];
                if !card.is_dead {
                    card.queue.push_back(request);
                    self.work(request.seat);
                }
            }
            Some(Task::Interrupt(requests)) => {
                self.tally.interrupts += 1;
                requests.into_iter().for_each(|request| self.put(Task::TakeBack(request)));
            }
            Some(Task::TakeBack(request)) => self.tell(&request),
            None => {}
        }
        self.go_on();
    }

    /// Lines a task up that takes results back.
    fn put(&mut self, task: Task) {
        let first = self.board.completions_first;
        let line = if first { &mut self.urgent } else { &mut self.waiting };
        line.push_back(task);
    }

    fn tell(&mut self, request: &Request) {
        self.tally.payload_bytes += request.bytes;
        self.told.push(Told { id: request.id, seat: request.seat, at_ns: self.now_ns });
    }

    /// Gives an idle card what waits for it.
    fn work(&mut self, seat: usize) {
        if !self.cards[seat].group.is_empty() {
            return;
        }
        let taken = self.cards[seat].queue.len().min(self.board.merged_max);
        let group: Vec<Request> = self.cards[seat].queue.drain(..taken).collect();
        if group.is_empty() {
            return;
        }
        let bytes: u64 = group.iter().map(|request| request.bytes).sum();
        let factor = if self.board.law == Law::All { self.chance.factor() } else { 1.0 };
        let own_ns: f64 = group.iter().map(|request| self.card_ns(request)).sum();
        let own_ns = whole_ns(own_ns * factor);
        let bus_ns = whole_ns(bytes as f64 * self.board.bus_byte_ns);
        self.bus_free_ns = self.bus_free_ns.max(self.now_ns) + bus_ns;
        let mut end_ns = (self.now_ns + own_ns).max(self.bus_free_ns);
        if self.board.shares_memory {
            end_ns = end_ns.max(self.written_ns(whole_ns(bytes as f64 * self.board.write_byte_ns)));
        }
        self.tally.bus_ns += bus_ns;
        self.tally.written_bytes += bytes;
        self.tally.card_ns[seat] += end_ns - self.now_ns;
        self.cards[seat].group = group;
        self.at(end_ns, Event::Worked(seat));
    }

    /// A card is through, and raises an interrupt.
    fn worked(&mut self, seat: usize) {
        let group = std::mem::take(&mut self.cards[seat].group);
        if self.board.look_ns == 0.0 {
            self.tally.interrupts += u64::from(!group.is_empty());
            group.into_iter().for_each(|request| self.put(Task::TakeBack(request)));
        } else if !group.is_empty() {
            self.put(Task::Interrupt(group));
        }
        self.work(seat);
        self.go_on();
    }

    fn die(&mut self, seat: usize) {
        self.cards[seat] = CardState { is_dead: true, ..CardState::default() };
    }
}
