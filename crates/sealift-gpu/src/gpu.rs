//! What an open GPU is to the host, whichever library speaks to it.
//!
//! A [`Gpu`] gives lanes. A [`Lane`] is an ordered queue of copies and kernels with memory of its own: each [`Slab`] lies
//! twice, pinned on the host and on the device. Lanes overlap each other: while one computes, others copy. Whoever works
//! fills the host's slabs, lets the lane `write` them, `launch`, `read`, and then `wait`s.

use crate::error::GpuError;
use crate::message::{PARTIAL_BYTES, PREPARED_BYTES, UNIT_BYTES};
use crate::program::Program;
use crate::variant::Kernel;
use std::fmt::Debug;
use std::ops::{AddAssign, Range};
use std::thread;
use std::time::{Duration, Instant};

/// An open GPU. Programs are built when they are first launched, once.
pub trait Gpu: Send + Sync + Debug {
    /// What it is.
    fn about(&self) -> &About;

    /// Builds programs now that would else be built when they are first launched.
    ///
    /// # Errors
    /// One does not build, or the device can't be used.
    fn prepare(&self, programs: &[Program]) -> Result<(), GpuError>;

    /// One more lane, without room yet.
    ///
    /// # Errors
    /// The device gives none.
    fn lane(&self) -> Result<Box<dyn Lane>, GpuError>;

    /// Overwrites keys that stay on the device, from a slot on, and waits until every lane sees them. A record has
    /// [`KEY_BYTES`]; there are [`KEY_SLOTS`], which take no memory before the first is written.
    ///
    /// # Errors
    /// The device is lost or has no memory.
    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError>;
}

/// A queue of work with memory on both sides. What it holds is secret: its drop waits for what was begun, unless the
/// device is lost, and wipes.
pub trait Lane: Send + Debug {
    /// Makes slabs at least so large. One that grows is wiped first, and its content is gone. Nothing is under way.
    ///
    /// # Errors
    /// There is no memory; then the lane keeps what it had.
    fn reserve(&mut self, room: &Room) -> Result<(), GpuError>;

    /// The host's side of its slabs, each at least as long as its room. Nothing is under way.
    fn host(&mut self) -> Host<'_>;

    /// Where a slab is on the device, for other programs there, as far as its library tells: CUDA does.
    fn address(&self, slab: Slab) -> Option<u64>;

    /// Begins to copy the first bytes of a slab to the device.
    ///
    /// # Errors
    /// The device does not take it.
    fn write(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError> {
        self.write_part(slab, 0..bytes)
    }

    /// The same with some of its bytes.
    ///
    /// # Errors
    /// The device does not take it.
    fn write_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError>;

    /// Begins to overwrite the first bytes of a slab on the device with zeros.
    ///
    /// # Errors
    /// The device does not take it.
    fn clear(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError>;

    /// Begins a kernel behind everything begun before.
    ///
    /// # Errors
    /// The program does not build, or the kernel does not start.
    fn launch(&mut self, launch: &Launch) -> Result<(), GpuError>;

    /// Begins to copy the first bytes of a slab back.
    ///
    /// # Errors
    /// The device does not take it.
    fn read(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError> {
        self.read_part(slab, 0..bytes)
    }

    /// The same with some of its bytes.
    ///
    /// # Errors
    /// The device does not take it.
    fn read_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError>;

    /// Hands what was begun to the device, so that it works while the host does something else.
    ///
    /// # Errors
    /// The device does not take it.
    fn flush(&mut self) -> Result<(), GpuError>;

    /// Waits for all that was begun, and tells what copies and kernels took since the last wait.
    ///
    /// # Errors
    /// Something of it failed; or it took longer than `patience`, and the device is lost.
    fn wait(&mut self, patience: Duration) -> Result<Took, GpuError>;

    /// Overwrites with zeros what was used of all slabs since the last time: the host's side at once, the device's
    /// before anything that is begun later. Nothing is under way.
    ///
    /// # Errors
    /// The device does not take it.
    fn wipe(&mut self) -> Result<(), GpuError>;
}

/// What a GPU is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name, as its driver tells it.
    pub name: String,
    /// Driver, version and what else people want to know.
    pub detail: String,
    /// Compute capability of NVIDIA's, in tenths, where it is told.
    pub capability: Option<usize>,
    /// Multiprocessors.
    pub units: usize,
    /// Local memory that tables may have in a work-group, in bytes.
    pub local_bytes: usize,
    /// Most work-items of a work-group.
    pub group_items_max: usize,
    /// Largest buffer, in bytes.
    pub buffer_bytes_max: usize,
    /// Whether look-ups in local memory pass a cache, whose time tells of addresses: a processor, or local memory that
    /// is none.
    pub local_is_cached: bool,
    /// Whether this processor plays it, for tests.
    pub is_simulated: bool,
}

/// A lane's memory, by what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slab {
    /// Keys that come with a batch, in records of [`KEY_BYTES`].
    Keys,
    /// Nonces, aads, texts, tags to compare.
    Input,
    /// Descriptors of messages.
    Messages,
    /// Pieces of long messages.
    Pieces,
    /// Texts and results.
    Output,
    /// What is made for each long message; on the device alone.
    Prepared,
    /// What was hashed of each piece; on the device alone.
    Partial,
}

impl Slab {
    /// All of them, as they stand in a [`Room`].
    pub const ALL: [Self; 7] = [
        Self::Keys,
        Self::Input,
        Self::Messages,
        Self::Pieces,
        Self::Output,
        Self::Prepared,
        Self::Partial,
    ];

