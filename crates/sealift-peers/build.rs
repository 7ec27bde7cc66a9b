//! Tells the crate which versions the lock files name: libraries don't all say it themselves.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = root.join("benches/peer-sources/Cargo.lock");
    for (lock, package) in [
        (root.join("Cargo.lock"), "aes-gcm"),
        (root.join("Cargo.lock"), "graviola"),
        (root.join("Cargo.lock"), "ring"),
        (sources.clone(), "boring-sys"),
        (sources, "openssl-src"),
    ] {
        println!("cargo::rerun-if-changed={}", lock.display());
        let text = std::fs::read_to_string(&lock).unwrap_or_default();
        let named = format!("name = \"{package}\"\nversion = \"");
        let version = text.split_once(&named).and_then(|(_, rest)| rest.split('"').next());
        let version = version.unwrap_or_else(|| panic!("{} has no {package}", lock.display()));
        let variable = package.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=VERSION_OF_{variable}={version}");
    }
}
