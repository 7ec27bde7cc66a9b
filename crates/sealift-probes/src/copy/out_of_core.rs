//! Copies from or to a file that does not fit into memory.

use super::buffer::Buffer;
use crate::limit::Limit;
use crate::system::{kept_waiting_ns, share_left};
use crate::{ArmError, Sample};
use std::sync::Arc;

/// A file, and a limit on memory below its length.
pub(super) struct OutOfCoreFile {
    file: Arc<Buffer>,
    limit: Arc<Limit>,
    /// Pages of the file when samples began, and how many of these were in memory.
    pages_sampled: u64,
    resident: u64,
}

impl OutOfCoreFile {
    /// Takes out of memory what came there as the file was written.
    ///
    /// # Errors
    /// The file system keeps it there.
    pub(super) fn new(file: Arc<Buffer>, limit: Arc<Limit>) -> Result<Self, ArmError> {
        file.forget()?;
        Ok(Self { file, limit, pages_sampled: 0, resident: 0 })
    }

    /// Has a sample taken under the limit. Of a wait for the disk, only time that something else took counts
    /// against the share that the thread had.
    pub(super) fn sample(
        &mut self,
        run: impl FnOnce() -> Result<Sample, ArmError>,
    ) -> Result<Sample, ArmError> {
        let Self { file, limit, pages_sampled, resident } = self;
        limit.within(|| {
            let (pages, there) = file.pages()?;
            (*pages_sampled, *resident) = (*pages_sampled + pages, *resident + there);
            let before_ns = kept_waiting_ns();
            let mut sample = run()?;
            if let Some((after_ns, before_ns)) = kept_waiting_ns().zip(before_ns) {
                sample.cpu_share = share_left(after_ns - before_ns, sample.ns);
            }
            Ok(sample)
        })
    }

    pub(super) fn counts(&self) -> [(&'static str, u64); 2] {
        [("pages_looked_at", self.pages_sampled), ("pages_in_memory", self.resident)]
    }
}

/// How much of the file fits into memory.
pub(super) const SHARE: usize = 4;
