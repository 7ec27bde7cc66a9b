//! Looking for the vendor's library, which real DPUs would need.

use std::env::{split_paths, var_os};
use std::path::PathBuf;

/// Where the vendor's library lies, if it is on this machine. It is not opened.
pub(super) fn find() -> Option<PathBuf> {
    let searched = var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let own = var_os("UPMEM_HOME").map(|home| PathBuf::from(home).join("lib"));
    find_in(own.into_iter().chain(split_paths(&searched)).chain(USUAL.map(PathBuf::from)))
}

fn find_in(folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    // An empty entry of a search path means the working folder, where nobody installs.
    let folders = folders.filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(LIBRARY)).find(|path| path.is_file())
}

const LIBRARY: &str = "libdpu.so";
const USUAL: [&str; 6] = [
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib",
    "/usr/share/upmem/lib",
    "/opt/upmem/lib",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_in_a_folder_that_has_it() {
        let folder = std::env::temp_dir().join(format!("sealift-libdpu-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let folders = || [PathBuf::new(), PathBuf::from("lib"), folder.clone()].into_iter();
        assert_eq!(find_in(folders()), None);
        std::fs::write(folder.join(LIBRARY), b"").unwrap();
        assert_eq!(find_in(folders()), Some(folder.join(LIBRARY)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
