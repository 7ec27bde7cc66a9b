//! The kernels, worked by the processor from the same descriptors.

mod lab;
mod long;
mod message;

use crate::code::{Code, LAUNCH_FAILED};
use crate::world::{Launch, Memory};
use lab::Unit;
use message::{MESSAGE_BYTES, Message, Slabs};
use sealift_core::KeyLength;
use sealift_gpu::bench::LabProgram;
use sealift_gpu::cuda::ptx;
use sealift_gpu::program::Program;
use sealift_gpu::t0;
use sealift_gpu::variant::{Kernel as Named, Tables, Variant};

/// A kernel of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    program: Program,
    body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Many,
    LongPrepare,
    LongPieces,
    LongJoin,
    LongFinish,
    LongClear,
    Replicated,
    Partitioned,
    Chains(Unit),
    BitProducts,
}

impl Kernel {
    /// A kernel of a program that is shipped. Those that multiply matrices of numbers are not played.
    pub(crate) fn named(name: &str, text: &str) -> Option<Self> {
        let of_drivers = Variant::all().map(Program::Driver);
        let mut programs = of_drivers.chain(LabProgram::all().map(Program::Lab));
        let program = programs.find(|program| ptx(*program) == Some(text))?;
        let kernel = program.kernels().iter().find(|kernel| kernel.name() == name)?;
        Some(Self { program, body: Body::of(*kernel)? })
    }

    /// Whether drivers launch it, which they do in whole warps.
    pub(crate) fn is_of_drivers(self) -> bool {
        matches!(self.program, Program::Driver(_))
    }

    /// Its arguments as the kernels' source has them: `p` for an address, `n` for a number.
    fn signature(self) -> &'static str {
        match self.body {
            Body::Many => "ppppnp",
            Body::LongPrepare => "pppnpp",
            Body::LongPieces => "ppppnppp",
            Body::LongJoin => "ppnpp",
            Body::LongFinish => "pppnp",
            Body::LongClear => "pppn",
            Body::Replicated | Body::Partitioned => "ppppn",
            Body::Chains(_) | Body::BitProducts => "ppn",
        }
    }

    /// Bytes of its arguments, each at a multiple of its size.
    pub(crate) fn argument_bytes(self) -> usize {
        self.signature().chars().fold(0, |at, kind| place(kind, at).1)
    }

    /// Dynamic shared memory that it uses.
    pub(crate) fn shared_bytes(self) -> u32 {
        let Program::Driver(Variant { tables, .. }) = self.program else { return 0 };
        match (self.body, tables) {
            (Body::LongJoin | Body::LongFinish | Body::LongClear, _) | (_, Tables::None) => 0,
            (_, Tables::OneShared) => 1 << 10,
            (_, Tables::OneForEachLane) => 32 << 10,
            // The tables, and what they take to begin at a multiple of 64 KiB.
            (_, Tables::FourForEachLane) => 192 << 10,
        }
    }

    /// The values of packed arguments.
    fn values(self, packed: &[u8]) -> Vec<u64> {
        let mut at = 0;
        let values = self.signature().chars().map(|kind| {
            let (start, end) = place(kind, at);
            at = end;
            let mut value = [0; 8];
            value.iter_mut().zip(&packed[start..end]).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(value)
        });
        values.collect()
    }
}

impl Body {
    fn of(kernel: Named) -> Option<Self> {
        Some(match kernel {
            Named::Many => Self::Many,
            Named::LongPrepare => Self::LongPrepare,
            Named::LongPieces => Self::LongPieces,
            Named::LongJoin => Self::LongJoin,
            Named::LongFinish => Self::LongFinish,
            Named::LongClear => Self::LongClear,
            Named::Replicated => Self::Replicated,
            Named::Partitioned => Self::Partitioned,
            Named::Types => return None,
            Named::Lop3 => Self::Chains(Unit::Lop3),
            Named::Prmt => Self::Chains(Unit::Prmt),
            Named::Shf => Self::Chains(Unit::Shf),
            Named::Imad => Self::Chains(Unit::Imad),
            Named::ImadWide => Self::Chains(Unit::ImadWide),
            Named::Lds => Self::Chains(Unit::Lds),
            Named::Bmma => Self::BitProducts,
        })
    }
}

