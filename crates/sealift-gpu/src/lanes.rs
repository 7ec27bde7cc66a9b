//! A few lanes, lent to whoever works a batch.

use crate::GpuError;
use crate::gpu::{Gpu, Lane, Room};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The lanes of a device, made when they are first needed.
#[derive(Debug)]
pub(crate) struct Lanes {
    state: Mutex<State>,
    freed: Condvar,
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Box<dyn Lane>>,
    /// Lanes there are, idle or lent.
    made: usize,
    /// Somebody waits until there are none.
    is_short: bool,
}

/// Somebody waits; others get no lane until it is dropped.
struct Short<'l>(&'l Lanes);

impl Drop for Short<'_> {
    fn drop(&mut self) {
        self.0.lock().is_short = false;
        self.0.freed.notify_all();
    }
}

/// A lane that is lent, one of those that were made. Unless it is given back, it is dropped, and another one can be made.
#[derive(Debug)]
pub(crate) struct Borrowed<'l> {
    lanes: &'l Lanes,
    lane: Option<Box<dyn Lane>>,
    /// Whether others may have it.
    is_free: bool,
}

impl Lanes {
    pub(crate) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), freed: Condvar::new(), most }
    }

    /// A lane, as soon as there is one. Whoever waits holds none, so that somebody gives one back.
    ///
    /// # Errors
    /// The device gives none.
    pub(crate) fn take(&self, gpu: &dyn Gpu) -> Result<Borrowed<'_>, GpuError> {
        let full =
            |state: &mut State| state.is_short || state.idle.is_empty() && state.made >= self.most;
        let state = self.freed.wait_while(self.lock(), full);
        self.lend(state.unwrap_or_else(PoisonError::into_inner), gpu)
    }

    /// A lane, if one is free.
    ///
    /// # Errors
    /// The device gives none.
    pub(crate) fn try_take(&self, gpu: &dyn Gpu) -> Result<Option<Borrowed<'_>>, GpuError> {
        let state = self.lock();
        if state.is_short || state.idle.is_empty() && state.made >= self.most {
            return Ok(None);
        }
        self.lend(state, gpu).map(Some)
    }

    /// Drops the lanes that nobody uses, which gives their memory back.
    pub(crate) fn release(&self) {
        let idle = mem::take(&mut self.lock().idle);
        let dropped = idle.len();
        drop(idle);
        self.lock().made -= dropped;
        self.freed.notify_all();
    }

    /// A lane with that room while nobody else has one: whoever finds no memory beside others waits for them, and they for him.
    ///
    /// # Errors
    /// There is no room at all, or the device fails.
    pub(crate) fn alone(&self, gpu: &dyn Gpu, room: &Room) -> Result<Borrowed<'_>, GpuError> {
        let state = self.freed.wait_while(self.lock(), |state| state.is_short);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.is_short = true;
        drop(state);
        let _others_go_on = Short(self);
        let mut state = self.lock();
        while state.made > 0 {
            if state.idle.is_empty() {
                state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                drop(state);
                self.release();
                state = self.lock();
            }
        }
        let mut lane = self.lend(state, gpu)?;
        lane.reserve(room)?;
        Ok(lane)
    }

    fn lend(
        &self,
        mut state: MutexGuard<'_, State>,
        gpu: &dyn Gpu,
    ) -> Result<Borrowed<'_>, GpuError> {
        if let Some(lane) = state.idle.pop() {
            return Ok(Borrowed { lanes: self, lane: Some(lane), is_free: false });
        }
        state.made += 1;
        drop(state);
        // Counted already: where it can't be made, its drop takes it off again.
        let mut borrowed = Borrowed { lanes: self, lane: None, is_free: false };
        borrowed.lane = Some(gpu.lane()?);
        Ok(borrowed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Borrowed<'_> {
    /// Makes it free for others, who must find nothing in it.
    pub(crate) fn give_back(mut self) {
        self.is_free = true;
    }
}

impl Deref for Borrowed<'_> {
    type Target = dyn Lane;

    fn deref(&self) -> &Self::Target {
        &**self.lane.as_ref().expect("it is lent until it is given back")
    }
}

impl DerefMut for Borrowed<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut **self.lane.as_mut().expect("it is lent until it is given back")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        match self.lane.take() {
            Some(lane) if self.is_free => self.lanes.lock().idle.push(lane),
            other => {
                // It waits for the device and wipes, which others need not wait for.
                drop(other);
                self.lanes.lock().made -= 1;
            }
        }
        // Not all who wait want the same.
        self.lanes.freed.notify_all();
    }
}
