//! What the host does: it hands over, is interrupted, and takes back.

use super::{Event, Play, Request, Task, Told};
use crate::cards::board::{Law, Memory, Order};
use crate::cards::device::whole_ns;

impl Play {
    /// Gives an idle host its next task.
    pub(super) fn go_on(&mut self) {
        if self.at_work.is_some() {
            return;
        }
        let Some(task) = self.urgent.pop_front().or_else(|| self.of_the_round()) else {
            return;
        };
        let ns = self.reckoning_ns(&task);
        if self.is_software(&task) {
            self.tally.software_ns = self.tally.software_ns.saturating_add(ns);
        }
        if matches!(task, Task::Interrupt(_)) {
            self.tally.interrupt_ns = self.tally.interrupt_ns.saturating_add(ns);
        }
        self.tally.host_ns = self.tally.host_ns.saturating_add(ns);
        self.at_work = Some(task);
        self.at(self.now_ns.saturating_add(ns), Event::Reckoned);
    }

    /// The next result to be taken back or request to be handed over: one kind until there is none of it.
    pub(super) fn of_the_round(&mut self) -> Option<Task> {
        let (same, other) = if self.is_handing_over {
            (&mut self.waiting, &mut self.completed)
        } else {
            (&mut self.completed, &mut self.waiting)
        };
        same.pop_front().or_else(|| {
            self.is_handing_over ^= !other.is_empty();
            other.pop_front()
        })
    }

    /// The processor's time for a task, without its copy unless that is drawn together with it.
    fn reckoning_ns(&mut self, task: &Task) -> u64 {
        let half_ns = self.board.request_ns / 2.0;
        let user_ns = self.user_ns(task);
        let mean_ns = match task {
            Task::Interrupt(_) => self.board.interrupt_ns(),
            Task::HandOver(request) if self.board.seats[request.seat].in_software => {
                self.card_ns(request)
            }
            Task::HandOver(request) | Task::TakeBack(request) => {
                let copied_ns =
                    if self.board.law == Law::All { self.copy_ns(request) } else { 0.0 };
                self.requests(request) * half_ns + user_ns + copied_ns
            }
        };
        let is_even = match self.board.law {
            Law::Fixed => true,
            Law::Host => self.is_software(task),
            Law::All => false,
        };
        let factor = if is_even { 1.0 } else { self.chance.factor() };
        self.tally.user_ns = self.tally.user_ns.saturating_add(whole_ns(user_ns * factor));
        whole_ns(mean_ns * factor)
    }

    /// What of it the client takes itself.
    fn user_ns(&self, task: &Task) -> f64 {
        match task {
            Task::HandOver(request) if !self.is_software(task) => {
                self.requests(request) * self.board.user_ns
            }
            _ => 0.0,
        }
    }

    /// Whether it is the host that encrypts.
    fn is_software(&self, task: &Task) -> bool {
        matches!(task, Task::HandOver(request) if self.board.seats[request.seat].in_software)
    }

    /// Into how many requests of the card the messages are cut.
    fn requests(&self, request: &Request) -> f64 {
        request.messages.div_ceil(self.board.messages_per_request as u64) as f64
    }

    fn copy_ns(&self, request: &Request) -> f64 {
        request.bytes as f64 * self.board.write_byte_ns
    }

    /// The host has reckoned, and copies where there is something to copy.
    pub(super) fn reckoned(&mut self) {
        let (Some(Task::HandOver(request)) | Some(Task::TakeBack(request))) = self.at_work else {
            return self.done();
        };
        if self.board.seats[request.seat].in_software {
            return self.done();
        }
        self.tally.written_bytes += request.bytes;
        if self.board.law == Law::All {
            let copy_ns = whole_ns(self.copy_ns(&request));
            self.tally.copy_ns = self.tally.copy_ns.saturating_add(copy_ns);
            return self.done();
        }
        let end_ns = self.copied_ns(whole_ns(self.copy_ns(&request)));
        let copied_ns = end_ns - self.now_ns;
        self.tally.copy_ns = self.tally.copy_ns.saturating_add(copied_ns);
        self.tally.host_ns = self.tally.host_ns.saturating_add(copied_ns);
        self.at(end_ns, Event::Copied);
    }

    /// When the host has copied what it begins now.
    pub(super) fn copied_ns(&mut self, ns: u64) -> u64 {
        let in_order_ns = self.written_ns(ns);
        let is_first = self.board.memory == Memory::CopiesFirst;
        if is_first { self.now_ns.saturating_add(ns) } else { in_order_ns }
    }

    /// When something is written that begins now.
    pub(super) fn written_ns(&mut self, ns: u64) -> u64 {
        if self.board.memory == Memory::Unlimited {
            return self.now_ns.saturating_add(ns);
        }
        self.memory_free_ns = self.memory_free_ns.max(self.now_ns).saturating_add(ns);
        self.memory_free_ns
    }

    /// The host is through with its task.
    pub(super) fn done(&mut self) {
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

    /// Lines a task up that tells of results, or takes them back.
    pub(super) fn put(&mut self, task: Task) {
        let line = match (&task, self.board.order) {
            (Task::Interrupt(_), _) | (_, Order::CompletionsFirst) => &mut self.urgent,
            (_, Order::Rounds) => &mut self.completed,
            (_, Order::InTurn) => &mut self.waiting,
        };
        line.push_back(task);
    }

    fn tell(&mut self, request: &Request) {
        self.tally.payload_bytes += request.bytes;
        self.told.push(Told { id: request.id, seat: request.seat, at_ns: self.now_ns });
    }
}
