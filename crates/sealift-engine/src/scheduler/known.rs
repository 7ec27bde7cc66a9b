//! What batches cost on a device, by what is done to them.

use crate::Estimator;
use sealift_core::{Algorithm, Cost, Shape};

/// What is known of the batches of one class.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) estimator: Estimator,
    /// What batches may cost at best: what they did while nothing surprised, and nothing before the first one.
    pub(super) usual: Cost,
    /// Batches since one surprised.
    pub(super) calm: u32,
    /// Messages and bytes of a batch that took surprisingly long and was not learnt from.
    pub(super) odd: Option<(u64, u64)>,
    /// Whether a batch was learnt from.
    pub(super) is_learnt: bool,
}

impl Known {
    fn new(cost: Cost, usual: Cost) -> Self {
        Self { estimator: Estimator::new(cost), usual, calm: 0, odd: None, is_learnt: false }
    }

    /// What a batch takes when nothing is in its way.
    pub(super) fn usually_ns(&self, shape: &Shape) -> f64 {
        self.estimator.predict_ns(shape.messages as u64, shape.bytes())
    }
}

/// What is known of each class: messages of one algorithm, under sessions or raw keys, that are opened or not.
#[derive(Debug)]
pub(super) struct Classes {
    /// Of AES-GCM seals under sessions: what others are thought to cost before one was worked.
    first: Known,
    others: [Option<Box<Known>>; CLASSES - 1],
}

impl Classes {
    pub(super) fn new(cost: Cost, usual: Cost) -> Self {
        Self { first: Known::new(cost, usual), others: Default::default() }
    }

    /// Of AES-GCM seals under sessions.
    pub(super) fn first(&self) -> &Known {
        &self.first
    }

    pub(super) fn of(&self, shape: &Shape) -> &Known {
        let other = place(shape).and_then(|place| self.others[place].as_deref());
        other.unwrap_or(&self.first)
    }

    pub(super) fn of_mut(&mut self, shape: &Shape) -> &mut Known {
        let Self { first, others } = self;
        match place(shape) {
            None => first,
            Some(place) => others[place]
                .get_or_insert_with(|| Box::new(Known { is_learnt: false, ..first.clone() })),
        }
    }

    /// A trial begins, and tells what they cost now, whatever was known or hoped.
    pub(super) fn ask_anew(&mut self, shape: &Shape) {
        let known = self.of_mut(shape);
        known.usual = known.estimator.cost();
        known.estimator.doubt();
    }
}

/// Where the class stands among the others; none for AES-GCM seals under sessions.
fn place(shape: &Shape) -> Option<usize> {
    let algorithm = shape.algorithm as usize;
    (algorithm * 4 + usize::from(shape.raw_keys) * 2 + usize::from(shape.opens)).checked_sub(1)
}

const CLASSES: usize = Algorithm::ALL.len() * 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_learnt_apart_and_begins_with_what_is_known_of_seals() {
        let cost = |per_message| Cost::clamped(0.0, per_message, 0.0);
        let mut classes = Classes::new(cost(100.0), cost(100.0));
        let seals = Shape::of_seals(10, 16);
        let (opens, raw) = (Shape { opens: true, ..seals }, Shape { raw_keys: true, ..seals });
        assert!((classes.of(&raw).usually_ns(&raw) - 1_000.0).abs() < 1.0);
        for _ in 0..200 {
            classes.of_mut(&raw).estimator.learn(10, 160, 9_000);
        }
        assert!((classes.of(&raw).usually_ns(&raw) / 9_000.0 - 1.0).abs() < 0.1);
        let xaes = Shape { algorithm: Algorithm::Xaes256Gcm, ..raw };
        for other in [seals, opens, Shape { opens: true, ..raw }, xaes] {
            assert!((classes.of(&other).usually_ns(&other) - 1_000.0).abs() < 1.0, "{other:?}");
        }
    }
}
