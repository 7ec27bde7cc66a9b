//! AES-GCM over messages that lie in a device's memory.

use super::layout::{Filled, Layout, narrow};
use super::loaded::{Loaded, Look};
use super::program::LabProgram;
use super::spec::{BenchSpec, Code, Grid, Mode, refused};
use super::turn::megabyte_of;
use crate::GpuError;
use crate::gpu::{Gpu, KeysAt, Launch, Room, Slab, Took};
use crate::message::UNIT_BYTES;
use crate::program::Program;
use crate::variant::{Kernel, Tables, Variant};
use crate::work::{items_of, kernels_of};
use std::sync::Arc;

/// Messages that are worked again and again.
pub struct Bench {
    spec: BenchSpec,
    grid: Grid,
    loaded: Loaded,
    /// What has to be in the output, or what every work-item has to leave there.
    expected: Vec<u8>,
    /// Bytes of the output that belong to one message or work-item.
    stride: usize,
    /// How many messages or work-items have a result.
    results: usize,
}

impl Bench {
    /// Lays messages out, brings them to a device, has them worked once, and checks every output against this processor.
    ///
    /// # Errors
    /// The device can't measure this, fails, or computes something else.
    pub fn new(gpu: &Arc<dyn Gpu>, spec: &BenchSpec) -> Result<Self, GpuError> {
        let about = gpu.about();
        spec.check(about)?;
        let shape = spec.shape;
        let layout = Layout::new(shape, matches!(spec.code, Code::Ours(_)));
        let no_room = || refused(format!("kernels can't count the bytes of {shape:?}: take less"));
        let mut room = layout.room().ok_or_else(no_room)?;
        let pieces = layout.pieces * shape.messages;
        let launches = Launches { spec, gpu: &**gpu, pieces }.all(pieces > 0);
        let grid = main_grid(&launches);
        let (mut stride, mut results) = (layout.output_bytes(), shape.messages);
        if spec.mode == Mode::Replicated {
            (stride, results) = (UNIT_BYTES, grid.items());
            room = with_checksums(room, results);
        }
        let mut filled = Filled::default();
        let loaded = Loaded::new(&**gpu, launches, (room, megabyte_of(stride)), |host| {
            filled = layout.fill(spec.seed, host);
        })?;
        let expected = match spec.mode {
            Mode::Replicated => filled.checksum.to_vec(),
            Mode::Partitioned => filled.output,
        };
        let mut bench = Self { spec: *spec, grid, loaded, expected, stride, results };
        bench.run(1)?;
        bench.check()?;
        Ok(bench)
    }

    /// Overwrites what the last check looked at, so that the next run does not take the time for it.
    ///
    /// # Errors
    /// The device fails.
    pub fn forget(&mut self) -> Result<(), GpuError> {
        self.loaded.forget_output()
    }

