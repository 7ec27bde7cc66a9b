//! A ring of frames in memory that two processes have, with counters instead of calls.
//!
//! Each process writes one region: its frames, how many hands it has published, and how many of the
//! other's it has taken. So the other one needs to read it only, and its waiting is on a counter that it
//! can't change.

use super::control::{Broken, Watch};
use super::ffi;
use super::patience::{LOOK_AGAIN, Patience};
use super::region::Region;
use super::{LINE_BYTES, Way, failed};
use crate::ArmError;
use crate::memory::Memory;
use rustix::io::Errno;
use rustix::thread::futex;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, fence};
use std::time::{Duration, Instant};

/// One end of two rings, one there and one back.
pub(super) struct Ring {
    outbox: Region,
    inbox: Region,
    /// The frames themselves where the counters are not followed by them.
    apart: Option<Apart>,
    slots: Slots,
    sent: Hands,
    received: Hands,
    waiting: Waiting,
}

/// How a process waits for the other.
pub(super) struct Waiting {
    pub(super) watch: Watch,
    pub(super) patience: Patience,
    pub(super) spins: bool,
}

/// How many hands there is room for, and how long each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    pub(super) count: u32,
    pub(super) bytes: usize,
}

/// How many hands went, and which slot the next one has: a count begins anew after 2^32 hands, and slots that
/// were taken from it would jump then.
#[derive(Clone, Copy, Default)]
struct Hands {
    count: u32,
    slot: u32,
}

/// Frames in memory of the process that writes them, copied from there by the one that reads them.
pub(super) struct Apart {
    pub(super) outbox: Memory,
    pub(super) inbox: Memory,
    pub(super) pid: i32,
    pub(super) address: usize,
}

impl Slots {
    /// For hands of so many bytes.
    pub(super) fn of(hand_bytes: usize) -> Self {
        let bytes = hand_bytes.next_multiple_of(LINE_BYTES);
        #[expect(clippy::cast_possible_truncation, reason = "at most SLOTS_MAX")]
        let count = (RING_BYTES / bytes).clamp(SLOTS_MIN, SLOTS_MAX) as u32;
        Self { count, bytes }
    }

    /// What all of them take.
    pub(super) fn all_bytes(self) -> usize {
        self.count as usize * self.bytes
    }

    /// What a region with counters and slots takes.
    pub(super) fn region_bytes(self, way: Way) -> usize {
        HEADER_BYTES + if way == Way::ProcessVmReadv { 0 } else { self.all_bytes() }
    }

    fn start(self, hands: Hands) -> usize {
        hands.slot as usize * self.bytes
    }

    fn after(self, Hands { count, slot }: Hands) -> Hands {
        Hands { count: count.wrapping_add(1), slot: (slot + 1) % self.count }
    }
}

impl Ring {
    pub(super) fn new(
        outbox: Region,
        inbox: Region,
        apart: Option<Apart>,
        slots: Slots,
        waiting: Waiting,
    ) -> Self {
        let (sent, received) = (Hands::default(), Hands::default());
        Self { outbox, inbox, apart, slots, sent, received, waiting }
    }

    /// Hands over what `fill` writes, when there is room.
    pub(super) fn send(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        let (sent, count) = (self.sent.count, self.slots.count);
        self.wait(TAKEN, |taken| sent.wrapping_sub(taken) < count)?;
        let start = self.slots.start(self.sent);
        fill(match &mut self.apart {
            None => self.outbox.bytes_mut(HEADER_BYTES + start..HEADER_BYTES + start + bytes),
            Some(apart) => &mut apart.outbox[start..][..bytes],
        })?;
        self.sent = self.slots.after(self.sent);
        self.tell(PUBLISHED, self.sent.count);
        Ok(())
    }

