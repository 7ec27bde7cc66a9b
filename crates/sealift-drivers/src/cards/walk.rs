//! The way of each request through a card.

use super::line::{Line, Stages};
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

impl Walk {
    /// An idle card.
    pub(super) fn new(units: usize) -> Self {
        let units = std::iter::repeat_n(Reverse(0.0f64.to_bits()), units).collect();
        Self { host_ns: 0.0, link_in_ns: 0.0, units, link_out_ns: 0.0 }
    }

    /// Hands a batch over, given as the bytes of each of its requests; when its results are there.
    pub(super) fn batch(&mut self, line: &Line, now_ns: f64, requests: &[f64]) -> f64 {
        let pace = line.pace(requests.len(), requests.iter().sum());
        let mut told_ns = now_ns;
        for group in requests.chunks(pace.merged) {
            let mut outs_ns =
                group.iter().map(|bytes| self.request(&line.stages(*bytes, pace.merged), now_ns));
            let first_ns = outs_ns.next().unwrap_or(now_ns);
            let last_ns = outs_ns.fold(first_ns, f64::max);
            told_ns = line.interrupts.told_ns(group.len(), first_ns, last_ns).max(told_ns);
        }
        told_ns
    }

    /// When the result of a request is out; on the link they keep their order.
    fn request(&mut self, stages: &Stages, now_ns: f64) -> f64 {
        self.host_ns = self.host_ns.max(now_ns) + stages.host_ns;
        let on_link_ns = self.host_ns.max(self.link_in_ns);
        self.link_in_ns = on_link_ns + stages.link_ns;
        let arrives_ns = on_link_ns + stages.transfer_ns + stages.latency_ns;
        let worked_ns = self.unit(arrives_ns, stages.unit_ns);
        if stages.transfer_ns == 0.0 {
            return worked_ns + stages.latency_ns;
        }
        self.link_out_ns = self.link_out_ns.max(worked_ns) + stages.transfer_ns;
        self.link_out_ns + stages.latency_ns
    }

    /// When the first free unit has worked a request.
    fn unit(&mut self, arrives_ns: f64, unit_ns: f64) -> f64 {
        let Some(mut first) = self.units.peek_mut() else { return arrives_ns + unit_ns };
        let worked_ns = arrives_ns.max(f64::from_bits(first.0)) + unit_ns;
        *first = Reverse(worked_ns.to_bits());
        worked_ns
    }
}
