//! Arithmetic on types of numbers: products of small matrices, one after the other in each work-item.

use super::layout::narrow;
use super::loaded::Loaded;
use super::program::LabProgram;
use super::spec::{Grid, lab_group_max};
use super::turn::megabyte_of;
use crate::GpuError;
use crate::gpu::{Gpu, KeysAt, Launch, Room, Slab, Took};
use crate::variant::Kernel;
use sealift_kernels::copy::copy;
use std::sync::Arc;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Integers of 32 bits.
    Int,
    /// Integers of 64 bits.
    Long,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// 32 bits, where a literal in the source is of 64: what it multiplies is converted there and back.
    FloatWithDoubleLiteral,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Int, Self::Long, Self::Float, Self::Double, Self::FloatWithDoubleLiteral];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::FloatWithDoubleLiteral => "float with double literal",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Int | Self::Float | Self::FloatWithDoubleLiteral => 4,
            Self::Long | Self::Double => 8,
        }
    }

    /// The matrix that others are multiplied by, as it lies in memory: odd integers, or numbers so small that products,
    /// taken by the literal, are means.
    fn matrix(self) -> Vec<u8> {
        let bytes = |at: u8| match self {
            Self::Int => u32::from(2 * at + 1).to_le_bytes().to_vec(),
            Self::Long => u64::from(2 * at + 1).to_le_bytes().to_vec(),
            Self::Float | Self::FloatWithDoubleLiteral => {
                (f32::from(weight(at)) / 7.8).to_le_bytes().to_vec()
            }
            Self::Double => (f64::from(weight(at)) / 7.8).to_le_bytes().to_vec(),
        };
        (0..9).flat_map(bytes).collect()
    }

    /// Whether a work-item's result is right: to the last bit, or, of numbers that are rounded, nearly.
    fn is_right(self, item: u32, made: &[u8]) -> bool {
        let (low, high) = made.split_at(4);
        let word = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        let (low, high) = (word(low), word(high));
        let double = f64::from_bits(u64::from(high) << 32 | u64::from(low));
        let single = f64::from(f32::from_bits(low));
        match self {
            Self::Int => u64::from(low) == sum_of_integers(item) & u64::from(u32::MAX),
            Self::Long => u64::from(high) << 32 | u64::from(low) == sum_of_integers(item),
            Self::Float | Self::FloatWithDoubleLiteral => is_near(single, item, 1e-3),
            Self::Double => is_near(double, item, 1e-10),
        }
    }
}

/// Each row and each column of weights sums up to 6.
fn weight(at: u8) -> u8 {
    1 + (at / 3 + at % 3) % 3
}

/// What the kernel makes of integers, in 64 bits.
fn sum_of_integers(item: u32) -> u64 {
    let b: [u64; 9] = std::array::from_fn(|at| 2 * at as u64 + 1);
    let mut a: [u64; 9] = std::array::from_fn(|at| u64::from(item) + at as u64);
    for _ in 0..ROUNDS {
        a = std::array::from_fn(|at| {
            let products = (0..3).map(|j| a[at / 3 * 3 + j].wrapping_mul(b[3 * j + at % 3]));
            products.fold(0, u64::wrapping_add).wrapping_mul(3)
        });
    }
    a.into_iter().fold(0, u64::wrapping_add)
}

/// Each round gives each row its mean, so that the sum stays what it was.
fn is_near(made: f64, item: u32, error: f64) -> bool {
    let sum = 9.0 * f64::from(item) + 36.0;
    (made - sum).abs() <= error * sum
}

/// A measurement of a type of numbers.
pub struct TypesBench {
    of: Type,
    grid: Grid,
    loaded: Loaded,
}

impl TypesBench {
    /// Brings it to a device, runs it once, and checks what came out.
    ///
    /// # Errors
    /// The device has no such numbers or can't be given such a grid, fails, or computes something else.
    pub fn new(gpu: &Arc<dyn Gpu>, of: Type, grid: Grid) -> Result<Self, GpuError> {
        grid.check(lab_group_max(gpu.about()))?;
        let matrix = of.matrix();
        let room = Room::default()
            .with(Slab::Input, matrix.len())
            .with(Slab::Output, of.bytes() * grid.items());
        let launch = Launch {
            program: LabProgram::Types(of).into(),
            kernel: Kernel::Types,
            keys: KeysAt::Lane,
            messages: ROUNDS,
            pieces: 0,
            groups: grid.groups,
            group_items: grid.group_items,
        };
        let loaded = Loaded::new(&**gpu, vec![launch], (room, megabyte_of(of.bytes())), |host| {
            copy(&mut host.input[..matrix.len()], &matrix);
        })?;
        let mut bench = Self { of, grid, loaded };
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

    /// Runs it so many times, and waits for the end.
    ///
    /// # Errors
    /// The device fails.
    pub fn run(&mut self, times: u32) -> Result<Took, GpuError> {
        self.loaded.run(times)
    }

    /// Checks what each work-item computed in the runs since the last check, and returns how many they are. There was a
    /// run.
    ///
    /// # Errors
    /// The device fails, or computes something else: the first that differs.
    pub fn check(&mut self) -> Result<u64, GpuError> {
        let of = self.of;
        let (_, output) = self.loaded.output()?;
        let results = output.chunks(of.bytes());
        let compared = results.len() as u64;
        let wrong = (0..).zip(results).find(|(item, made)| {
            let mut whole = [0; 8];
            copy(&mut whole[..made.len()], made);
            !of.is_right(narrow(*item), &whole)
        });
        let Some((item, made)) = wrong else { return Ok(compared) };
        let what = format!(
            "work-item {item} made {made:02x?} of matrices of {}, on {:?}",
            of.name(),
            self.grid
        );
        Err(GpuError::Wrong { device: self.loaded.device.clone(), what })
    }

    /// Products that a run makes: 27 and their sums, and 9 by a literal, in each round of each work-item.
    #[must_use]
    pub fn operations(&self) -> u64 {
        36 * u64::from(ROUNDS) * self.grid.items() as u64
    }
}

const ROUNDS: u32 = 512;
