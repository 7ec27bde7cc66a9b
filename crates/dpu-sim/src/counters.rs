//! What a run took.

/// What a DPU did, since it was made or reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// All cycles.
    pub cycles: u64,
    /// Instructions issued.
    pub instructions: u64,
    /// Instructions by mnemonic, most frequent first.
    pub mnemonics: Vec<(String, u64)>,
    /// Cycles in which nothing was issued, by cause.
    pub idle: Idle,
    /// Bytes that went out of MRAM.
    pub mram_read_bytes: u64,
    /// Bytes that went into MRAM.
    pub mram_written_bytes: u64,
    /// Transfers, both ways.
    pub transfers: u64,
}

/// Cycles in which no instruction was issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Idle {
    /// Each runnable tasklet had issued one less than `revolver` cycles before.
    pub revolver: u64,
    /// Besides, tasklets waited for transfers.
    pub dma: u64,
    /// Registers met in one bank.
    pub hazard: u64,
}

impl Idle {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.revolver + self.dma + self.hazard
    }
}
