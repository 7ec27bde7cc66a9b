//! Whose turn it is.

use super::TASKLETS;

/// Runnable tasklets.
///
/// Those that only wait for their turn stand in line: each becomes ready after those before it. Those that wait for a
/// transfer are few, and are looked through.
#[derive(Clone)]
pub(super) struct Queue {
    line: [u8; SLOTS],
    first: u8,
    length: u8,
    /// When each tasklet may issue.
    ready: [u64; 32],
    /// Tasklets that wait for a transfer, one bit each.
    waiting: u32,
    /// When the first of them is ready.
    earliest: u64,
}

/// A power of two that is no less than the tasklets.
const SLOTS: usize = 32;

impl Default for Queue {
    fn default() -> Self {
        Self {
            line: [0; SLOTS],
            first: 0,
            length: 0,
            ready: [0; 32],
            waiting: 0,
            earliest: u64::MAX,
        }
    }
}

impl Queue {
    /// Puts a tasklet last; it is ready no earlier than those in line.
    #[inline(always)]
    pub(super) fn push(&mut self, tasklet: usize, ready: u64) {
        let place = usize::from(self.first.wrapping_add(self.length)) % SLOTS;
        self.line[place] = tasklet.to_le_bytes()[0];
        self.ready[tasklet % SLOTS] = ready;
        self.length += 1;
    }

    /// Lets a tasklet wait for a transfer.
    pub(super) fn wait(&mut self, tasklet: usize, ready: u64) {
        self.waiting |= 1 << tasklet;
        self.ready[tasklet % SLOTS] = ready;
        self.earliest = self.earliest.min(ready);
    }

    /// Takes the tasklet that is ready first, and says when that is.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<(usize, u64)> {
        let tasklet = usize::from(self.line[usize::from(self.first) % SLOTS]) % SLOTS;
        let ready = if self.length == 0 { u64::MAX } else { self.ready[tasklet] };
        if self.earliest < ready {
            return Some(self.pop_waiting());
        }
        if self.length == 0 {
            return None;
        }
        self.first = self.first.wrapping_add(1);
        self.length -= 1;
        Some((tasklet, ready))
    }

    fn pop_waiting(&mut self) -> (usize, u64) {
        let mut found = 0;
        let mut next = u64::MAX;
        for tasklet in (0..TASKLETS).filter(|tasklet| self.waiting >> tasklet & 1 == 1) {
            if self.ready[tasklet] == self.earliest {
                found = tasklet;
            }
        }
        self.waiting &= !(1 << found);
        for tasklet in (0..TASKLETS).filter(|tasklet| self.waiting >> tasklet & 1 == 1) {
            next = next.min(self.ready[tasklet]);
        }
        let ready = std::mem::replace(&mut self.earliest, next);
        (found, ready)
    }

    /// Does anybody wait for a transfer?
    #[inline(always)]
    pub(super) fn waits(&self) -> bool {
        self.waiting != 0
    }

    /// Is this tasklet somewhere in here?
    pub(super) fn holds(&self, tasklet: usize) -> bool {
        let mut line = (0..self.length).map(|place| self.first.wrapping_add(place));
        self.waiting >> tasklet & 1 == 1
            || line.any(|place| usize::from(self.line[usize::from(place) % SLOTS]) == tasklet)
    }
}
