//! What the cards do, with their bytes on the bus and written to memory.

use super::{CardState, Event, Play, Request, Task};
use crate::cards::board::{Law, Memory};
use crate::cards::device::whole_ns;

impl Play {
    /// Gives an idle card what waits for it.
    pub(super) fn work(&mut self, seat: usize) {
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
        self.bus_free_ns = self.bus_free_ns.max(self.now_ns).saturating_add(bus_ns);
        let mut end_ns = self.now_ns.saturating_add(own_ns).max(self.bus_free_ns);
        if self.board.memory != Memory::Unlimited {
            end_ns = end_ns.max(self.written_ns(whole_ns(bytes as f64 * self.board.write_byte_ns)));
        }
        self.tally.bus_ns = self.tally.bus_ns.saturating_add(bus_ns);
        self.tally.written_bytes += bytes;
        let worked_ns = &mut self.tally.card_ns[seat];
        *worked_ns = worked_ns.saturating_add(end_ns - self.now_ns);
        self.cards[seat].group = group;
        self.at(end_ns, Event::Worked(seat));
    }

    /// A card is through, and raises an interrupt.
    pub(super) fn worked(&mut self, seat: usize) {
        let group = std::mem::take(&mut self.cards[seat].group);
        if self.board.interrupt_ns() == 0.0 {
            self.tally.interrupts += u64::from(!group.is_empty());
            group.into_iter().for_each(|request| self.put(Task::TakeBack(request)));
        } else if !group.is_empty() {
            self.put(Task::Interrupt(group));
        }
        self.work(seat);
        self.go_on();
    }

    /// What a card takes for a request, in nanoseconds.
    pub(super) fn card_ns(&self, request: &Request) -> f64 {
        let model = &self.board.seats[request.seat];
        request.messages as f64 * model.setup_ns + request.bytes as f64 * model.byte_ns
    }

    pub(super) fn die(&mut self, seat: usize) {
        self.cards[seat] = CardState { is_dead: true, ..CardState::default() };
    }
}
