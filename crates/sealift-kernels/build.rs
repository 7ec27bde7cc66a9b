//! Says whether functions have small frames on the stack, as they have where they are optimised for speed.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(sealift_small_frames)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "3") {
        println!("cargo::rustc-cfg=sealift_small_frames");
    }
}
