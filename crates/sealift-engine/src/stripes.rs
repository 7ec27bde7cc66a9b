//! One value for each of a few groups of threads, so that threads seldom wait for each other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// Values of which each thread uses its own, mostly alone.
#[derive(Debug)]
pub(crate) struct Stripes<T>(Box<[Apart<T>]>);

/// In cache lines of its own; processors fetch two at a time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Stripes<T> {
    pub(crate) fn new(mut make: impl FnMut() -> T) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let count = cores.next_power_of_two().min(STRIPES_MAX);
        Self((0..count).map(|_| Apart(make())).collect())
    }

    /// The place of the calling thread's.
    pub(crate) fn own_place(&self) -> usize {
        OWN.with(|own| *own) & (self.0.len() - 1)
    }

    pub(crate) fn at(&self, place: usize) -> &T {
        &self.0[place].0
    }

    /// The calling thread's.
    pub(crate) fn own(&self) -> &T {
        self.at(self.own_place())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|Apart(value)| value)
    }
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// Each is memory, and whoever wants all of them goes through them one by one.
const STRIPES_MAX: usize = 8;
