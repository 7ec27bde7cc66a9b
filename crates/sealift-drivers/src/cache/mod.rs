//! What batches and copies cost on this user's machines, kept between processes.
//!
//! A text file: a heading, a line for each device of each machine and one for its copies, with fields
//! between tabs, and an end. Nothing in it is trusted: what does not read as written here counts as
//! damaged, and a wrong cost costs some time and nothing else.

mod file;
mod kept;
mod machine;

pub use kept::{Kept, Measured};

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// The file, or no place for one.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The cache of whoever runs this.
    #[must_use]
    pub fn of_user() -> Self {
        Self::under(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
    }

    /// The folder `sealift` under the first of the two that is given; what is no absolute path counts
    /// as not given, as the XDG Base Directory Specification asks.
    fn under(caches: Option<OsString>, home: Option<OsString>) -> Self {
        let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        let caches = caches.and_then(absolute);
        let caches = caches.or_else(|| Some(home.and_then(absolute)?.join(".cache")));
        Self { folder: caches.map(|caches| caches.join("sealift")) }
    }

    /// A cache in this folder.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// The file, whether it is there or not.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(FILE))
    }

    /// What is kept; nothing where there is no file yet.
    ///
    /// # Errors
    /// There is no place for one, it can't be read, or it is damaged.
    pub fn read(&self) -> Result<Kept, CacheError> {
        let folder = self.folder.as_ref().ok_or(CacheError::NoPlace)?;
        let file = folder.join(FILE);
        let text = file::read(folder, FILE)
            .map_err(|reason| CacheError::Unreadable { file: file.clone(), reason })?;
        let Some(text) = text else { return Ok(Kept::default()) };
        Kept::parse(&text).ok_or(CacheError::Damaged { file })
    }

    /// Writes what was measured just now, beside what was kept before. Of two that do so at once, one
    /// leaves a whole file.
    ///
    /// # Errors
    /// There is no place for the file, or it can't be written.
    pub fn keep(&self, kept: Kept, measured: Vec<Measured>) -> Result<PathBuf, CacheError> {
        let folder = self.folder.as_ref().ok_or(CacheError::NoPlace)?;
        let (file, kept) = (folder.join(FILE), kept.with(measured, now_s()));
        match file::write(folder, FILE, &kept.text()) {
            Ok(()) => Ok(file),
            Err(reason) => Err(CacheError::Unwritable { file, folder: folder.clone(), reason }),
        }
    }
}

/// Why costs could not be read or kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The environment names no folder for caches.
    #[error("neither $XDG_CACHE_HOME nor $HOME names a folder to keep costs in")]
    NoPlace,
    /// The file can't be read, or is a link, a pipe or a device.
    #[error("{} can't be read: {reason}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// The file does not read as it was written.
    #[error("{} is damaged", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
    },
    /// The file can't be written.
    #[error(
        "{} can't be written: {reason}; costs are measured anew each time, unless {} becomes a folder of \
         this user's own or XDG_CACHE_HOME names another one",
        .file.display(),
        .folder.display()
    )]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// Why.
        reason: io::Error,
    },
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Another version's kernels cost something else.
const FILE: &str = concat!("costs-", env!("CARGO_PKG_VERSION"), ".txt");

#[cfg(test)]
mod tests;
