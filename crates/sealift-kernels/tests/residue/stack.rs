//! A stack that can be read after the work on it has ended.
#![allow(unsafe_code)]

use std::{ffi::c_void, hint::black_box, mem::MaybeUninit, ptr, slice};

/// Memory for the stack of a thread.
pub(crate) struct Stack(*mut u8);

impl Stack {
    pub(crate) fn new() -> Stack {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, wherever the system likes it.
        let memory = unsafe { libc::mmap(ptr::null_mut(), BYTES, protection, flags, -1, 0) };
        assert!(memory != libc::MAP_FAILED, "there is no memory for a stack");
        Stack(memory.cast())
    }

    /// Paints the stack, works on it in a thread of its own, and gives what is left below: the words of
    /// the vector registers, as if they lay deepest, and those of the stack, the deepest first, without those above the
    /// work, which belong to the thread.
    pub(crate) fn after(&mut self, work: &mut dyn FnMut()) -> Vec<u64> {
        // SAFETY: `new` has mapped as many bytes, and no thread uses them.
        unsafe { self.0.write_bytes(PAINT, BYTES) };
        let mut registers = Registers([0; 2_048]);
        self.run(&mut || {
            work();
            registers.save();
        });
        // SAFETY: `new` has mapped as many bytes, at a page; the thread has ended.
        let stack = unsafe { slice::from_raw_parts(self.0.cast::<u64>(), (BYTES - DISTANCE) / 8) };
        [&registers.0, stack].concat()
    }

    fn run(&mut self, mut work: &mut dyn FnMut()) {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: a place for attributes.
        let made = unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
        // SAFETY: initialized above; the memory is mapped until `self` is dropped.
        let set =
            unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), self.0.cast(), BYTES) };
        let mut thread = MaybeUninit::uninit();
        let argument = ptr::from_mut(&mut work).cast::<c_void>();
        // SAFETY: `start` takes what `argument` points to, which lives until the thread has ended.
        let started = unsafe {
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), start, argument)
        };
        assert_eq!((made, set, started), (0, 0, 0), "the thread does not start");
        // SAFETY: `pthread_create` has written it.
        let thread = unsafe { thread.assume_init() };
        // SAFETY: a thread that was started and not joined.
        assert_eq!(unsafe { libc::pthread_join(thread, ptr::null_mut()) }, 0);
        // SAFETY: initialized, and not used any more.
        assert_eq!(unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) }, 0);
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped as many bytes, and no thread uses them.
        assert_eq!(unsafe { libc::munmap(self.0.cast(), BYTES) }, 0);
    }
}

/// Room for all registers that a processor saves.
#[repr(C, align(64))]
struct Registers([u64; 2_048]);

impl Registers {
    /// Writes what vector registers hold now.
    #[inline(always)]
    fn save(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the room is aligned and more than any processor writes, and those with AES-NI have the instruction.
        unsafe {
            core::arch::asm!(
                "xsave64 [{}]",
                in(reg) &raw mut self.0,
                in("eax") u32::MAX,
                in("edx") u32::MAX,
                options(nostack),
            );
        }
    }
}

extern "C" fn start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `run` points it to its work and waits for the end.
    let work = unsafe { &mut *argument.cast::<&mut dyn FnMut()>() };
    far_below(*work);
    ptr::null_mut()
}

/// Works far enough below for the end of the thread not to overwrite what is left.
#[inline(never)]
fn far_below(work: &mut dyn FnMut()) {
    let mut distance = [PAINT; DISTANCE];
    black_box(&mut distance);
    work();
    black_box(&distance);
}

/// Paints the stack below the caller again.
#[inline(never)]
pub(crate) fn repaint() {
    let mut below = [PAINT; 256 << 10];
    black_box(&mut below);
}

const PAINT: u8 = 0x5a;
/// From the end of the stack to the work.
pub(crate) const DISTANCE: usize = 64 << 10;
pub(crate) const BYTES: usize = 1 << 20;
