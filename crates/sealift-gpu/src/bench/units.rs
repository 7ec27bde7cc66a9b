//! How many of an instruction a multiprocessor works in a clock.

use super::layout::{Random, narrow};
use super::loaded::Loaded;
use super::program::LabProgram;
use super::spec::{Grid, lab_group_max, refused};
use super::turn::megabyte_of;
use crate::GpuError;
use crate::gpu::{About, Gpu, KeysAt, Launch, Room, Slab, Took};
use crate::message::LANES;
use crate::variant::Kernel;
use sealift_kernels::copy::copy;
use std::sync::Arc;

/// An instruction of NVIDIA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Logic on three words.
    Lop3,
    /// A permutation of bytes.
    Prmt,
    /// A shift of two words.
    Shf,
    /// A product of words, and one more added.
    Imad,
    /// The same, of which two words come and to which two are added.
    ImadWide,
    /// A look-up in shared memory, each lane in a bank of its own.
    Lds,
    /// A warp's product of matrices of bits: 16 x 256 by 256 x 8.
    Bmma,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Lop3, Self::Prmt, Self::Shf, Self::Imad, Self::ImadWide, Self::Lds, Self::Bmma];

    /// Its instruction.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lop3 => "LOP3",
            Self::Prmt => "PRMT",
            Self::Shf => "SHF",
            Self::Imad => "IMAD",
            Self::ImadWide => "IMAD.WIDE",
            Self::Lds => "LDS",
            Self::Bmma => "BMMA",
        }
    }

    /// That a device has it, where it tells how old it is.
    fn check(self, about: &About) -> Result<(), GpuError> {
        if self != Self::Bmma || about.capability.is_none_or(|capability| capability >= BMMA_SINCE)
        {
            return Ok(());
        }
        let reason = format!(
            "it lacks {}, which came with compute capability {}.{}",
            self.name(),
            BMMA_SINCE / 10,
            BMMA_SINCE % 10
        );
        Err(GpuError::Unfit { device: about.name.clone(), reason })
    }

    fn kernel(self) -> Kernel {
        match self {
            Self::Lop3 => Kernel::Lop3,
            Self::Prmt => Kernel::Prmt,
            Self::Shf => Kernel::Shf,
            Self::Imad => Kernel::Imad,
            Self::ImadWide => Kernel::ImadWide,
            Self::Lds => Kernel::Lds,
            Self::Bmma => Kernel::Bmma,
        }
    }

    fn program(self) -> LabProgram {
        if self == Self::Bmma { LabProgram::Bmma } else { LabProgram::Units }
    }

    /// Bytes that so many work-items are given.
    fn input_bytes(self, items: usize) -> usize {
        if self == Self::Bmma { BMMA_INPUT_BYTES * items } else { 8 }
    }

    /// Bytes that come from a work-item.
    fn output_bytes(self) -> usize {
        if self == Self::Bmma { 16 } else { 4 }
    }

    /// What has to come from all work-items after so many rounds.
    fn expected(self, items: usize, input: &[u8], rounds: u32) -> Vec<u8> {
        let words: Vec<u32> =
            input.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let results: Vec<u32> = match (self, &words[..]) {
            (Self::Bmma, all) => {
                all.chunks(WORDS_A_WARP).flat_map(|warp| ones_in_common(warp, rounds)).collect()
            }
            (_, &[b, c]) => {
                let apart = 0..narrow(items.min(DISTINCT));
                let apart: Vec<_> =
                    apart.map(|item| self.folded_chains(item, [b, c], rounds)).collect();
                apart.into_iter().cycle().take(items).collect()
            }
            _ => vec![],
        };
        results.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// What comes of a work-item's chains, as the kernels of `kernels/lab/units.cl` fold them.
    fn folded_chains(self, item: u32, given: [u32; 2], rounds: u32) -> u32 {
        let begins = (0..CHAINS).map(|chain| begin_of(item, chain));
        let ends = begins.clone().map(|begin| self.end_of(begin, given, rounds));
        let folded = ends.fold(0, |result: u32, end| result.rotate_left(5) ^ end);
        if self == Self::ImadWide {
            return begins.fold(folded, |all, begin| all ^ uppers_of(begin, given[0], rounds));
        }
        folded
    }

    /// Where a chain ends.
    fn end_of(self, begin: u32, [b, c]: [u32; 2], rounds: u32) -> u32 {
        match self {
            Self::Lop3 => walked(begin, rounds, |a| (a & b) ^ c),
            Self::Prmt => walked(begin, rounds, |a| {
                let [first, second, third, last] = a.to_le_bytes();
                u32::from_le_bytes([third, first, second, last])
            }),
            Self::Shf => walked(begin, rounds, |a| a.rotate_left(7)),
            Self::Imad => walked(begin, rounds, |a| a.wrapping_mul(b).wrapping_add(c)),
            Self::ImadWide => walked(begin, rounds, |a| a.wrapping_mul(b)),
            Self::Lds => {
                let skip = (b & !3).wrapping_add(13);
                let step = |entry: u32| (entry * 97).wrapping_add(skip) % ENTRIES;
                walked(begin % ENTRIES, rounds, step)
            }
            Self::Bmma => 0,
        }
    }
}

