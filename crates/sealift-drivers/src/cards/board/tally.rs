//! What a board did, in numbers.

/// What a board did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Interrupts that the host took.
    pub interrupts: u64,
    /// Time of the host's processor, copies and waits for memory included, in nanoseconds.
    pub host_ns: u64,
    /// Of it, copies and their waits.
    pub copy_ns: u64,
    /// Of it, interrupts.
    pub interrupt_ns: u64,
    /// Of it, what clients do themselves before they hand over.
    pub user_ns: u64,
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
    /// Time that each card worked, or waited for bus and memory; of one that died until it would have ended.
    pub card_ns: Vec<u64>,
}
