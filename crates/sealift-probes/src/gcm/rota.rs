//! Which batches are looked at after a sample.

/// Goes round all batches of a thread, so that none is left out for ever.
#[derive(Default)]
pub(crate) struct Rota {
    due: usize,
    picked: Vec<usize>,
}

/// How much there is to compare in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Rota {
    /// Picks batches out of the `times` that are worked next, from the batch `next` of `lots` on.
    ///
    /// The first is the one that is due, or where it isn't among them the first that is worked. Small
    /// batches behind it are taken too, as many as make up a usual batch.
    pub(crate) fn pick(
        &mut self,
        lots: usize,
        next: usize,
        times: usize,
        size_of: impl Fn(usize) -> Size,
    ) {
        let worked = times.min(lots);
        let ahead = (self.due + lots - next) % lots;
        let is_due = ahead < worked;
        let first = if is_due { ahead } else { 0 };
        // A whole round may go on past its end.
        let end = if worked == lots { first + lots } else { worked };
        let mut sum = Size::default();
        self.picked.clear();
        for lot in (first..end).map(|at| (next + at) % lots) {
            let size = size_of(lot);
            sum.messages += size.messages;
            sum.bytes += size.bytes;
            if !self.picked.is_empty() && (sum.messages > MESSAGES_MAX || sum.bytes > BYTES_MAX) {
                break;
            }
            self.picked.push(lot);
        }
        if is_due {
            self.due = (self.due + self.picked.len()) % lots;
        }
    }

    /// Those that were picked last.
    pub(crate) fn picked(&self) -> &[usize] {
        &self.picked
    }
}

/// Batches of one message each lie far apart in memory: so many take some tens of microseconds.
const MESSAGES_MAX: usize = 256;
/// Of results: a tenth or so of the second cache, so that little of the next sample's data is driven
/// out of it.
const BYTES_MAX: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Size = Size { messages: 1_024, bytes: 1 << 20 };
    const SMALL: Size = Size { messages: 100, bytes: 1_000 };

    #[test]
    fn every_batch_comes_up_however_many_a_sample_works() {
        for (lots, times) in [(1, 1), (1, 9), (4, 1), (4, 2), (4, 4), (4, 11), (37, 6), (37, 74)] {
            for size in [LARGE, SMALL] {
                let (mut rota, mut next, mut seen) = (Rota::default(), 0, vec![0; lots]);
                for _ in 0..lots * lots.div_ceil(times) + lots {
                    rota.pick(lots, next, times, |_| size);
                    assert!(!rota.picked().is_empty());
                    for lot in rota.picked() {
                        assert!((lot + lots - next) % lots < times, "{lot} is not worked");
                        seen[*lot] += 1;
                    }
                    next = (next + times) % lots;
                }
                assert!(seen.iter().all(|times| *times > 0), "{times} of {lots}: {seen:?}");
            }
        }
    }

    #[test]
    fn small_batches_are_looked_at_together_up_to_a_usual_one() {
        let picked = |sizes: &[Size], times| {
            let mut rota = Rota::default();
            rota.pick(sizes.len(), 0, times, |lot| sizes[lot]);
            rota.picked().to_vec()
        };
        assert_eq!(picked(&[SMALL; 5], 5), [0, 1]);
        assert_eq!(picked(&[SMALL; 5], 1), [0]);
        assert_eq!(picked(&[LARGE; 5], 5), [0]);
        assert_eq!(picked(&[SMALL, LARGE, SMALL], 3), [0]);
        let long = Size { messages: 1, bytes: 60 << 10 };
        assert_eq!(picked(&[long; 5], 5), [0, 1]);
    }
}
