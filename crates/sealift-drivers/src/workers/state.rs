//! The queue, and which workers have a thread.

use sealift_core::{Completion, Job};
use std::collections::VecDeque;

/// What the threads of a device share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) queue: VecDeque<Box<Job>>,
    pub(super) done: Vec<Completion>,
    /// Jobs queued, worked, or done and not polled.
    pub(super) in_flight: usize,
    /// Threads without a job, and those that are just being started.
    pub(super) idle: usize,
    /// How often the device was released. A thread from before waits for no further job.
    pub(super) releases: u64,
    pub(super) closing: bool,
    /// Workers without a thread.
    vacant: Vec<usize>,
    workers: usize,
}

/// Who works a job that was queued.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// A thread that waits, once it is woken.
    Idle,
    /// One more thread, on this seat.
    Start(Seat),
    /// Whoever has worked another one.
    Busy,
}

/// A worker's place, taken before its thread starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) worker: usize,
    /// The device's releases when it was taken.
    pub(super) releases: u64,
}

impl State {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            done: vec![],
            in_flight: 0,
            idle: 0,
            releases: 0,
            closing: false,
            vacant: (0..workers).rev().collect(),
            workers,
        }
    }

    /// Queues a job.
    pub(super) fn push(&mut self, job: Box<Job>) -> Next {
        self.in_flight += 1;
        self.queue.push_back(job);
        if self.queue.len() <= self.idle {
            return Next::Idle;
        }
        let Some(worker) = self.vacant.pop() else { return Next::Busy };
        self.idle += 1;
        Next::Start(Seat { worker, releases: self.releases })
    }

    /// Whether a thread without a job waits for one.
    pub(super) fn should_wait(&self, seat: Seat) -> bool {
        self.queue.is_empty() && !self.closing && self.releases == seat.releases
    }

    /// The next job of an idle thread. With none it gives up its seat, under the same lock: a job that
    /// comes later finds the seat vacant.
    pub(super) fn take(&mut self, seat: Seat) -> Option<Box<Job>> {
        let job = self.queue.pop_front();
        self.idle -= 1;
        if job.is_none() {
            self.vacant.push(seat.worker);
        }
        job
    }

    /// Gives up the seat of a thread that did not start. Without any other, nobody would work the queued
    /// jobs: they are returned.
    pub(super) fn leave(&mut self, worker: usize) -> VecDeque<Box<Job>> {
        self.idle -= 1;
        self.vacant.push(worker);
        let nobody = self.vacant.len() == self.workers;
        if nobody { std::mem::take(&mut self.queue) } else { VecDeque::new() }
    }
}

/// Nobody polls any more.
impl Drop for State {
    fn drop(&mut self) {
        let outcomes = self.done.iter_mut().map(|completion| &mut completion.outcome);
        outcomes.flatten().for_each(|(output, _)| output.wipe());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    #[test]
    fn a_job_is_taken_by_the_thread_that_would_end_or_finds_its_seat_vacant() {
        let mut state = State::new(1);
        let seat = start(state.push(job(0)));
        assert!(matches!(state.push(job(1)), Next::Busy), "there is no further worker");
        assert!(state.take(seat).is_some());
        state.idle += 1;
        assert!(state.take(seat).is_some());
        state.idle += 1;
        assert!(state.should_wait(seat));
        assert!(matches!(state.push(job(2)), Next::Idle), "one thread is idle");
        assert!(state.take(seat).is_some());
        state.idle += 1;
        assert!(state.take(seat).is_none());
        assert_eq!(start(state.push(job(3))).worker, 0);
    }

    #[test]
    fn jobs_are_returned_when_the_last_seat_is_given_up() {
        let mut state = State::new(2);
        let seats = [start(state.push(job(0))), start(state.push(job(1)))];
        assert_eq!(seats.map(|seat| seat.worker), [0, 1]);
        assert!(state.leave(0).is_empty(), "the other one works them");
        assert_eq!(state.leave(1).len(), 2);
    }

    #[test]
    fn a_thread_from_before_a_release_waits_no_more() {
        let mut state = State::new(1);
        let seat = start(state.push(job(0)));
        assert!(!state.should_wait(seat), "there is a job");
        assert!(state.take(seat).is_some());
        state.idle += 1;
        assert!(state.should_wait(seat));
        state.releases += 1;
        assert!(!state.should_wait(seat));
    }

    fn start(next: Next) -> Seat {
        let Next::Start(seat) = next else { panic!("{next:?}") };
        seat
    }
}