/// Where an argument begins and ends behind others.
fn place(kind: char, at: usize) -> (usize, usize) {
    let bytes = if kind == 'p' { 8 } else { 4 };
    let start = at.next_multiple_of(bytes);
    (start, start + bytes)
}

/// Does what a kernel does.
pub(crate) fn run(launch: &Launch, memory: &mut Memory) -> Result<(), Code> {
    let Kernel { program, body } = launch.kernel;
    let (values, items) = (launch.kernel.values(&launch.arguments), launch.items);
    let length = match program {
        Program::Driver(Variant { key, .. }) | Program::Lab(LabProgram::Published(key)) => key,
        Program::Lab(_) => KeyLength::Aes128,
    };
    match (body, &values[..]) {
        (Body::Many, &[keys, input, output, messages, count, table]) => {
            check_table(memory, table)?;
            let slabs = Slabs { input, output };
            (0..count).try_for_each(|number| {
                let message = Message::read(memory, messages + MESSAGE_BYTES * number)?;
                let key = message.key(memory, keys, length)?;
                message.work(memory, &key, &slabs)
            })
        }
        (Body::LongPrepare, &[keys, _, messages, count, prepared, table]) => {
            check_table(memory, table)?;
            (0..count).try_for_each(|number| {
                let message = Message::read(memory, messages + MESSAGE_BYTES * number)?;
                let key = message.key(memory, keys, length)?;
                long::prepare(memory, &key, prepared, number)
            })
        }
        (Body::LongPieces, &[_, output, messages, pieces, count, prepared, partial, table]) => {
            check_table(memory, table)?;
            let at = long::Places { output, messages, pieces, prepared, partial };
            (0..count).try_for_each(|number| long::piece(memory, &at, number))
        }
        (Body::LongJoin, &[messages, pieces, count, prepared, partial]) => {
            let at = long::Places { output: 0, messages, pieces, prepared, partial };
            (0..count).try_for_each(|number| long::join(memory, &at, number))
        }
        (Body::LongFinish, &[input, output, messages, count, prepared]) => {
            let slabs = Slabs { input, output };
            (0..count).try_for_each(|number| {
                let message = Message::read(memory, messages + MESSAGE_BYTES * number)?;
                let key = long::key(memory, &message, prepared, number, length)?;
                message.work_long(memory, &key, &slabs)
            })
        }
        (Body::LongClear, &[output, messages, pieces, count]) => {
            (0..count).try_for_each(|number| long::clear(memory, output, messages, pieces, number))
        }
        (Body::Partitioned, &[keys, input, output, messages, count]) => {
            let slabs = Slabs { input, output };
            (0..count).try_for_each(|number| {
                let message = Message::read(memory, messages + MESSAGE_BYTES * number)?;
                let key = message.key(memory, keys, length)?;
                message.work(memory, &key, &slabs)
            })
        }
        (Body::Replicated, &[keys, input, output, messages, count]) => {
            lab::checksums(memory, (keys, input, output, messages), (count, items), length)
        }
        (Body::Chains(unit), &[input, output, rounds]) => {
            lab::chains(memory, unit, (input, output), (rounds, items))
        }
        (Body::BitProducts, &[input, output, rounds]) => {
            lab::bit_products(memory, (input, output), (rounds, items))
        }
        _ => Err(LAUNCH_FAILED),
    }
}

/// Checks that a kernel is given the table that it looks up in.
fn check_table(memory: &Memory, table: u64) -> Result<(), Code> {
    let expected: Vec<u8> = t0().iter().flat_map(|word| word.to_le_bytes()).collect();
    if memory.read(table, expected.len())? == expected { Ok(()) } else { Err(LAUNCH_FAILED) }
}