    /// Has all messages worked so many times, and waits for the end.
    ///
    /// # Errors
    /// The device fails.
    pub fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        self.loaded.run(times)
    }

    /// The same, and each time keys, descriptors and messages are copied to the device before, and results back.
    ///
    /// # Errors
    /// The device fails.
    pub fn run_with_copies(&mut self, times: u32) -> Result<Took, GpuError> {
        self.loaded.run_with_copies(times)
    }

    /// Compares all that the runs since the last check left with what this processor makes of the messages, and returns
    /// how many messages, or work-items where each works all, that was. There was a run.
    ///
    /// # Errors
    /// The device fails, or computes something else: the first that differs.
    pub fn check(&mut self) -> Result<u64, GpuError> {
        self.compare(Loaded::output)
    }

    /// The same with a part of it, each in turn, in little time.
    ///
    /// # Errors
    /// The same.
    pub fn check_part(&mut self) -> Result<u64, GpuError> {
        self.compare(Loaded::part)
    }

    fn compare(&mut self, look: Look) -> Result<u64, GpuError> {
        let (at, output) = look(&mut self.loaded)?;
        let made = output.chunks(self.stride);
        let (before, compared) = (at / self.stride, made.len());
        let first = at % self.expected.len();
        let right = self.expected[first..].chunks(self.stride);
        let right = right.chain(self.expected.chunks(self.stride).cycle());
        let wrong = made.zip(right).position(|(made, right)| made != right);
        let Some(number) = wrong.map(|number| before + number) else { return Ok(compared as u64) };
        let who = if self.spec.mode == Mode::Replicated { "work-item" } else { "message" };
        let what = format!(
            "{who} {number} of {} differs from what this processor makes, with {:?} on {:?}",
            self.results, self.spec, self.grid
        );
        Err(GpuError::Wrong { device: self.loaded.device.clone(), what })
    }

    /// How the work is spread: the kernel that works the texts.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Messages that a run works, each counted as often as it is worked.
    #[must_use]
    pub fn operations(&self) -> u64 {
        let times = if self.spec.mode == Mode::Replicated { self.grid.items() } else { 1 };
        self.spec.shape.messages as u64 * times as u64
    }

    /// Bytes of text that a run works, counted the same way.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.operations() * self.spec.shape.text_bytes as u64
    }

    /// Bytes of tables that all work-items keep in private memory.
    #[must_use]
    pub fn private_bytes(&self) -> u64 {
        match self.spec.code {
            Code::Ours(_) => 0,
            Code::Published => {
                let round_keys = 16 * (self.spec.shape.key.bytes() / 4 + 7);
                ((TABLE_BYTES + round_keys) * self.grid.items()) as u64
            }
        }
    }
}

/// Makes the launches of a bench.
struct Launches<'b> {
    spec: &'b BenchSpec,
    gpu: &'b dyn Gpu,
    pieces: usize,
}

impl Launches<'_> {
    fn all(&self, is_long: bool) -> Vec<Launch> {
        let key = self.spec.shape.key;
        match self.spec.code {
            Code::Published => {
                let kernel = match self.spec.mode {
                    Mode::Replicated => Kernel::Replicated,
                    Mode::Partitioned => Kernel::Partitioned,
                };
                vec![self.launch(LabProgram::Published(key).into(), kernel, Tables::None)]
            }
            Code::Ours(tables) => {
                let program = Variant { key, tables }.into();
                let kernels = kernels_of(is_long, self.spec.shape.plan.opens()).iter();
                kernels.map(|kernel| self.launch(program, *kernel, tables)).collect()
            }
        }
    }

    fn launch(&self, program: Program, kernel: Kernel, tables: Tables) -> Launch {
        let messages = self.spec.shape.messages;
        let as_driver = || {
            let items = items_of(kernel, messages, self.pieces);
            let (groups, group_items) = tables.grid(items, self.gpu.about());
            Grid { groups, group_items }
        };
        let Grid { groups, group_items } = self.spec.grid.unwrap_or_else(as_driver);
        let [messages, pieces] = [messages, self.pieces].map(narrow);
        Launch { program, kernel, keys: KeysAt::Lane, messages, pieces, groups, group_items }
    }
}

/// Of the kernel that works texts: the only one, or that of the pieces.
fn main_grid(launches: &[Launch]) -> Grid {
    let main = launches.iter().find(|launch| launch.kernel == Kernel::LongPieces);
    let (groups, group_items) =
        main.or(launches.first()).map_or((0, 0), |launch| (launch.groups, launch.group_items));
    Grid { groups, group_items }
}

/// Room for a checksum of each work-item in the place of results.
fn with_checksums(room: Room, items: usize) -> Room {
    let slabs = Slab::ALL.into_iter().filter(|slab| *slab != Slab::Output);
    let others = slabs.fold(Room::default(), |others, slab| others.with(slab, room.of(slab)));
    others.with(Slab::Output, UNIT_BYTES * items)
}

/// Of a work-item without its round keys, as `kernels/lab/published.cl` has it.
const TABLE_BYTES: usize = 11_072;
