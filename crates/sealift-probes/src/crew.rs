//! Runs the threads of an arm at the same time and takes down how it went.

use crate::clock::clock_ghz_now;
use crate::cores::Cores;
use crate::line::Line;
use crate::system::{Usage, steal_ns};
use crate::{ArmError, Sample};
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

/// The longest sample in seconds, so that a caller can look for a wish to stop.
pub const SAMPLE_SECONDS_MAX: f64 = 0.1;

/// What one thread does again and again.
pub trait Part: Send {
    /// Gets ready for so much work, before the clock is started.
    fn ready(&mut self, _times: usize) {}

    /// Does it so many times.
    ///
    /// # Errors
    /// Something failed, or computed something wrong.
    fn work(&mut self, times: usize) -> Result<Done, ArmError>;

    /// Checks what the last work gave, after the clocks of all threads were stopped.
    ///
    /// # Errors
    /// It gave something wrong.
    fn check(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}

/// What a thread has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    /// Operations.
    pub operations: u64,
    /// Bytes of their payload.
    pub bytes: u64,
}

/// The threads of an arm, the calling thread being the first.
pub struct Crew {
    cores: Cores,
    once_s: f64,
}

impl Crew {
    /// So many threads, each kept to a core of its own while there are enough.
    #[must_use]
    pub fn of(threads: usize) -> Self {
        Self { cores: Cores::of(threads), once_s: 0.0 }
    }

    /// Threads that run anywhere, for what leaves the cores to others.
    pub(crate) fn anywhere() -> Self {
        Self { cores: Cores::default(), once_s: 0.0 }
    }

    /// The cores that the threads keep to; none when they run anywhere.
    #[must_use]
    pub fn cores(&self) -> &[usize] {
        self.cores.numbers()
    }

    /// How often the work is done in so many seconds or a little more, at most [`SAMPLE_SECONDS_MAX`], by
    /// the samples before.
    #[must_use]
    pub fn times_for(&self, seconds: f64) -> usize {
        let wanted = seconds.clamp(0.0, SAMPLE_SECONDS_MAX) / self.once_s.max(1e-9);
        #[expect(clippy::cast_possible_truncation, reason = "clamped to 1e9")]
        #[expect(clippy::cast_sign_loss, reason = "clamped to 1")]
        let times = wanted.clamp(1.0, 1e9).ceil() as usize;
        times
    }

    /// Has every part do its work so many times, all of them at the same time.
    ///
    /// The calling thread gets its own cores back afterwards.
    ///
    /// # Errors
    /// A part failed, a thread couldn't be started or kept to its core.
    pub fn run<P: Part>(&mut self, parts: &mut [P], times: usize) -> Result<Sample, ArmError> {
        let turns = self.turns(parts, times)?;
        let sample = merge(&turns);
        self.pace(Duration::from_nanos(sample.ns).as_secs_f64() / count(times));
        Ok(sample)
    }

    /// Takes the new pace, but not one that is more than twice as slow: one disturbed sample shouldn't
    /// make the next one too short.
    fn pace(&mut self, once_s: f64) {
        self.once_s = if self.once_s > 0.0 { once_s.min(2.0 * self.once_s) } else { once_s };
    }

    fn turns<P: Part>(&self, parts: &mut [P], times: usize) -> Result<Vec<Turn>, ArmError> {
        let (track, threads) = (Track::of(parts.len()), parts.len());
        let Some((own, others)) = parts.split_first_mut() else { return Ok(vec![]) };
        thread::scope(|scope| {
            let mut running = vec![];
            for (at, part) in others.iter_mut().enumerate() {
                let (thread, track) = (at + 1, &track);
                let named = thread::Builder::new().name(format!("sealift-probe-{thread}"));
                let turn = move || turn(part, times, track, &self.cores, thread);
                match named.spawn_scoped(scope, turn) {
                    Ok(handle) => running.push(handle),
                    Err(error) => {
                        track.start.give_up();
                        track.finish.give_up();
                        let reason = error.to_string();
                        return Err(ArmError::Thread { thread, threads, reason });
                    }
                }
            }
            let mut turns = vec![turn(own, times, &track, &self.cores, 0)];
            turns.extend(
                running.into_iter().map(|one| one.join().unwrap_or_else(|p| resume_unwind(p))),
            );
            turns.into_iter().collect()
        })
    }
}

/// Where the threads wait for each other.
struct Track {
    start: Line,
    /// Nobody checks while another one is timed: it would take memory's time from it.
    finish: Line,
}

impl Track {
    fn of(threads: usize) -> Self {
        Self { start: Line::new(threads), finish: Line::new(threads) }
    }
}

/// What one thread did in one sample.
struct Turn {
    start: Instant,
    end: Instant,
    done: Done,
    switches: u64,
    cpu_share: f64,
    /// From all cores, until the last thread had ended; 0 in all turns but the calling thread's.
    steal_ns: u64,
    /// Of the calling thread's core, right after its turn.
    clock_ghz: Option<f64>,
}

fn turn<P: Part>(
    part: &mut P,
    times: usize,
    track: &Track,
    cores: &Cores,
    thread: usize,
) -> Result<Turn, ArmError> {
    // Whoever fails or panics on the way lets the others go, or they would wait for ever.
    let (start_line, finish_line) = (track.start.promise(), track.finish.promise());
    let _kept = cores.keep(thread)?;
    part.ready(times);
    let stolen_before_ns = first(thread, steal_ns);
    start_line.wait();
    let before = Usage::now();
    let start = Instant::now();
    let done = part.work(times)?;
    let end = Instant::now();
    let (switches, cpu_share) = before.since();
    let clock_ghz = first(thread, clock_ghz_now);
    finish_line.wait();
    let stolen_ns = first(thread, steal_ns).zip(stolen_before_ns);
    part.check()?;
    let steal_ns = stolen_ns.map_or(0, |(after, before)| after.saturating_sub(before));
    Ok(Turn { start, end, done, switches, cpu_share, steal_ns, clock_ghz })
}

