//! NIST's records, which the suite reads from files.

use std::fs;
use std::path::{Path, PathBuf};

/// The records that came with the program, as files for as long as this lives.
#[derive(Debug, PartialEq)]
pub(crate) struct Vectors {
    folder: PathBuf,
}

impl Vectors {
    /// Writes the records into a folder of their own; nothing where none came with the program.
    ///
    /// # Errors
    /// They can't be written.
    pub(crate) fn unpack(place: &Path) -> Result<Option<Self>, String> {
        if RECORDS.is_empty() {
            return Ok(None);
        }
        let vectors = Self { folder: place.join(".records") };
        let folder = vectors.folder.join("ciphers/AES/GCM");
        let wrong = |error| format!("{} was not written: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(wrong)?;
        for (name, records) in RECORDS {
            fs::write(folder.join(name), records).map_err(wrong)?;
        }
        Ok(Some(vectors))
    }

    /// What the suite calls the folder of the package.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// What is left is in the way of nobody.
impl Drop for Vectors {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const RECORDS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/records.rs"));
