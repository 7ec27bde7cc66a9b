//! One value for each of a few groups of threads, so that threads seldom wait for each other.

#[cfg(not(all(sealift_loom, test)))]
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread::available_parallelism,
};

/// Values of which each thread uses its own, mostly alone.
#[derive(Debug)]
pub(crate) struct Stripes<T>(Box<[Padded<T>]>);

/// In cache lines of its own; processors fetch two at a time.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

impl<T> Stripes<T> {
    pub(crate) fn new(mut make: impl FnMut() -> T) -> Self {
        Self((0..count()).map(|_| Padded(make())).collect())
    }

    /// The place of the calling thread's.
    pub(crate) fn own_place(&self) -> usize {
        own_number() & (self.0.len() - 1)
    }

    pub(crate) fn at(&self, place: usize) -> &T {
        &self.0[place].0
    }

    /// The calling thread's.
    pub(crate) fn own(&self) -> &T {
        self.at(self.own_place())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|Padded(value)| value)
    }
}

/// A power of two.
#[cfg(not(all(sealift_loom, test)))]
fn count() -> usize {
    let cores = available_parallelism().map_or(1, usize::from);
    cores.next_power_of_two().clamp(STRIPES_MIN, STRIPES_MAX)
}

#[cfg(not(all(sealift_loom, test)))]
fn own_number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    OWN.with(|own| *own)
}

#[cfg(all(sealift_loom, test))]
pub(crate) use modelled::{count, own_number, use_number};

#[cfg(all(sealift_loom, test))]
mod modelled {
    use std::cell::Cell;

    loom::thread_local! {
        static OWN: Cell<usize> = Cell::new(0);
    }

    pub(crate) fn count() -> usize {
        2
    }

    pub(crate) fn own_number() -> usize {
        OWN.with(Cell::get)
    }

    /// What number the calling thread of a model has: every time the same, as loom wants it.
    pub(crate) fn use_number(number: usize) {
        OWN.with(|own| own.set(number));
    }
}

/// Threads that work at the same time have not always neighbouring numbers.
#[cfg(not(all(sealift_loom, test)))]
const STRIPES_MIN: usize = 8;
/// Each is memory, and whoever wants all of them goes through them one by one.
#[cfg(not(all(sealift_loom, test)))]
const STRIPES_MAX: usize = 16;
