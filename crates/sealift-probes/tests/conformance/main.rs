//! The peers under the suite for devices: what they compute is right, byte for byte.

use sealift_conformance::{Candidate, suite};
use sealift_probes::peers::PEERS;
use std::path::Path;

suite!(candidates());

/// Every peer but the one that only wraps others.
fn candidates() -> Vec<Candidate> {
    let computing = PEERS.iter().filter(|peer| peer.name() != "slowed");
    let candidate = |peer: &&'static dyn sealift::Driver| match peer.name() {
        "ipp" => Candidate::new(*peer, ipp()),
        // It takes minutes for the large numbers.
        "table" => Candidate::new(*peer, "table").slow(),
        name => Candidate::new(*peer, name),
    };
    computing.map(candidate).collect()
}

/// Intel's library from `.venv`, if it is there, or else where the loader finds it.
fn ipp() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib/libippcp.so.13");
    if file.is_file() { format!("ipp:lib={}", file.display()) } else { "ipp".to_owned() }
}
