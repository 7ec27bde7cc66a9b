//! Memory of results that nobody needs any more, for the next ones.

use bytes::BytesMut;
use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::{fmt, mem};

/// Keeps the buffers of results that were dropped. To have memory of a megabyte made and taken back takes
/// the system longer than sealing what goes into it.
///
/// A buffer still holds the results that were in it: devices write every byte of a batch's results. It is wiped when its
/// memory goes back to the system, and with the pool.
#[derive(Default)]
pub struct OutputPool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The oldest first.
    buffers: VecDeque<BytesMut>,
    bytes: usize,
}

impl OutputPool {
    /// Gives what is kept back to the system.
    pub fn release(&self) {
        let kept = mem::take(&mut *self.lock());
        drop(kept);
    }

    /// A buffer of that size that was used before, if there is one that is not far larger.
    pub(super) fn take(&self, bytes: usize) -> Option<BytesMut> {
        if bytes < BYTES_MIN {
            return None;
        }
        let mut kept = self.lock();
        let fits = |buffer: &BytesMut| (bytes..=2 * bytes).contains(&buffer.capacity());
        let at = kept.buffers.iter().rposition(fits)?;
        let mut buffer = kept.buffers.remove(at)?;
        kept.bytes -= buffer.capacity();
        drop(kept);
        // What was cut off before is cleared.
        buffer.resize(bytes, 0);
        Some(buffer)
    }

    /// Keeps a buffer, in the place of the oldest ones where there are enough.
    ///
    /// Results may be dropped anywhere, in a forked child too, where a lock may be held for ever: this
    /// waits for none.
    pub(super) fn give(&self, buffer: BytesMut) {
        if !(BYTES_MIN..=BYTES_MAX).contains(&buffer.capacity()) {
            return drop(wiped(buffer));
        }
        let mut kept = match self.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return drop(wiped(buffer)),
        };
        let too_many = kept.add(buffer);
        // Wiping takes time, which others need not wait for.
        drop(kept);
        too_many.into_iter().for_each(|buffer| drop(wiped(buffer)));
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Keeps a buffer, and gives back what is then too much.
    fn add(&mut self, buffer: BytesMut) -> Vec<BytesMut> {
        self.bytes += buffer.capacity();
        self.buffers.push_back(buffer);
        let mut too_many = vec![];
        while self.buffers.len() > BUFFERS_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.buffers.pop_front() else { break };
            self.bytes -= oldest.capacity();
            too_many.push(oldest);
        }
        too_many
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.buffers.drain(..).for_each(|buffer| drop(wiped(buffer)));
    }
}

/// Overwrites all that a buffer has held.
// IMPLEMENTATION NOTE: not by `zeroize`, which writes a byte at a time.
fn wiped(mut buffer: BytesMut) -> BytesMut {
    buffer.resize(buffer.capacity(), 0);
    buffer.fill(0);
    black_box(&buffer);
    buffer
}

impl fmt::Debug for OutputPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputPool({} buffers)", self.lock().buffers.len())
    }
}

/// Smaller ones the allocator keeps by itself.
const BYTES_MIN: usize = 16 << 10;
const BUFFERS_MAX: usize = 128;
const BYTES_MAX: usize = 128 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_for_results_of_about_its_size() {
        let pool = OutputPool::default();
        let buffer = BytesMut::zeroed(100_000);
        let place = buffer.as_ptr();
        pool.give(buffer);
        assert_eq!(pool.take(40_000), None, "it is far larger");
        assert_eq!(pool.take(100_001), None, "it is too small");
        let again = pool.take(60_000).unwrap();
        assert_eq!((again.as_ptr(), again.len()), (place, 60_000));
        assert_eq!(pool.take(60_000), None, "there is but one");
        pool.give(again);
        assert_eq!(pool.take(100_000).unwrap().len(), 100_000, "it is as large as it was");
    }

    #[test]
    fn the_oldest_go_beyond_the_limits_and_all_at_a_release() {
        let pool = OutputPool::default();
        let kept = || pool.lock().buffers.len();
        (0..2 * BUFFERS_MAX).for_each(|_| pool.give(BytesMut::zeroed(BYTES_MIN)));
        assert_eq!(kept(), BUFFERS_MAX);
        pool.give(BytesMut::zeroed(BYTES_MAX / 2));
        assert!(pool.take(BYTES_MAX / 2).is_some(), "the newest is kept");
        pool.release();
        assert_eq!((kept(), pool.lock().bytes), (0, 0));
        (0..3).for_each(|_| pool.give(BytesMut::zeroed(BYTES_MAX / 2)));
        assert_eq!(kept(), 2);
        pool.give(BytesMut::zeroed(BYTES_MIN - 1));
        pool.give(BytesMut::zeroed(BYTES_MAX + 1));
        assert_eq!(kept(), 2);
    }

    #[test]
    fn all_that_a_buffer_has_held_is_wiped() {
        let mut buffer = BytesMut::zeroed(100);
        buffer.fill(7);
        buffer.truncate(60);
        assert_eq!(wiped(buffer), [0; 100][..]);
    }

    #[test]
    fn a_buffer_is_given_up_where_giving_would_wait() {
        let pool = OutputPool::default();
        let held = pool.lock();
        pool.give(BytesMut::zeroed(BYTES_MIN));
        assert_eq!(held.buffers.len(), 0);
    }
}
