//! Memory that arms share: one at a time runs, and each alone would take as much.

use crate::ArmError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How long, of which seed, of which thread.
pub(super) type Wish = (usize, u64, usize);

/// What arms that stand hold, by what they wished for.
pub(super) struct Pool<T>(Mutex<Vec<(Wish, Weak<Mutex<T>>)>>);

impl<T> Pool<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(vec![]))
    }

    /// What another arm has already, or a new one.
    pub(super) fn get(
        &self,
        wish: Wish,
        make: impl FnOnce() -> Result<T, ArmError>,
    ) -> Result<Arc<Mutex<T>>, ArmError> {
        let mut held = lock(&self.0);
        held.retain(|(_, one)| one.strong_count() > 0);
        let known = held.iter().find(|(known, _)| *known == wish);
        if let Some(one) = known.and_then(|(_, one)| one.upgrade()) {
            return Ok(one);
        }
        let made = Arc::new(Mutex::new(make()?));
        held.push((wish, Arc::downgrade(&made)));
        Ok(made)
    }
}

/// What an arm that panicked held is as good as before: it is compared anew.
pub(super) fn lock<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_with_the_same_wish_share_and_give_back() {
        let pool = Pool::new();
        let one = pool.get((1, 2, 3), || Ok(7)).unwrap();
        *lock(&one) = 8;
        assert_eq!(*lock(&pool.get((1, 2, 3), || Ok(7)).unwrap()), 8);
        assert_eq!(*lock(&pool.get((1, 2, 4), || Ok(7)).unwrap()), 7);
        drop(one);
        assert_eq!(*lock(&pool.get((1, 2, 3), || Ok(9)).unwrap()), 9);
        assert!(pool.get((0, 0, 0), || Err(ArmError::NoMemory { bytes: 1 })).is_err());
    }
}
