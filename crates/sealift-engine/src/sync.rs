//! Locks and flags that threads share: the standard library's, and those of loom where `make models` tries every order of
//! what threads do.

#[cfg(all(sealift_loom, test))]
pub(crate) use modelled::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, RwLock};
#[cfg(not(all(sealift_loom, test)))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard, RwLock,
    atomic::{AtomicBool, AtomicU64},
};

#[cfg(all(sealift_loom, test))]
mod modelled {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64};
    pub(crate) use loom::sync::{Mutex, MutexGuard, RwLock};
    use std::sync::LockResult;
    use std::time::Duration;

    /// loom's has no waiting for a condition.
    #[derive(Debug, Default)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }

        pub(crate) fn wait_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            mut condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<MutexGuard<'a, T>> {
            while condition(&mut guard) {
                guard = self.0.wait(guard)?;
            }
            Ok(guard)
        }

        /// No time passes in a model: this waits like the other.
        pub(crate) fn wait_timeout_while<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _: Duration,
            condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, ())> {
            self.wait_while(guard, condition).map(|guard| (guard, ())).map_err(|_| unreachable!())
        }
    }
}
