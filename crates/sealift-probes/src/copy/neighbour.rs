//! What else a process does while its copies are timed.

use super::buffer::Buffer;
use super::spec::{Beside, PAGE_BYTES};
use crate::ArmError;
use crate::crew::{Done, Part};
use memmap2::{MmapMut, MmapOptions};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A thread that works until all lanes are through.
pub(super) struct Neighbour {
    page: MmapMut,
    beside: Beside,
    /// Of files, one or one a thread: the evictor takes their pages.
    pub(super) mapped: Vec<Arc<Buffer>>,
    busy: Arc<AtomicUsize>,
    pub(super) times: u64,
}

impl Neighbour {
    pub(super) fn new(
        beside: Beside,
        mapped: Vec<Arc<Buffer>>,
        busy: Arc<AtomicUsize>,
    ) -> Result<Self, ArmError> {
        let page = MmapOptions::new().len(PAGE_BYTES).map_anon();
        let page = page.map_err(|_| ArmError::NoMemory { bytes: PAGE_BYTES })?;
        Ok(Self { page, beside, mapped, busy, times: 0 })
    }

    /// Every core of the process has to forget the page each time: a TLB shootdown.
    fn protect(&mut self) -> Result<(), ArmError> {
        let page = self.page.as_mut_ptr();
        for access in [libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE] {
            // SAFETY: the page is this thread's own, and is writable again at the end.
            let failed = unsafe { libc::mprotect(page.cast(), PAGE_BYTES, access) };
            if failed != 0 {
                let reason = std::io::Error::last_os_error().to_string();
                return Err(ArmError::Absent {
                    what: "a change of access to a page".into(),
                    reason,
                });
            }
        }
        // Written, or there is nothing that cores would have to forget.
        self.page[0] = self.page[0].wrapping_add(1);
        Ok(())
    }
}

impl Part for Neighbour {
    fn work(&mut self, _: usize) -> Result<Done, ArmError> {
        let begin = Instant::now();
        // A lane that could not begin never ends.
        while self.busy.load(Ordering::Acquire) > 0 && begin.elapsed() < PATIENCE {
            match self.beside {
                Beside::Protector => self.protect()?,
                Beside::Evictor => self.mapped.iter().try_for_each(|each| each.unmap_pages())?,
                _ => (0..1_000).for_each(|_| spin_loop()),
            }
            self.times += 1;
        }
        Ok(Done::default())
    }
}

const PATIENCE: Duration = Duration::from_secs(2);
