//! What Python says of ciphers beside streams, as the probes take it.

use pyo3::prelude::*;
use sealift_probes::ContendedSpec;

/// The arguments of `Arm.contended`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Asked {
    cipher: String,
    threads: usize,
    text_bytes: usize,
    streamers: usize,
    share_percent: u8,
    stream_bytes: usize,
    seed: u64,
}

impl Asked {
    pub(super) fn spec(self) -> ContendedSpec {
        let Self { cipher, threads, text_bytes, streamers, share_percent, stream_bytes, seed } =
            self;
        ContendedSpec { cipher, threads, text_bytes, streamers, share_percent, stream_bytes, seed }
    }
}
