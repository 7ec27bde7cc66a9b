//! The processor's clock.
#![allow(unsafe_code)]

/// Ticks that something took; nothing before or after it runs meanwhile.
pub(crate) fn ticks(work: impl FnOnce()) -> u64 {
    let start = now();
    work();
    now() - start
}

#[cfg(target_arch = "x86_64")]
fn now() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};

    // SAFETY: every x86-64 processor has it.
    unsafe { _mm_lfence() };
    // SAFETY: every x86-64 processor has this counter.
    let now = unsafe { _rdtsc() };
    // SAFETY: every x86-64 processor has SSE2, to which the fence belongs.
    unsafe { _mm_lfence() };
    now
}

#[cfg(not(target_arch = "x86_64"))]
fn now() -> u64 {
    use std::{sync::LazyLock, time::Instant};

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