    /// Whether the host has a side of it.
    #[must_use]
    pub fn is_on_host(self) -> bool {
        !matches!(self, Self::Prepared | Self::Partial)
    }

    /// Its name, for errors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Input => "input",
            Self::Messages => "messages",
            Self::Pieces => "pieces",
            Self::Output => "output",
            Self::Prepared => "prepared",
            Self::Partial => "partial",
        }
    }
}

/// The host's side of a lane's slabs. What somebody else left in them is zeros.
#[derive(Debug)]
pub struct Host<'l> {
    /// [`Slab::Keys`].
    pub keys: &'l mut [u8],
    /// [`Slab::Input`].
    pub input: &'l mut [u8],
    /// [`Slab::Messages`].
    pub messages: &'l mut [u8],
    /// [`Slab::Pieces`].
    pub pieces: &'l mut [u8],
    /// [`Slab::Output`].
    pub output: &'l mut [u8],
}

/// How many bytes each slab has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room([usize; Slab::ALL.len()]);

impl Room {
    /// A slab's bytes.
    #[must_use]
    pub fn of(&self, slab: Slab) -> usize {
        self.0[slab as usize]
    }

    /// The most bytes that a slab has.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.0.into_iter().fold(0, usize::max)
    }

    /// The same with at least so many bytes for a slab.
    #[must_use]
    pub fn with(mut self, slab: Slab, bytes: usize) -> Self {
        let room = &mut self.0[slab as usize];
        *room = bytes.max(*room);
        self
    }
}

/// How large a slab is made that needs so many bytes. Rounds differ a little, and pinning memory takes long: one that grows,
/// grows by more than it has to, up to the device's largest buffer.
#[must_use]
pub fn slab_bytes(needed: usize, buffer_bytes_max: usize) -> usize {
    let roomy = if needed <= LARGE_BYTES {
        needed.next_power_of_two().max(SMALL_BYTES)
    } else {
        needed.checked_next_multiple_of(LARGE_BYTES).unwrap_or(needed)
    };
    roomy.min(buffer_bytes_max / UNIT_BYTES * UNIT_BYTES).max(needed)
}

const SMALL_BYTES: usize = 64 << 10;
const LARGE_BYTES: usize = 16 << 20;

/// A kernel over a lane's slabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: Program,
    /// Which of its kernels.
    pub kernel: Kernel,
    /// Where its messages' keys are.
    pub keys: KeysAt,
    /// Messages in [`Slab::Messages`]; rounds of a kernel that works none.
    pub messages: u32,
    /// Pieces in [`Slab::Pieces`].
    pub pieces: u32,
    /// Work-groups.
    pub groups: usize,
    /// Work-items of each; for the drivers' programs a multiple of 32.
    pub group_items: usize,
}

/// Where the keys of a launch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeysAt {
    /// In the lane's [`Slab::Keys`].
    Lane,
    /// In the slots that [`Gpu::write_keys`] writes.
    Device,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The keys, from where the launch says.
    Keys,
    /// A slab's device side.
    Slab(Slab),
    /// A number.
    Count(u32),
    /// The 256 words of the table T0, which the device has.
    Table,
}

impl Launch {
    /// What is to be wiped of a lane's slabs, now that this was launched there, too.
    #[must_use]
    pub fn leaves(&self, used: Room) -> Room {
        match self.kernel {
            Kernel::LongPrepare
            | Kernel::LongPieces
            | Kernel::LongJoin
            | Kernel::LongFinish
            | Kernel::LongClear => used
                .with(Slab::Prepared, PREPARED_BYTES * self.messages as usize)
                .with(Slab::Partial, PARTIAL_BYTES * self.pieces as usize),
            _ => used,
        }
    }

