//! Memory of results that nobody needs any more, for the next ones.

use bytes::BytesMut;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the buffers of results that were dropped. To have memory of a megabyte made and taken back takes
/// the system longer than sealing what goes into it.
///
/// A buffer still holds the results that were in it: devices write every byte of a batch's results.
#[derive(Default)]
pub struct OutputPool {
    kept: Mutex<Vec<BytesMut>>,
}

impl OutputPool {
    /// Gives what is kept back to the system.
    pub fn release(&self) {
        self.lock().clear();
    }

    /// A buffer of that size that was used before, if there is one that is not far larger.
    pub(super) fn take(&self, bytes: usize) -> Option<BytesMut> {
        if bytes < BYTES_MIN {
            return None;
        }
        let mut kept = self.lock();
        let fits = |buffer: &BytesMut| buffer.len() >= bytes && buffer.len() / 2 <= bytes;
        let at = kept.iter().rposition(fits)?;
        let mut buffer = kept.swap_remove(at);
        buffer.truncate(bytes);
        Some(buffer)
    }

    /// Keeps a buffer, unless there are enough.
    pub(super) fn give(&self, buffer: BytesMut) {
        if buffer.len() < BYTES_MIN {
            return;
        }
        let mut kept = self.lock();
        let all_bytes: usize = kept.iter().map(BytesMut::capacity).sum();
        if kept.len() < BUFFERS_MAX && all_bytes + buffer.capacity() <= BYTES_MAX {
            kept.push(buffer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<BytesMut>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OutputPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputPool({} buffers)", self.lock().len())
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
        let again = pool.take(90_000).unwrap();
        assert_eq!((again.as_ptr(), again.len()), (place, 90_000));
        assert_eq!(pool.take(90_000), None, "there is but one");
    }

    #[test]
    fn no_more_is_kept_than_the_limits_and_nothing_after_a_release() {
        let pool = OutputPool::default();
        (0..2 * BUFFERS_MAX).for_each(|_| pool.give(BytesMut::zeroed(BYTES_MIN)));
        assert_eq!(pool.lock().len(), BUFFERS_MAX);
        pool.release();
        assert_eq!(pool.lock().len(), 0);
        (0..3).for_each(|_| pool.give(BytesMut::zeroed(BYTES_MAX / 2)));
        assert_eq!(pool.lock().len(), 2);
        pool.give(BytesMut::zeroed(BYTES_MIN - 1));
        assert_eq!(pool.lock().len(), 2);
    }
}
