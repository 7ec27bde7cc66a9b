//! A DPU that runs.

mod access;
mod alu;
mod checked;
mod code;
mod fault;
mod memory;
mod op;
mod queue;
mod rarely;
mod result;
mod run;
mod step;
mod wipe;

pub use access::AccessError;
pub use fault::{Fault, FaultKind};

use crate::counters::{Counters, Idle};
use crate::program::{IRAM_INSTRUCTIONS, Program, Symbol};
use crate::timing::Timing;
use code::Code;
use memory::{Mram, Wram};
use queue::Queue;
use std::sync::Arc;

/// Tasklets of a DPU.
pub const TASKLETS: usize = 24;

/// A DPU: its memories, its tasklets, its clock.
#[derive(Clone)]
pub struct Dpu {
    code: Arc<Code>,
    wram: Wram,
    mram: Mram,
    atomic: [bool; 256],
    /// Who runs; bits from 24 on only notify.
    running: u64,
    /// What stopped it, until it is booted.
    faulted: Option<Box<Fault>>,
    tasklets: Box<[Tasklet; TASKLETS]>,
    queue: Queue,
    timing: Timing,
    clock: Clock,
    executed: Box<[u64; IRAM_INSTRUCTIONS]>,
    told: Vec<Told>,
    symbols: Arc<[Symbol]>,
}

/// What `tell` said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which tasklet.
    pub tasklet: u8,
    /// Its instruction.
    pub pc: u16,
    /// When.
    pub cycle: u64,
    /// The register.
    pub value: u32,
    /// The number in the instruction.
    pub number: u32,
    /// Where that is 1: the text at the address in the register, up to a zero.
    pub text: Option<String>,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All tasklets stopped.
    Done,
    /// One did what it must not.
    Fault(Box<Fault>),
    /// As many instructions as were allowed; `run` goes on.
    Limit,
}

/// A tasklet's own state.
#[derive(Clone)]
struct Tasklet {
    /// r0 to r23, the eight read-only ones, and where dropped results go.
    registers: [u32; 64],
    pc: u16,
    zero: bool,
    carry: bool,
    /// Registers that its last instruction wrote, one bit each.
    written: u32,
}

/// Time, and what took it.
#[derive(Clone, Default)]
struct Clock {
    /// The first cycle in which nothing was issued yet.
    now: u64,
    idle: Idle,
    dma_free: u64,
    instructions: u64,
    read_bytes: u64,
    written_bytes: u64,
    transfers: u64,
    timer: Timer,
}

/// The counter that programs read.
#[derive(Clone, Copy, Default)]
struct Timer {
    counts: Counts,
    /// What it had counted when it was last switched.
    kept: u64,
    /// Where what it counts stood then.
    since: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Counts {
    #[default]
    Nothing,
    Cycles,
    Instructions,
}

impl Dpu {
    /// A DPU with nothing in it.
    #[must_use]
    pub fn new(timing: Timing) -> Self {
        let tasklets = std::array::from_fn(Tasklet::new);
        Self {
            code: Code::none(),
            wram: Wram::new(),
            mram: Mram::new(),
            atomic: [false; 256],
            running: 0,
            faulted: None,
            tasklets: Box::new(tasklets),
            queue: Queue::default(),
            timing,
            clock: Clock::default(),
            executed: Box::new([0; IRAM_INSTRUCTIONS]),
            told: Vec::new(),
            symbols: Arc::from([]),
        }
    }

    /// Puts a program into the memories and forgets what ran before. MRAM stays as it was where the program has no bytes, as on a
    /// real DPU.
    pub fn load(&mut self, program: &Program) {
        self.load_shared(&Loadable::new(program), program);
    }

    /// The same, with instructions decoded once for many DPUs.
    pub(crate) fn load_shared(&mut self, loadable: &Loadable, program: &Program) {
        self.code = Arc::clone(&loadable.code);
        self.symbols = Arc::clone(&loadable.symbols);
        self.wram.bytes.fill(0);
        self.put_data(program);
        self.atomic = [false; 256];
        *self.tasklets = std::array::from_fn(Tasklet::new);
        self.reset_counters();
        self.faulted = None;
        self.running = 0;
        self.queue = Queue::default();
    }

    /// Sets cycles, counters and what was told to nothing.
    pub fn reset_counters(&mut self) {
        self.clock = Clock::default();
        self.executed.fill(0);
        self.told.clear();
    }

    /// A name of the program that is loaded.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// A tasklet's registers r0 to r23; none, if there is no such tasklet.
    #[must_use]
    pub fn registers(&self, tasklet: usize) -> Option<[u32; 24]> {
        self.tasklets.get(tasklet).map(Tasklet::general)
    }

    /// What `tell` said, in order; the first 4,096.
    #[must_use]
    pub fn told(&self) -> &[Told] {
        &self.told
    }

    /// How it is timed.
    #[must_use]
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// What it did since it was loaded or reset.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let Clock { now, idle, instructions, read_bytes, written_bytes, transfers, .. } =
            self.clock;
        Counters {
            cycles: now,
            instructions,
            mnemonics: self.code.mnemonics(&self.executed[..]),
            idle,
            mram_read_bytes: read_bytes,
            mram_written_bytes: written_bytes,
            transfers,
        }
    }

    /// Cycles since it was loaded or reset.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.clock.now
    }

    /// Instructions since it was loaded or reset.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.clock.instructions
    }

    /// The number of a tasklet's next instruction; none, if there is no such tasklet.
    #[must_use]
    pub fn next_instruction(&self, tasklet: usize) -> Option<u16> {
        self.tasklets.get(tasklet).map(|tasklet| tasklet.pc)
    }

    /// Does a tasklet run? One that waits for a transfer or its turn does.
    #[must_use]
    pub fn runs(&self, tasklet: usize) -> bool {
        tasklet < TASKLETS && self.running >> tasklet & 1 == 1
    }

    /// How often each instruction was executed.
    #[must_use]
    pub fn executed(&self) -> &[u64] {
        &self.executed[..]
    }
}

/// A program whose instructions are decoded.
pub(crate) struct Loadable {
    code: Arc<Code>,
    symbols: Arc<[Symbol]>,
}

impl Loadable {
    pub(crate) fn new(program: &Program) -> Self {
        let code = Arc::new(Code::new(program.instructions()));
        Self { code, symbols: Arc::from(program.symbols()) }
    }
}

impl Tasklet {
    fn new(number: usize) -> Self {
        let number = u32::try_from(number).unwrap_or(0);
        let mut registers = [0; 64];
        let constants = [0, 1, u32::MAX, 1 << 31, number, 2 * number, 4 * number, 8 * number];
        registers[24..32].copy_from_slice(&constants);
        Self { registers, pc: 0, zero: false, carry: false, written: 0 }
    }

    fn general(&self) -> [u32; 24] {
        std::array::from_fn(|number| self.registers[number])
    }
}