    /// The kernel's arguments in order. Behind [`Argument::Table`] OpenCL has one more where the program has tables: local
    /// memory of [`Tables::local_bytes`].
    ///
    /// [`Tables::local_bytes`]: crate::variant::Tables::local_bytes
    #[must_use]
    pub fn arguments(&self) -> Vec<Argument> {
        use Argument::{Count, Keys, Table};
        let [input, output, messages, pieces, prepared, partial] = [
            Slab::Input,
            Slab::Output,
            Slab::Messages,
            Slab::Pieces,
            Slab::Prepared,
            Slab::Partial,
        ]
        .map(Argument::Slab);
        let (count, piece_count) = (Count(self.messages), Count(self.pieces));
        match self.kernel {
            Kernel::Many => vec![Keys, input, output, messages, count, Table],
            Kernel::LongPrepare => vec![Keys, input, messages, count, prepared, Table],
            Kernel::LongPieces => {
                vec![input, output, messages, pieces, piece_count, prepared, partial, Table]
            }
            Kernel::LongJoin => vec![messages, pieces, piece_count, prepared, partial],
            Kernel::LongFinish => vec![input, output, messages, count, prepared],
            Kernel::LongClear => vec![output, messages, pieces, piece_count],
            Kernel::Replicated | Kernel::Partitioned => {
                vec![Keys, input, output, messages, count]
            }
            Kernel::Types
            | Kernel::Lop3
            | Kernel::Prmt
            | Kernel::Shf
            | Kernel::Imad
            | Kernel::ImadWide
            | Kernel::Lds
            | Kernel::Bmma => vec![input, output, count],
        }
    }
}

/// What copies and kernels took on the device, each kind added up: those of several lanes overlap. A driver may tell any
/// number, so that sums stay at the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// To the device.
    pub copy_in_ns: u64,
    /// Kernels, and clearing what they write to.
    pub compute_ns: u64,
    /// Back.
    pub copy_out_ns: u64,
}

impl AddAssign for Took {
    fn add_assign(&mut self, other: Self) {
        for (own, more) in [
            (&mut self.copy_in_ns, other.copy_in_ns),
            (&mut self.compute_ns, other.compute_ns),
            (&mut self.copy_out_ns, other.copy_out_ns),
        ] {
            *own = own.saturating_add(more);
        }
    }
}

/// Asks again and again whether something is over. What is over soon is seen at once, because a sleep takes longer than
/// such a copy or kernel; then it sleeps between for an eighth of the time that it took so far, so that nobody spins for
/// long and nobody wakes very late. False when it took longer than `patience`.
///
/// # Errors
/// The question fails.
pub fn poll_patiently(
    patience: Duration,
    mut is_over: impl FnMut() -> Result<bool, GpuError>,
) -> Result<bool, GpuError> {
    let began = Instant::now();
    while !is_over()? {
        let waited = began.elapsed();
        if waited > patience {
            return Ok(false);
        }
        if waited < AWAKE {
            thread::yield_now();
        } else {
            thread::sleep((waited / 8).min(SLEEP_MAX));
        }
    }
    Ok(true)
}

/// As long as the system takes to end a sleep.
const AWAKE: Duration = Duration::from_micros(100);
const SLEEP_MAX: Duration = Duration::from_millis(2);

/// Bytes of a key's record: the raw key, and zeros behind it.
pub const KEY_BYTES: usize = 32;

/// Keys that may stay on a device.
pub const KEY_SLOTS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_has_room_to_grow_up_to_the_largest_buffer_and_what_it_needs_at_least() {
        let most = 1 << 30;
        assert_eq!(slab_bytes(1, most), 64 << 10);
        assert_eq!(slab_bytes(3 << 20, most), 4 << 20);
        assert_eq!(slab_bytes((16 << 20) + 1, most), 32 << 20);
        assert_eq!(slab_bytes((16 << 20) + 1, (20 << 20) + 7), 20 << 20);
        assert_eq!(slab_bytes(3 << 20, 3 << 20), 3 << 20);
        assert_eq!(slab_bytes(3 << 20, 1 << 20), 3 << 20, "the device says that it is too much");
        assert_eq!(slab_bytes(usize::MAX, most), usize::MAX);
    }

    #[test]
    fn times_add_up_and_stay_at_the_largest() {
        let mut took = Took { copy_in_ns: 1, compute_ns: u64::MAX - 1, copy_out_ns: 3 };
        took += Took { copy_in_ns: 10, compute_ns: 20, copy_out_ns: 30 };
        assert_eq!(took, Took { copy_in_ns: 11, compute_ns: u64::MAX, copy_out_ns: 33 });
    }
}
