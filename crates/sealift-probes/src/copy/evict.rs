//! Takes memory out of all caches.

/// Begins to flush every line of some bytes; nothing where the processor has no instruction for it.
///
/// Flushes go on beside each other until they are [waited for](await_evictions): short places one by one take many
/// times as long.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
pub(super) fn evict(start: *const u8, len: usize) {
    use std::arch::asm;
    let end = start.addr() + len;
    let mut line = start.addr() & !(LINE_BYTES - 1);
    let has_opt = has_clflushopt();
    while line < end {
        if has_opt {
            // SAFETY: callers vouch for the bytes, and flushing changes none.
            unsafe { asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags)) };
        } else {
            // SAFETY: callers vouch for the bytes, and flushing changes none.
            unsafe { asm!("clflush [{}]", in(reg) line, options(nostack, preserves_flags)) };
        }
        line += LINE_BYTES;
    }
}

/// Waits until what was to be flushed is.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
pub(super) fn await_evictions() {
    // SAFETY: the fence touches no memory.
    unsafe { std::arch::asm!("mfence", options(nostack, preserves_flags)) };
}

/// Asked once: in a virtual machine its host answers, which takes as long as flushing hundreds of lines.
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
fn has_clflushopt() -> bool {
    use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};
    use std::sync::LazyLock;
    static HAS: LazyLock<bool> = LazyLock::new(|| {
        // SAFETY: every x86-64 processor has the instruction.
        #[allow(unused_unsafe, reason = "older compilers of those that build this ask for it")]
        unsafe {
            __get_cpuid_max(0).0 >= 7 && __cpuid_count(7, 0).ebx & (1 << 23) != 0
        }
    });
    *HAS
}

#[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
pub(super) fn evict(_: *const u8, _: usize) {}

#[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
pub(super) fn await_evictions() {}

/// Whether lines can be flushed here.
pub(super) const CAN_EVICT: bool = cfg!(all(target_arch = "x86_64", not(sealift_portable)));

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
const LINE_BYTES: usize = 64;
