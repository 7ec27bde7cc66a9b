//! What the system says about this thread and this machine.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::mem::MaybeUninit;

/// Times this thread was taken off its core against its will since it started.
pub(crate) fn involuntary_switches() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, which the call fills.
    let code = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if code != 0 {
        return 0;
    }
    // SAFETY: zeroed is a valid rusage, and the call wrote another one.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_nivcsw).unwrap_or(0)
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
    fn switches_are_counted_from_the_threads_start() {
        let fresh = std::thread::spawn(involuntary_switches).join().unwrap();
        assert!(fresh < 1_000, "{fresh} switches of a new thread");
    }
}