    /// Takes what the other process has handed over, when there is something.
    pub(super) fn receive(
        &mut self,
        bytes: usize,
        take: impl FnOnce(&[u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        let received = self.received.count;
        self.wait(PUBLISHED, |published| published != received)?;
        let start = self.slots.start(self.received);
        take(match &mut self.apart {
            None => self.inbox.bytes(HEADER_BYTES + start..HEADER_BYTES + start + bytes),
            Some(apart) => apart.fetch(start, bytes)?,
        })?;
        self.received = self.slots.after(self.received);
        self.tell(TAKEN, self.received.count);
        Ok(())
    }

    /// Moves a counter of this process on, and wakes the other where it sleeps.
    fn tell(&self, at: usize, count: u32) {
        let word = self.outbox.word(at);
        word.store(count, Release);
        // Either this sees that the other sleeps, or the other sees the new count before it does.
        fence(SeqCst);
        if self.inbox.word(ASLEEP).load(Relaxed) != 0 {
            // That nobody is woken is no error: a sleeper looks again by itself, too.
            let _ = futex::wake(word, futex::Flags::empty(), 1);
        }
    }

    /// Waits until a counter of the other process is right: spinning for a while, then asleep.
    #[inline]
    fn wait(&self, at: usize, is_right: impl Fn(u32) -> bool) -> Result<(), Broken> {
        let word = self.inbox.word(at);
        if is_right(word.load(Acquire)) || (self.waiting.spins && spin(word, &is_right)) {
            return Ok(());
        }
        self.sleep(word, &is_right)
    }

    #[cold]
    fn sleep(&self, word: &AtomicU32, is_right: &dyn Fn(u32) -> bool) -> Result<(), Broken> {
        let asleep = self.outbox.word(ASLEEP);
        asleep.store(1, SeqCst);
        let nap = futex::Timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN.subsec_nanos().into() };
        let (mut patience, mut looked) = (self.waiting.patience, Instant::now());
        let woken = loop {
            let seen = word.load(SeqCst);
            if is_right(seen) {
                break Ok(());
            }
            // Whatever wakes it, a signal or the other process: time tells when to look.
            let _ = futex::wait(word, futex::Flags::empty(), seen, Some(&nap));
            let waited = looked.elapsed();
            if waited < LOOK_AGAIN {
                continue;
            }
            looked = Instant::now();
            if let Err(broken) = self.alive(&mut patience, waited) {
                // What was published before the other process went counts.
                break if is_right(word.load(SeqCst)) { Ok(()) } else { Err(broken) };
            }
        };
        asleep.store(0, SeqCst);
        woken
    }

    fn alive(&self, patience: &mut Patience, waited: Duration) -> Result<(), Broken> {
        self.waiting.watch.check()?;
        if patience.lasts(waited) { Ok(()) } else { Err(Broken::Silent) }
    }
}

impl Apart {
    fn fetch(&mut self, start: usize, bytes: usize) -> Result<&[u8], Broken> {
        let to = &mut self.inbox[..bytes];
        match ffi::read_process(self.pid, self.address + start, to) {
            Ok(()) => Ok(to),
            Err(Errno::SRCH) => Err(Broken::Gone),
            Err(error) => {
                let what = "copying out of the other process was refused; a container's rules or \
                            kernel.yama.ptrace_scope may forbid it";
                Err(failed(Way::ProcessVmReadv, what)(error).into())
            }
        }
    }
}

/// Spins for at most [`SPIN_MAX`].
fn spin(word: &AtomicU32, is_right: &impl Fn(u32) -> bool) -> bool {
    let mut begin = None;
    loop {
        for _ in 0..SPINS_A_LOOK {
            spin_loop();
            if is_right(word.load(Acquire)) {
                return true;
            }
        }
        if begin.get_or_insert_with(Instant::now).elapsed() > SPIN_MAX {
            return false;
        }
    }
}

/// Of the three counters of a region, each in cache lines of its own.
const PUBLISHED: usize = 0;
const TAKEN: usize = 2 * LINE_BYTES;
const ASLEEP: usize = 4 * LINE_BYTES;
const HEADER_BYTES: usize = 4_096;
/// Half of what the second caches of today hold.
const RING_BYTES: usize = 512 << 10;
/// One is filled and one is taken while two lie between.
const SLOTS_MIN: usize = 4;
const SLOTS_MAX: usize = 64;
/// Longer than the other process works on one hand of a mebibyte or two; then it has lost its core.
const SPIN_MAX: Duration = Duration::from_millis(1);
const SPINS_A_LOOK: usize = 64;

#[cfg(test)]
mod tests;
