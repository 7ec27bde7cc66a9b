//! Rings at a set time, for devices whose completions are there later than their results.

use sealift_core::{Clock, Context, Notify};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Rings a device's bell when completions are due.
///
/// Where the clock rings by itself it is asked to; else there is a thread as long as something is due.
#[derive(Debug)]
pub(crate) struct Alarm {
    shared: Arc<Shared>,
}

impl Alarm {
    pub(crate) fn new(context: &Context) -> Self {
        let (clock, notify) = (Arc::clone(&context.clock), Arc::clone(&context.notify));
        let (state, wake) = Default::default();
        Self { shared: Arc::new(Shared { clock, notify, state, wake }) }
    }

    /// Rings once at that time or soon after.
    ///
    /// # Errors
    /// There is no thread to wait on.
    pub(crate) fn set(&self, at_ns: u64) -> io::Result<()> {
        let Shared { clock, notify, wake, .. } = &*self.shared;
        if clock.ring_at(at_ns, notify) {
            return Ok(());
        }
        let mut state = self.shared.lock();
        if !state.waits {
            let own = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name("sealift-alarm".to_owned());
            state.thread = Some(thread.spawn(move || own.ring_all())?);
            state.waits = true;
        }
        state.due.push(Reverse(at_ns));
        drop(state);
        wake.notify_one();
        Ok(())
    }
}

/// Ends the thread, whatever is due.
impl Drop for Alarm {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closing = true;
        let thread = state.thread.take();
        drop(state);
        self.shared.wake.notify_one();
        // The bell may be what drops the device; that thread can't wait for itself.
        let other = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        // An error means that it panicked, which it has printed.
        let _ = thread.filter(other).map(JoinHandle::join);
    }
}

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    notify: Arc<dyn Notify>,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The earliest on top.
    due: BinaryHeap<Reverse<u64>>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread looks at `due` again.
    waits: bool,
    closing: bool,
}

impl Shared {
    /// The thread: waits for one time after the other and ends when none is left.
    fn ring_all(&self) {
        while let Some(next_ns) = self.next() {
            // Woken before that time: an earlier one was set, or the device closes.
            if !self.clock.park(Some(next_ns), &mut |left| self.is_other_after(next_ns, left)) {
                self.lock().due.retain(|Reverse(at_ns)| *at_ns > next_ns);
                self.notify.ring();
            }
        }
    }

    fn next(&self) -> Option<u64> {
        let mut state = self.lock();
        let next = state.due.peek().filter(|_| !state.closing).map(|Reverse(at_ns)| *at_ns);
        state.waits = next.is_some();
        next
    }

    /// Waits for so long, or until the next time is another one.
    fn is_other_after(&self, next_ns: u64, left: Option<Duration>) -> bool {
        let same =
            |state: &mut State| !state.closing && state.due.peek() == Some(&Reverse(next_ns));
        let left = left.unwrap_or(Duration::MAX);
        let woken = self.wake.wait_timeout_while(self.lock(), left, same);
        !same(&mut woken.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
