//! The processor's clock.
#![allow(unsafe_code)]

/// Ticks that something took; nothing before or after it runs meanwhile.
pub(crate) fn ticks(work: impl FnOnce()) -> u64 {
    let start = now();
    work();
    now() - start
}

/// Takes so many cycles of the processor, and some that are always the same: a loop that takes one a turn.
#[cfg(target_arch = "x86_64")]
pub(crate) fn spend(cycles: u64) {
    // SAFETY: it counts a register of its own down to zero.
    unsafe {
        core::arch::asm!("2: dec {0}", "jnz 2b", inout(reg) cycles + 1 => _, options(nomem, nostack));
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn spend(cycles: u64) {
    (0..cycles).for_each(|cycle| {
        std::hint::black_box(cycle);
    });
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
