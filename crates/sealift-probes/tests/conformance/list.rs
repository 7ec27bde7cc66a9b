//! Which devices are tested: the peers that compute something of their own.

use sealift_core::{Context, Device, OpenError, Spec};
use sealift_probes::peers::PEERS;
use std::path::Path;
use std::sync::Arc;

/// Devices that take minutes for the large numbers.
pub(crate) const SLOW: &[&str] = &["table"];

/// Every peer but the one that only wraps others.
pub(crate) fn specs() -> Vec<String> {
    let names = PEERS.iter().map(|driver| driver.name()).filter(|name| *name != "slowed");
    names.map(|name| if name == "ipp" { ipp() } else { name.to_owned() }).collect()
}

/// Opens one of them, or a device that judges them.
pub(crate) fn open(spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
    sealift::driver_among(PEERS, spec.driver())?.open(spec, context)
}

/// What `SEALIFT_REQUIRE` calls the thing that a device's absence is the lack of.
pub(crate) fn lacking(spec: &Spec) -> &str {
    spec.driver()
}

/// Intel's library from `.venv`, if it is there, or else where the loader finds it.
fn ipp() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib/libippcp.so.13");
    if file.is_file() { format!("ipp:lib={}", file.display()) } else { "ipp".to_owned() }
}
