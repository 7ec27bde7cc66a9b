//! Which drivers are installed, without loading them.

use std::env::var_os;
use std::fs;
use std::path::{Path, PathBuf};

/// The libraries that the loader is told to load.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Vendors(Vec<String>);

impl Vendors {
    /// Those in the folder that loaders read; none where the environment names others.
    pub(super) fn installed() -> Self {
        let named = NAMED_OTHERWISE.iter().any(|variable| var_os(variable).is_some());
        if named { Self(vec![]) } else { Self::in_folder(Path::new(FOLDER)) }
    }

    fn in_folder(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "icd"));
        let mut libraries: Vec<_> = files.filter_map(library_of).collect();
        libraries.sort_unstable();
        Self(libraries)
    }

    /// Their names, if all of them are drivers of processors; nothing if there are others, or none is known.
    pub(super) fn only_processors(&self) -> Option<String> {
        let of_processor = |library: &String| PROCESSORS.iter().any(|name| library.contains(name));
        let all = !self.0.is_empty() && self.0.iter().all(of_processor);
        all.then(|| self.0.join(", "))
    }
}

/// The file's name of the library that a vendor's file names.
fn library_of(file: PathBuf) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let library = Path::new(text.lines().next()?.trim());
    Some(library.file_name()?.to_str()?.to_owned())
}

const FOLDER: &str = "/etc/OpenCL/vendors";
const NAMED_OTHERWISE: [&str; 4] =
    ["OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "OPENCL_LAYERS"];
/// Parts of names: the Portable Computing Language, Intel's runtime for processors, the simulator Oclgrind.
const PROCESSORS: [&str; 3] = ["pocl", "intelocl", "oclgrind"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_known_by_their_drivers_names() {
        let only = |names: &[&str]| {
            Vendors(names.iter().map(ToString::to_string).collect()).only_processors()
        };
        assert_eq!(only(&["libpocl.so.2.9.0"]).unwrap(), "libpocl.so.2.9.0");
        assert!(only(&["libintelocl.so", "libpocl.so"]).is_some());
        assert_eq!(only(&["libpocl.so", "libnvidia-opencl.so.1"]), None);
        assert_eq!(only(&[]), None);
    }

    #[test]
    fn a_vendors_file_names_its_library_with_or_without_a_folder() {
        let folder = std::env::temp_dir().join(format!("sealift-vendors-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.icd"), "/usr/lib/libpocl.so.2.9.0\n").unwrap();
        fs::write(folder.join("b.icd"), "libnvidia-opencl.so.1").unwrap();
        fs::write(folder.join("c.icd"), "").unwrap();
        fs::write(folder.join("d.txt"), "libother.so").unwrap();
        let found = Vendors::in_folder(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.0, ["libnvidia-opencl.so.1", "libpocl.so.2.9.0"]);
        assert_eq!(Vendors::in_folder(&folder).0, [""; 0]);
    }
}
