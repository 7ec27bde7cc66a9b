//! The file as the system has it: no link is followed, and it is replaced as a whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// The text of a file that is no link, pipe or device; none where there is no file.
pub(super) fn read(folder: &Path, name: &str) -> io::Result<Option<String>> {
    if !is_folder(folder)? {
        return Ok(None);
    }
    let file = folder.join(name);
    match fs::symlink_metadata(&file) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = vec![];
    File::open(file)?.take(BYTES_MAX).read_to_end(&mut text)?;
    // What is no text is damaged, which an empty one is too.
    Ok(Some(String::from_utf8(text).unwrap_or_default()))
}

/// Puts a whole file in the place of the old one. A link there is replaced, not followed.
pub(super) fn write(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    if !is_folder(folder)? {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("{name}.{}-{number}", process::id()));
    // A draft of a process of the same number that was killed.
    let _ = fs::remove_file(&draft);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Whether there is a folder; a link to one is none.
fn is_folder(folder: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(io::Error::other(format!("{} is no folder", folder.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

static NEXT: AtomicU64 = AtomicU64::new(0);
const BYTES_MAX: u64 = 1 << 20;
