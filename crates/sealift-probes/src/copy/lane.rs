//! What one thread of a copying arm does, and what of it is looked at.

use super::buffer::Buffer;
use super::compare;
use super::evict::{await_evictions, evict};
use super::movers::Lap;
use super::route::Route;
use super::spec::{Operation, State};
use crate::ArmError;
use crate::crew::{Done, Part};
use crate::random::Random;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread's way, with what stands at both of its sides.
pub(super) struct Lane {
    pub(super) route: Route,
    pub(super) lap: Lap,
    pub(super) operation: Operation,
    pub(super) state: State,
    pub(super) name: String,
    /// Whether it prepares and compares: of those that share buffers the first one does.
    pub(super) is_owner: bool,
    /// Both stay as long as the lane.
    pub(super) buffers: [Arc<Buffer>; 2],
    /// How many lanes are still at work.
    pub(super) busy: Arc<AtomicUsize>,
    pub(super) turn: Turn,
}

/// What is different from sample to sample.
#[derive(Default)]
pub(super) struct Turn {
    samples: usize,
    first: usize,
    times: usize,
    sum: u64,
    /// What is written where nothing is copied.
    pattern: Box<Pattern>,
    /// By place what reading it gives.
    sums: Vec<u64>,
    pub(super) compared: u64,
}

/// As long as the widest register, and not across two lines.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Pattern([u64; 8]);

// SAFETY: only one thread at a time looks at the places of a lane, or all of them write the same.
unsafe impl Send for Lane {}

impl Lane {
    /// Takes down what reading each place gives.
    pub(super) fn learn(&mut self) {
        if self.operation == Operation::Read {
            let places = 0..self.route.places();
            self.turn.sums = places.map(|place| self.words_at(place)).collect();
        }
    }

    fn words_at(&self, place: usize) -> u64 {
        let start = self.route.from.wrapping_add(place * self.route.stride);
        compare::fold(start, self.route.len)
    }

    /// The places of this sample that are compared, and which part of each.
    fn compared_parts(&self) -> (impl Iterator<Item = usize> + use<>, Range<usize>) {
        let (len, turn) = (self.route.len, &self.turn);
        let most = (COMPARED_BYTES / len).clamp(1, turn.times.max(1));
        let skipped = turn.samples.wrapping_mul(most) % (turn.times - most.min(turn.times) + 1);
        let numbers = self.route.places_from(turn.first, turn.times).skip(skipped).take(most);
        // A way of one place comes by it again and again.
        let numbers = numbers.take(self.route.places());
        let part = COMPARED_BYTES.min(len);
        // Whole lines, so that it begins with a whole pattern.
        let begin = turn.samples.wrapping_mul(part) % (len - part + 1) / 64 * 64;
        (numbers, begin..begin + part)
    }

    fn target(&self, place: usize, part: &Range<usize>) -> *mut u8 {
        self.route.to.wrapping_add(place * self.route.stride + part.start)
    }

    /// Makes sure that what is compared afterwards isn't there before.
    fn spoil(&mut self) {
        let (numbers, part) = self.compared_parts();
        for place in numbers {
            // SAFETY: the part lies in the destination, which no other thread touches now.
            unsafe { self.target(place, &part).write_bytes(SPOILT, part.len()) };
        }
    }

    fn renew_pattern(&mut self) {
        let word = Random::new(self.turn.samples as u64, 0).next_u64();
        let word = if self.operation == Operation::Fill { word & 0xff } else { word };
        let ones = if self.operation == Operation::Fill { u64::MAX / 0xff } else { 1 };
        self.turn.pattern.0 = [word.wrapping_mul(ones); 8];
        self.route.from = (&raw const *self.turn.pattern).cast();
    }

    fn evict(&self) {
        for place in self.route.places_from(self.turn.first, self.turn.times) {
            let skip = place * self.route.stride;
            if matches!(self.operation, Operation::Copy | Operation::Read) {
                evict(self.route.from.wrapping_add(skip), self.route.len);
            }
            if self.operation != Operation::Read {
                evict(self.route.to.wrapping_add(skip), self.route.len);
            }
        }
        await_evictions();
    }

    fn error(&self, what: String) -> ArmError {
        ArmError::Wrong { device: self.name.clone(), what }
    }

    /// What the loop itself gave: calls that failed, or what was read.
    fn check_sum(&self) -> Result<(), ArmError> {
        match (self.operation, self.turn.sum) {
            (Operation::Read, _) => self.check_read(),
            (_, 0) => Ok(()),
            (_, short) => Err(self.error(format!("{short} calls of the system were short"))),
        }
    }

    /// What is there now, of which one lane speaks for all that share it.
    fn check_memory(&mut self) -> Result<(), ArmError> {
        match self.operation {
            Operation::Copy => self.check_copied()?,
            Operation::Read => {}
            Operation::Write | Operation::Fill => self.check_written()?,
        }
        if self.operation == Operation::Copy && self.state == State::Beyond {
            // For the next time it comes by: spoiling before would bring a file's pages into memory.
            self.spoil();
        }
        Ok(())
    }

    fn check_copied(&self) -> Result<(), ArmError> {
        let (numbers, part) = self.compared_parts();
        for place in numbers {
            let from = self.route.from.wrapping_add(place * self.route.stride + part.start);
            compare::alike(self.target(place, &part), from, part.len()).map_err(|byte| {
                self.error(format!(
                    "byte {} of copy {place} is not its source's",
                    part.start + byte
                ))
            })?;
        }
        Ok(())
    }

    fn check_read(&self) -> Result<(), ArmError> {
        let places = self.route.places_from(self.turn.first, self.turn.times);
        let expected = places.fold(0_u64, |sum, place| sum.wrapping_add(self.turn.sums[place]));
        if expected == self.turn.sum {
            return Ok(());
        }
        Err(self.error(format!("the words read sum up to {}, not {expected}", self.turn.sum)))
    }

    fn check_written(&self) -> Result<(), ArmError> {
        let (numbers, part) = self.compared_parts();
        let bytes: Vec<u8> =
            self.turn.pattern.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        let expected: Vec<u8> = bytes.iter().copied().cycle().take(part.len()).collect();
        // Parts begin with whole patterns.
        for place in numbers {
            compare::same(self.target(place, &part), &expected).map_err(|byte| {
                self.error(format!("byte {} of place {place} was not written", part.start + byte))
            })?;
        }
        Ok(())
    }
}

impl Part for Lane {
    fn ready(&mut self, times: usize) {
        self.turn.times = times;
        self.turn.samples = self.turn.samples.wrapping_add(1);
        match self.operation {
            Operation::Copy if self.is_owner && self.state != State::Beyond => self.spoil(),
            Operation::Copy | Operation::Read => {}
            Operation::Write | Operation::Fill => self.renew_pattern(),
        }
        if self.state == State::Cold && self.is_owner {
            self.evict();
        }
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        // SAFETY: the route lies in the lane's two buffers, and the function was found to run here.
        self.turn.sum = unsafe { (self.lap)(&self.route, self.turn.first, times) };
        self.busy.fetch_sub(1, Ordering::AcqRel);
        Ok(Done { operations: times as u64, bytes: (times * self.route.len) as u64 })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        self.check_sum()?;
        if self.is_owner {
            self.check_memory()?;
            self.turn.compared += 1;
        }
        let last = self.route.places_from(self.turn.first, self.turn.times).last();
        self.turn.first = last.map_or(0, |place| self.route.after(place));
        Ok(())
    }
}

/// Of each thread's destination after each sample, in turn from other places.
const COMPARED_BYTES: usize = 1 << 20;
const SPOILT: u8 = 0x5a;
