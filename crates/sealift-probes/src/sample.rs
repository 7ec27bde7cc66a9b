/// What one timed sample of an arm gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Wall-clock nanoseconds from the first thread's start to the last one's end.
    pub ns: u64,
    /// Operations done in that time by all threads together.
    pub operations: u64,
    /// Bytes of their payload; 0 where there is none.
    pub bytes: u64,
    /// Times a measuring thread was taken off its core.
    pub involuntary_switches: u64,
    /// Thread CPU time over wall time, the least of the threads; 0 to 1.
    pub cpu_share: f64,
    /// Time the hypervisor took from this machine's cores meanwhile, in steps of the kernel's
    /// accounting tick (10 ms); 0 where the kernel doesn't tell.
    pub steal_ns: u64,
    /// Clock of the calling thread's core right after the sample, in GHz; nothing where it isn't known.
    pub clock_ghz: Option<f64>,
}

impl Sample {
    /// One sample out of two that were taken one after the other. Its clock is their mean by time.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let clocks = self.clock_ghz.zip(later.clock_ghz);
        Self {
            ns: self.ns + later.ns,
            operations: self.operations + later.operations,
            bytes: self.bytes + later.bytes,
            involuntary_switches: self.involuntary_switches + later.involuntary_switches,
            cpu_share: self.cpu_share.min(later.cpu_share),
            steal_ns: self.steal_ns + later.steal_ns,
            clock_ghz: clocks.map(|(own, other)| mean((own, self.ns), (other, later.ns))),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sample is far under 2^52 ns")]
fn mean((one, one_ns): (f64, u64), (other, other_ns): (f64, u64)) -> f64 {
    (one * one_ns as f64 + other * other_ns as f64) / (one_ns + other_ns) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_are_summed_and_their_clocks_weighed_by_time() {
        let sample = |ns, clock_ghz, cpu_share| Sample {
            ns,
            operations: 5,
            bytes: 7,
            involuntary_switches: 1,
            cpu_share,
            steal_ns: 2,
            clock_ghz,
        };
        let both = sample(100, Some(4.0), 1.0).and(sample(300, Some(2.0), 0.9));
        assert_eq!((both.ns, both.operations, both.bytes), (400, 10, 14));
        assert_eq!((both.involuntary_switches, both.steal_ns), (2, 4));
        assert_eq!((both.cpu_share, both.clock_ghz), (0.9, Some(2.5)));
        assert_eq!(sample(1, None, 1.0).and(sample(1, Some(3.0), 1.0)).clock_ghz, None);
    }
}