fn begin_of(item: u32, chain: u32) -> u32 {
    (item + 1).wrapping_mul(2 * chain + 1).wrapping_mul(2_654_435_761)
}

/// The upper words of a chain's products, added up without carries.
fn uppers_of(begin: u32, b: u32, rounds: u32) -> u32 {
    let step = |(a, uppers): (u32, u32)| {
        let upper = (u64::from(a) * u64::from(b)) >> 32;
        (a.wrapping_mul(b), uppers ^ u32::try_from(upper).unwrap_or_default())
    };
    walked((begin, 0), rounds, step).1
}

/// A chain's end.
fn walked<T>(begin: T, rounds: u32, step: impl Fn(T) -> T) -> T {
    (0..rounds).fold(begin, |a, _| step(a))
}

/// The sums of a warp's lanes, from what its lanes bring: of a lane, a left matrix's words of two rows and of two runs of
/// bits, and a right one's words of one column and of these runs (PTX ISA, fragments of `mma.m16n8k256`).
fn ones_in_common(warp: &[u32], rounds: u32) -> Vec<u32> {
    let word = |lane: usize, at: usize| warp[WORDS_A_LANE * lane + at];
    let left = |row: usize, run: usize| word(4 * (row % 8) + run % 4, row / 8 + 2 * (run / 4));
    let right = |column: usize, run: usize| word(4 * column + run % 4, 4 + run / 4);
    let sum = |row: usize, column: usize| {
        let ones = (0..8).map(|run| (left(row, run) & right(column, run)).count_ones());
        CHAINS * rounds * ones.sum::<u32>()
    };
    let lane_sums = |lane: usize| {
        let (row, column) = (lane / 4, lane % 4 * 2);
        [sum(row, column), sum(row, column + 1), sum(row + 8, column), sum(row + 8, column + 1)]
    };
    (0..LANES).flat_map(lane_sums).collect()
}

/// A measurement of an instruction.
pub struct UnitBench {
    unit: Unit,
    grid: Grid,
    rounds: u32,
    loaded: Loaded,
    expected: Vec<u8>,
}

