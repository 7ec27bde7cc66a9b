/// What one timed sample of an arm gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Wall-clock nanoseconds from the first thread's start to the last one's end.
    pub ns: u64,
    /// Messages done in that time by all threads together.
    pub messages: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Times a measuring thread was taken off its core.
    pub involuntary_switches: u64,
    /// Thread CPU time over wall time, the least of the threads; 0 to 1.
    pub cpu_share: f64,
    /// Time the hypervisor took from this machine's cores meanwhile, in steps of the kernel's
    /// accounting tick (10 ms); 0 where the kernel doesn't tell.
    pub steal_ns: u64,
}

impl Sample {
    /// One sample out of two that were taken one after the other.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            ns: self.ns + later.ns,
            messages: self.messages + later.messages,
            bytes: self.bytes + later.bytes,
            involuntary_switches: self.involuntary_switches + later.involuntary_switches,
            cpu_share: self.cpu_share.min(later.cpu_share),
            steal_ns: self.steal_ns + later.steal_ns,
        }
    }
}
