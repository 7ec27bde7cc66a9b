//! What the system says about this thread and this machine.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::mem::MaybeUninit;

/// Whose counters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    /// Of the calling thread.
    Thread,
    /// Of all threads that this process has or had.
    Process,
}

/// What the system has counted since the start of a thread, or of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// CPU time outside of the kernel, in nanoseconds.
    pub(crate) user_ns: u64,
    /// And inside.
    pub(crate) kernel_ns: u64,
    /// Times it went to sleep, after each of which it was woken.
    pub(crate) sleeps: u64,
    /// Times it was taken off its core against its will.
    pub(crate) preempted: u64,
}

/// What is counted up to now; zeros where the system doesn't tell.
pub(crate) fn counted(whose: Whose) -> Counted {
    let who = match whose {
        Whose::Thread => libc::RUSAGE_THREAD,
        Whose::Process => libc::RUSAGE_SELF,
    };
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, which the call fills.
    let code = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    if code != 0 {
        return Counted::default();
    }
    // SAFETY: zeroed is a valid rusage, and the call wrote another one.
    let usage = unsafe { usage.assume_init() };
    let whole = |value: i64| u64::try_from(value).unwrap_or(0);
    let ns = |time: libc::timeval| whole(time.tv_sec) * 1_000_000_000 + whole(time.tv_usec) * 1_000;
    Counted {
        user_ns: ns(usage.ru_utime),
        kernel_ns: ns(usage.ru_stime),
        sleeps: whole(usage.ru_nvcsw),
        preempted: whole(usage.ru_nivcsw),
    }
}

/// CPU time of this thread in nanoseconds.
///
/// It costs microseconds on some virtual machines, so it is read twice a sample and never inside.
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a whole timespec, which the call fills.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if code != 0 {
        return 0;
    }
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// Ticks a second in /proc/stat.
pub(crate) fn ticks_per_s() -> u64 {
    // SAFETY: the call only reads a number of the system.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks).ok().filter(|ticks| *ticks > 0).unwrap_or(100)
}

/// Pages that some bytes of a mapping lie on, and how many of them are in memory.
///
/// # Safety
/// The bytes are mapped, from a page's begin on.
pub(crate) unsafe fn resident_pages(start: *const u8, bytes: usize) -> Result<(usize, usize)> {
    let mut there = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: the caller vouches for the bytes, and there is a byte for each of their pages.
    let code = unsafe { libc::mincore(start.cast_mut().cast(), bytes, there.as_mut_ptr()) };
    if code != 0 {
        return Err(Error::last_os_error());
    }
    Ok((there.len(), there.iter().filter(|page| **page & 1 == 1).count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn a_threads_clock_runs_while_it_works_and_not_while_it_sleeps() {
        let start_ns = thread_cpu_ns();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let slept_ns = thread_cpu_ns() - start_ns;
        let mut sum = 0u64;
        while thread_cpu_ns() - start_ns < slept_ns + 5_000_000 {
            (0..10_000).for_each(|i| sum = black_box(sum ^ i));
        }
        assert!(slept_ns < 20_000_000, "{slept_ns} ns of CPU while asleep");
        assert!(ticks_per_s() >= 1);
    }

    #[test]
    fn a_thread_is_counted_from_its_start_and_the_process_with_all_its_threads() {
        let fresh = std::thread::spawn(|| {
            let before = counted(Whose::Thread);
            (0..5).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
            (before, counted(Whose::Thread))
        });
        let (before, after) = fresh.join().unwrap();
        assert!(before.preempted < 1_000, "{before:?} of a new thread");
        assert!(after.sleeps >= before.sleeps + 5, "{before:?}, {after:?}");
        let all = counted(Whose::Process);
        assert!(all.sleeps >= after.sleeps && all.user_ns + all.kernel_ns > 0, "{all:?}");
    }
}
