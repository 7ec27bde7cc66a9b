//! How a test orders faults, and learns what was left behind.

use crate::code::{Code, INVALID_VALUE, SUCCESS};
use crate::world::world;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process, ptr, slice};

/// A libcuda of a test's own: another one has other devices, other faults and other memory.
pub struct Fake {
    path: PathBuf,
    is_copy: bool,
    plan: unsafe extern "C" fn(*const c_char, bool) -> Code,
    report: unsafe extern "C" fn(*mut u8, usize) -> usize,
    peek: unsafe extern "C" fn(u64, *mut u8, usize) -> Code,
    poke: unsafe extern "C" fn(u64, *const u8, usize) -> Code,
    /// Whoever opened it by its path may use it for longer.
    _library: ManuallyDrop<Library>,
}

/// What was called, and what is there.
#[derive(Clone, Debug)]
pub struct Report(BTreeMap<String, u64>);

impl Fake {
    /// One of a test's own: a copy of the file.
    ///
    /// # Errors
    /// It was not built, or can't be copied or opened.
    pub fn new() -> Result<Self, String> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let copy = env::temp_dir().join(format!("fake-cuda-{}-{number}.so", process::id()));
        let built = built()?;
        fs::copy(&built, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
        Self::open(copy, true)
    }

    /// The one that all tests of a process share, in which nothing should be ordered.
    ///
    /// # Errors
    /// It was not built, or can't be opened.
    pub fn shared() -> Result<Self, String> {
        Self::open(built()?, false)
    }

    fn open(path: PathBuf, is_copy: bool) -> Result<Self, String> {
        let wrong = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: it is this crate, whose statics need nothing before they are used.
        let library = unsafe { Library::new(&path) }.map_err(wrong)?;
        // SAFETY: the function of this name is below, and of this type.
        let plan = *unsafe { library.get("fake_cuda_plan") }.map_err(wrong)?;
        // SAFETY: the function of this name is below, and of this type.
        let report = *unsafe { library.get("fake_cuda_report") }.map_err(wrong)?;
        // SAFETY: the function of this name is below, and of this type.
        let peek = *unsafe { library.get("fake_cuda_peek") }.map_err(wrong)?;
        // SAFETY: the function of this name is below, and of this type.
        let poke = *unsafe { library.get("fake_cuda_poke") }.map_err(wrong)?;
        Ok(Self { path, is_copy, plan, report, peek, poke, _library: ManuallyDrop::new(library) })
    }

    /// The library's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Orders what happens from now on, instead of what was ordered before: `devices=2,late=3,never`, `idle` for kernels that do nothing, and calls that fail,
    /// `cuLaunchKernel@2=701` with a code, `any@40=719!` with the device lost. Calls are counted from now on.
    ///
    /// # Panics
    /// That is no order.
    pub fn plan(&self, orders: &str) {
        self.order(orders, false);
    }

    /// The same on another machine: nothing is there, nothing is lost.
    ///
    /// # Panics
    /// That is no order.
    pub fn restart(&self, orders: &str) {
        self.order(orders, true);
    }

    fn order(&self, orders: &str, anew: bool) {
        let text = CString::new(orders).unwrap_or_default();
        // SAFETY: the text ends with a zero.
        let code = unsafe { (self.plan)(text.as_ptr(), anew) };
        assert_eq!(code, SUCCESS, "{orders:?} is no order");
    }

    /// What some other program finds in a device's memory.
    ///
    /// # Panics
    /// Not all of it is allocated.
    #[must_use]
    pub fn peek(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut found = vec![0; bytes];
        // SAFETY: there are so many bytes.
        let code = unsafe { (self.peek)(address, found.as_mut_ptr(), bytes) };
        assert_eq!(code, SUCCESS, "{bytes} bytes at {address:#x}");
        found
    }

    /// Some other program's writing into a device's memory.
    ///
    /// # Panics
    /// Not all of it is allocated.
    pub fn poke(&self, address: u64, bytes: &[u8]) {
        // SAFETY: there are so many bytes.
        let code = unsafe { (self.poke)(address, bytes.as_ptr(), bytes.len()) };
        assert_eq!(code, SUCCESS, "{} bytes at {address:#x}", bytes.len());
    }

    /// What was called since the last plan, and what is there now.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut text = vec![0; REPORT_BYTES];
        // SAFETY: there are so many bytes.
        let bytes = unsafe { (self.report)(text.as_mut_ptr(), text.len()) };
        let text = String::from_utf8_lossy(&text[..bytes.min(REPORT_BYTES)]).into_owned();
        let line = |line: &str| {
            let (name, number) = line.split_once(' ')?;
            Some((name.to_owned(), number.parse().ok()?))
        };
        Report(text.lines().filter_map(line).collect())
    }
}

impl Report {
    /// A number by its name: how often a function was called, or one of `calls`, `contexts`, `current`, `device_bytes`,
    /// `device_memories`, `pinned_memories`, `streams`, `events`, `modules`, `held_bytes` (of pinned memory, not zero) and
    /// `held_device_bytes`, `dirty_device_bytes` and `dirty_pinned_bytes` (not zero when given back), `hangs`, `wrong_calls`.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if self.is_copy {
            // The library stays open without its file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fake({})", self.path.display())
    }
}

/// The library that cargo built beside the test that runs.
fn built() -> Result<PathBuf, String> {
    let test = env::current_exe().map_err(|error| error.to_string())?;
    let folder = test.parent().unwrap_or(Path::new("."));
    let file = folder.join("libfake_cuda.so");
    if file.is_file() { Ok(file) } else { Err(format!("{} was not built", file.display())) }
}

/// # Safety
/// The text ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_cuda_plan(text: *const c_char, anew: bool) -> Code {
    // SAFETY: the caller promises a text that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    match text.to_string_lossy().parse() {
        Ok(plan) => {
            world().order(plan, anew);
            SUCCESS
        }
        Err(_) => INVALID_VALUE,
    }
}

/// # Safety
/// The place has `room` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_cuda_report(place: *mut u8, room: usize) -> usize {
    let report = world().report();
    let bytes = report.len().min(room);
    // SAFETY: the caller's; the report is somewhere else.
    unsafe { ptr::copy_nonoverlapping(report.as_ptr(), place, bytes) };
    bytes
}

/// # Safety
/// The place has so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_cuda_peek(address: u64, place: *mut u8, bytes: usize) -> Code {
    match world().memory.read(address, bytes) {
        Ok(found) => {
            // SAFETY: the caller's; the device's memory is somewhere else.
            unsafe { ptr::copy_nonoverlapping(found.as_ptr(), place, bytes) };
            SUCCESS
        }
        Err(code) => code,
    }
}

/// # Safety
/// The place has so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn fake_cuda_poke(address: u64, place: *const u8, bytes: usize) -> Code {
    // SAFETY: the caller promises so many bytes there, and they are only read.
    let found = unsafe { slice::from_raw_parts(place, bytes) };
    world().memory.write(address, found).err().unwrap_or(SUCCESS)
}

const REPORT_BYTES: usize = 4096;