/// What only the calling thread looks up.
fn first<T>(thread: usize, look: impl FnOnce() -> Option<T>) -> Option<T> {
    if thread == 0 { look() } else { None }
}

fn merge(turns: &[Turn]) -> Sample {
    let start = turns.iter().map(|turn| turn.start).min();
    let end = turns.iter().map(|turn| turn.end).max();
    let wall = end.zip(start).map_or(Duration::ZERO, |(end, start)| end - start);
    Sample {
        ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX).max(1),
        operations: turns.iter().map(|turn| turn.done.operations).sum(),
        bytes: turns.iter().map(|turn| turn.done.bytes).sum(),
        involuntary_switches: turns.iter().map(|turn| turn.switches).sum(),
        cpu_share: turns.iter().map(|turn| turn.cpu_share).fold(1.0, f64::min),
        steal_ns: turns.iter().map(|turn| turn.steal_ns).sum(),
        clock_ghz: turns.iter().find_map(|turn| turn.clock_ghz),
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 1e9")]
fn count(times: usize) -> f64 {
    times as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::sleep;

    struct Sleeper {
        fails: bool,
    }

    impl Part for Sleeper {
        fn work(&mut self, times: usize) -> Result<Done, ArmError> {
            (0..times).for_each(|_| sleep(Duration::from_millis(2)));
            if self.fails {
                return Err(ArmError::Stopped { device: "sleeper".into() });
            }
            Ok(Done { operations: times as u64, bytes: 10 * times as u64 })
        }
    }

    fn sleepers<const N: usize>(fails: [bool; N]) -> [Sleeper; N] {
        fails.map(|fails| Sleeper { fails })
    }

    #[test]
    fn threads_work_at_the_same_time_and_are_summed() {
        for threads in [1, 2, 40] {
            let mut crew = Crew::of(threads);
            let mut parts: Vec<_> = (0..threads).map(|_| Sleeper { fails: false }).collect();
            let sample = crew.run(&mut parts, 3).unwrap();
            assert_eq!(sample.operations, 3 * threads as u64);
            assert_eq!(sample.bytes, 30 * threads as u64);
            assert!(sample.ns > 6_000_000, "{} ns", sample.ns);
            assert!(sample.cpu_share < 0.5, "asleep and yet {} of the time", sample.cpu_share);
            assert_eq!(sample.clock_ghz.is_some(), cfg!(target_arch = "x86_64"));
        }
    }

    #[test]
    fn a_disturbed_sample_does_not_make_the_next_one_tiny() {
        let mut crew = Crew::of(1);
        crew.pace(0.001);
        crew.pace(0.050);
        assert_eq!(crew.times_for(0.01), 5);
        crew.pace(0.000_1);
        assert_eq!(crew.times_for(0.01), 100);
    }

    #[test]
    fn the_time_of_the_last_sample_tells_how_often_the_next_one_goes() {
        let mut crew = Crew::of(1);
        assert_eq!(crew.times_for(-1.0), 1);
        let sample = crew.run(&mut sleepers([false]), 2).unwrap();
        assert_eq!(crew.times_for(0.0), 1);
        // Of 2 ms each, or more on a busy machine.
        let (most, each_ns) = (crew.times_for(1e9), sample.ns / 2);
        let right = usize::try_from(100_000_000 / each_ns).unwrap().max(1);
        assert!(most.abs_diff(right) <= 1, "{most} times {each_ns} ns in 100 ms");
    }

    #[test]
    fn nobody_checks_before_the_last_clock_is_stopped() {
        struct Checked<'c>(Duration, &'c AtomicUsize);
        impl Part for Checked<'_> {
            fn work(&mut self, _: usize) -> Result<Done, ArmError> {
                sleep(self.0);
                assert_eq!(self.1.load(Ordering::Acquire), 0);
                Ok(Done::default())
            }

            fn check(&mut self) -> Result<(), ArmError> {
                self.1.fetch_add(1, Ordering::AcqRel);
                Ok(())
            }
        }
        let checked = AtomicUsize::new(0);
        let mut parts = [0, 20].map(|ms| Checked(Duration::from_millis(ms), &checked));
        Crew::of(2).run(&mut parts, 1).unwrap();
        assert_eq!(checked.load(Ordering::Acquire), 2);
    }

    #[test]
    fn a_part_that_panics_leaves_nobody_waiting() {
        struct Panics(bool);
        impl Part for Panics {
            fn work(&mut self, _: usize) -> Result<Done, ArmError> {
                assert!(!self.0, "planned");
                Ok(Done::default())
            }
        }
        for panics in [[true, false], [false, true]] {
            let run = || Crew::of(2).run(&mut panics.map(Panics), 1);
            assert!(std::panic::catch_unwind(run).is_err(), "{panics:?}");
        }
    }

    #[test]
    fn a_part_that_fails_fails_the_sample() {
        for fails in [[true, false], [false, true]] {
            assert!(Crew::of(2).run(&mut sleepers(fails), 1).is_err(), "{fails:?}");
        }
    }
}
