//! The way of each request through a card.

use super::line::{Interrupts, Line, Stages};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each stage of a card is free again. Requests pass in the order in which they were handed over.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    host_ns: f64,
    link_in_ns: f64,
    /// The bits of a time for each unit, which are ordered as times of zero and more are.
    units: BinaryHeap<Reverse<u64>>,
    link_out_ns: f64,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Walked {
    /// When the host is told of its last results.
    pub(super) told_ns: f64,
    /// Time of the host's processor for it.
    pub(super) host_ns: f64,
}

impl Walk {
    /// An idle card.
    pub(super) fn new(units: usize) -> Self {
        let units = std::iter::repeat_n(Reverse(0.0f64.to_bits()), units).collect();
        Self { host_ns: 0.0, link_in_ns: 0.0, units, link_out_ns: 0.0 }
    }

    /// Hands a batch over, given as the bytes of each of its requests.
    ///
    /// The host does at a request's start what it does for the interrupt that this request opens.
    pub(super) fn batch(&mut self, line: &Line, now_ns: f64, requests: &[f64]) -> Walked {
        let mut walked = Walked { told_ns: now_ns, host_ns: 0.0 };
        let mut group: Option<Group> = None;
        for bytes in requests {
            let stages = line.stages(*bytes);
            let pass = self.pass(&stages, now_ns);
            if let Some(group) = &mut group
                && group.joins(pass.out_ns, line.interrupts)
            {
                walked.host_ns += stages.host_ns;
                self.take(pass);
                continue;
            }
            let opening = stages.with_interrupt(line.interrupts);
            let pass = self.pass(&opening, now_ns);
            walked.host_ns += opening.host_ns;
            let opened = Group { requests: 1, first_ns: pass.out_ns, last_ns: pass.out_ns };
            self.take(pass);
            if let Some(closed) = group.replace(opened) {
                walked.told_ns = walked.told_ns.max(closed.told_ns(line.interrupts));
            }
        }
        let told_ns = group.map_or(now_ns, |group| group.told_ns(line.interrupts));
        Walked { told_ns: walked.told_ns.max(told_ns), ..walked }
    }

    /// How a request would pass; on the link out results keep their order.
    fn pass(&self, stages: &Stages, now_ns: f64) -> Pass {
        let host_ns = self.host_ns.max(now_ns) + stages.host_ns;
        let on_link_ns = host_ns.max(self.link_in_ns);
        let arrives_ns = on_link_ns + stages.transfer_ns + stages.latency_ns;
        let free_ns = self.units.peek().map_or(0.0, |first| f64::from_bits(first.0));
        let unit_ns = arrives_ns.max(free_ns) + stages.unit_ns;
        let link_out_ns = match stages.transfer_ns {
            0.0 => unit_ns,
            transfer_ns => self.link_out_ns.max(unit_ns) + transfer_ns,
        };
        Pass {
            host_ns,
            link_in_ns: on_link_ns + stages.link_ns,
            unit_ns,
            link_out_ns,
            out_ns: link_out_ns + stages.latency_ns,
        }
    }

    fn take(&mut self, pass: Pass) {
        self.host_ns = pass.host_ns;
        self.link_in_ns = pass.link_in_ns;
        self.link_out_ns = self.link_out_ns.max(pass.link_out_ns);
        if let Some(mut first) = self.units.peek_mut() {
            *first = Reverse(pass.unit_ns.to_bits());
        }
    }
}

/// When a request has left each stage.
struct Pass {
    host_ns: f64,
    link_in_ns: f64,
    unit_ns: f64,
    link_out_ns: f64,
    /// When its result is there.
    out_ns: f64,
}

/// Results that share an interrupt.
struct Group {
    requests: usize,
    first_ns: f64,
    last_ns: f64,
}

impl Group {
    /// Takes a result in that is there while the interrupt is held back.
    fn joins(&mut self, out_ns: f64, interrupts: Interrupts) -> bool {
        let (first_ns, last_ns) = (self.first_ns.min(out_ns), self.last_ns.max(out_ns));
        if self.requests == interrupts.merged_max || last_ns - first_ns > interrupts.hold_ns {
            return false;
        }
        *self = Self { requests: self.requests + 1, first_ns, last_ns };
        true
    }

    fn told_ns(&self, interrupts: Interrupts) -> f64 {
        if self.requests == interrupts.merged_max {
            self.last_ns
        } else {
            self.last_ns.max(self.first_ns + interrupts.hold_ns)
        }
    }
}