impl UnitBench {
    /// Brings chains of it to a device, runs them once, and checks where they end. Chains are so many rounds long: an odd
    /// number and no multiple of 3, so that what goes in circles does not end where it began.
    ///
    /// # Errors
    /// The device isn't NVIDIA's or is too old, can't be given such a grid, fails, or computes something else; rounds that
    /// chains can't have.
    pub fn new(gpu: &Arc<dyn Gpu>, unit: Unit, grid: Grid, rounds: u32) -> Result<Self, GpuError> {
        grid.check(lab_group_max(gpu.about()))?;
        if rounds.is_multiple_of(2) || rounds.is_multiple_of(3) || rounds > ROUNDS_MAX {
            let right = format!("an odd number up to {ROUNDS_MAX} and no multiple of 3");
            return Err(refused(format!("chains have {right} of rounds, and not {rounds}")));
        }
        unit.check(gpu.about())?;
        if unit == Unit::Bmma {
            grid.check_warps(unit.name())?;
        }
        let launch = Launch {
            program: unit.program().into(),
            kernel: unit.kernel(),
            keys: KeysAt::Lane,
            messages: rounds,
            pieces: 0,
            groups: grid.groups,
            group_items: grid.group_items,
        };
        let mut input = vec![0; unit.input_bytes(grid.items())];
        Random(SEED).fill(&mut input);
        let expected = unit.expected(grid.items(), &input, rounds);
        let room = Room::default()
            .with(Slab::Input, input.len())
            .with(Slab::Output, unit.output_bytes() * grid.items());
        let loaded =
            Loaded::new(&**gpu, vec![launch], (room, megabyte_of(unit.output_bytes())), |host| {
                copy(&mut host.input[..input.len()], &input);
            })?;
        let mut bench = Self { unit, grid, rounds, loaded, expected };
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

    /// Checks where each work-item's chains ended in the runs since the last check, and returns how many work-items they
    /// are. There was a run.
    ///
    /// # Errors
    /// The device fails, or computes something else: the first that differs.
    pub fn check(&mut self) -> Result<u64, GpuError> {
        let bytes = self.unit.output_bytes();
        let (_, output) = self.loaded.output()?;
        let (made, right) = (output.chunks(bytes), self.expected.chunks(bytes));
        let compared = made.len() as u64;
        let wrong = made.zip(right).position(|(made, right)| made != right);
        let Some(item) = wrong else { return Ok(compared) };
        let what = format!("work-item {item} ends elsewhere with {}", self.unit.name());
        Err(GpuError::Wrong { device: self.loaded.device.clone(), what })
    }

    /// Instructions that a run works, each for every lane of its warp.
    #[must_use]
    pub fn lane_operations(&self) -> u64 {
        u64::from(CHAINS * self.rounds) * self.grid.items() as u64
    }
}

/// As the programs are compiled with.
const CHAINS: u32 = 8;
/// Work-items that begin apart, as `kernels/lab/units.cl` has it.
const DISTINCT: usize = 1_024;
/// So that no sum of ones in common is more than 32 bits have.
const ROUNDS_MAX: u32 = 1 << 20;
const ENTRIES: u32 = 256;
/// Words that a lane brings for matrices: four, two, and two that nobody reads.
const WORDS_A_LANE: usize = 8;
const WORDS_A_WARP: usize = LANES * WORDS_A_LANE;
/// In tenths; its program is compiled for that.
const BMMA_SINCE: usize = 80;
const BMMA_INPUT_BYTES: usize = 4 * WORDS_A_LANE;
/// Its first word is odd: what is multiplied by it again and again does not become zero.
const SEED: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn products_of_bits_are_counted_where_ptx_has_them() {
        let mut warp = vec![0; WORDS_A_WARP];
        // Bit 130 of row 9 on the left, which lane 4 has in its fourth word, and of column 5 on the right, lane 20.
        warp[WORDS_A_LANE * 4 + 3] = 1 << 2;
        warp[WORDS_A_LANE * 20 + 5] = 1 << 2;
        let sums = ones_in_common(&warp, ROUNDS);
        // Lane 6 has row 9 and column 5 in its fourth sum.
        let expected: Vec<u32> =
            (0..128).map(|at| if at == 4 * 6 + 3 { CHAINS * ROUNDS } else { 0 }).collect();
        assert_eq!(sums, expected);
    }

    #[test]
    fn a_device_from_before_products_of_bits_lacks_them_and_nothing_else() {
        let since =
            |capability| About { capability: Some(capability), ..Fake::new().about().clone() };
        let told = Unit::Bmma.check(&since(75)).unwrap_err().to_string();
        assert_eq!(
            told,
            "fake is of no use here: it lacks BMMA, which came with compute capability 8.0"
        );
        assert!(Unit::Bmma.check(&since(80)).is_ok() && Unit::Lop3.check(&since(75)).is_ok());
    }

    #[test]
    fn chains_end_elsewhere_than_they_begin_and_depend_on_their_item() {
        let mut input = [0; 8];
        Random(SEED).fill(&mut input);
        assert_eq!(input[0] % 2, 1);
        for unit in Unit::ALL.into_iter().filter(|unit| *unit != Unit::Bmma) {
            let made = unit.expected(64, &input, ROUNDS);
            let distinct: std::collections::HashSet<_> = made.chunks(4).collect();
            assert!(distinct.len() > 32, "{unit:?}");
            let begin = 0x1234_5678;
            assert_ne!(unit.end_of(begin, [0x0fff_1001, 77], ROUNDS), begin, "{unit:?}");
            let more = unit.expected(DISTINCT + 64, &input, 5);
            assert_eq!(more[4 * DISTINCT..], more[..4 * 64], "{unit:?}");
        }
    }

    #[test]
    fn chains_that_would_end_where_they_begin_are_refused() {
        let gpu: Arc<dyn Gpu> = Arc::new(Fake::new());
        let grid = Grid { groups: 1, group_items: 32 };
        for rounds in [0, 2, 9, ROUNDS_MAX + 1] {
            let error = UnitBench::new(&gpu, Unit::Shf, grid, rounds).err().unwrap().to_string();
            assert!(
                error.contains(&format!("no multiple of 3 of rounds, and not {rounds}")),
                "{error}"
            );
        }
    }

    const ROUNDS: u32 = 1_021;
}
