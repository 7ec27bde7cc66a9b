//! Puts NIST's records into the program, where the variable names the folder of the package that has them.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let made = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("records.rs");
    let folder = env::var_os(VARIABLE).map(|folder| Path::new(&folder).join(RECORDS));
    let names = folder.as_deref().map(names).unwrap_or_default();
    let lines = names.iter().map(|(name, file)| {
        println!("cargo::rerun-if-changed={file}");
        format!("    ({name:?}, include_bytes!({file:?})),\n")
    });
    let text = format!("&[\n{}]\n", lines.collect::<String>());
    fs::write(made, text).expect("cargo's folder takes files");
}

/// Names and whole paths, in one order everywhere.
fn names(folder: &Path) -> Vec<(String, String)> {
    let listed = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{VARIABLE}: {}: {error}", folder.display()));
    let mut names: Vec<_> = listed
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rsp"))
        .map(|path| {
            let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
            (name, path.to_string_lossy().into_owned())
        })
        .collect();
    names.sort();
    names
}

/// Of its own, because tests of the workspace are told the folder by `SEALIFT_VECTORS` and shouldn't be built anew for it.
const VARIABLE: &str = "SEALIFT_GPU_VECTORS";
const RECORDS: &str = "ciphers/AES/GCM";
