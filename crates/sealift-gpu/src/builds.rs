//! Programs that a device has compiled, each once.

use crate::GpuError;
use crate::program::Program;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Built programs. Whoever wants one that is being built waits for it, and for no other.
#[derive(Debug)]
pub(crate) struct Builds<P>(Mutex<HashMap<Program, Place<P>>>);

type Place<P> = Arc<Mutex<Option<Arc<P>>>>;

impl<P> Builds<P> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    /// A program, which is built if it was not yet.
    ///
    /// # Errors
    /// It does not build; the next one who asks tries again.
    pub(crate) fn get(
        &self,
        of: Program,
        build: impl FnOnce() -> Result<P, GpuError>,
    ) -> Result<Arc<P>, GpuError> {
        let place = Arc::clone(lock(&self.0).entry(of).or_default());
        let mut place = lock(&place);
        if let Some(built) = &*place {
            return Ok(Arc::clone(built));
        }
        let built = Arc::new(build()?);
        *place = Some(Arc::clone(&built));
        Ok(built)
    }
}

/// Has all of them built at the same time, each on a thread of its own.
///
/// # Errors
/// One does not build.
pub(crate) fn at_once(
    programs: &[Program],
    build: impl Fn(Program) -> Result<(), GpuError> + Sync,
) -> Result<(), GpuError> {
    let build = &build;
    thread::scope(|scope| {
        let begun: Vec<_> =
            programs.iter().map(|program| scope.spawn(move || build(*program))).collect();
        let ended = begun.into_iter().map(|thread| {
            // A panic goes on as one.
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ended.fold(Ok(()), Result::and)
    })
}

/// What these guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
