//! Schedules of raw keys: as many at a time as are expanded side by side.

use std::cell::Cell;

use crate::{Path, Schedule, schedule::KEYS};

thread_local! {
    /// Places for them, which hold zeros.
    static PLACES: Cell<Vec<Schedule>> = const { Cell::new(vec![]) };
}

/// Lends places for expanded keys, which are the calling thread's: a call with few messages would wait longer for memory than
/// for the keys. They are wiped afterwards.
pub(crate) fn with_places<R>(work: impl FnOnce(&mut RawKeys) -> R) -> R {
    let places = PLACES.try_with(Cell::take).unwrap_or_default();
    let mut keys = RawKeys { places, used: 0 };
    let result = work(&mut keys);
    keys.places[..keys.used].iter_mut().for_each(Schedule::wipe);
    // A thread that ends keeps nothing.
    let _ = PLACES.try_with(|places| places.set(keys.places));
    result
}

/// Expanded raw keys.
pub(crate) struct RawKeys {
    places: Vec<Schedule>,
    used: usize,
}

impl RawKeys {
    /// Expands one to [`KEYS`] keys of one length, one of those of AES, over the present ones. The caller wipes the stack.
    pub(crate) fn expand(&mut self, path: Path, keys: &[&[u8]]) -> &[Schedule] {
        let count = keys.len();
        assert!((1..=KEYS).contains(&count), "{count} keys");
        while self.places.len() < count {
            self.places.push(Schedule::empty());
        }
        self.used = self.used.max(count);
        let schedules = &mut self.places[..count];
        Schedule::expand_each(schedules, path, keys);
        schedules
    }
}

#[cfg(test)]
mod tests {
    use std::panic;

    use super::*;

    #[test]
    fn places_that_a_thread_keeps_hold_zeros() {
        for path in Path::available() {
            with_places(|keys| {
                assert_eq!(keys.expand(path, &[&[7; 32][..]; 3]).len(), 3);
                assert!(keys.expand(path, &[&[9; 16][..]])[0].expanded().hash_key() != 0);
            });
            let places = PLACES.take();
            assert_eq!(places.len(), 3, "{}", path.name());
            for place in &places {
                assert!(place.expanded().is_zero() && !place.expanded().is_fast());
            }
            PLACES.set(places);
        }
    }

    #[test]
    fn work_that_panics_leaves_no_place() {
        let ended = panic::catch_unwind(|| {
            with_places(|keys| assert!(keys.expand(Path::Model, &[&[7; 32][..]]).is_empty()));
        });
        assert!(ended.is_err() && PLACES.take().is_empty());
    }
}
