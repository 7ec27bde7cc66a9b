//! Programs that a device has compiled, each once.

use crate::GpuError;
use crate::program::Program;
use std::collections::HashMap;
use std::panic::resume_unwind;
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

/// Has all of them built at the same time, each on a thread of its own, as far as the system gives threads.
///
/// # Errors
/// One does not build.
pub(crate) fn at_once(
    programs: &[Program],
    build: impl Fn(Program) -> Result<(), GpuError> + Sync,
) -> Result<(), GpuError> {
    let build = &build;
    thread::scope(|scope| {
        let begin = |program: &Program| {
            let program = *program;
            thread::Builder::new().spawn_scoped(scope, move || build(program)).map_err(|_| program)
        };
        let begun: Vec<_> = programs.iter().map(begin).collect();
        let ended = begun.into_iter().map(|thread| match thread {
            // A panic goes on as one.
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(program) => build(program),
        });
        ended.fold(Ok(()), Result::and)
    })
}

/// What these guard is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
