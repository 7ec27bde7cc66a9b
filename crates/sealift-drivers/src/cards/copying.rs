//! How fast the processor copies, for descriptions that leave it out.

use sealift_kernels::copy::copy;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// Bytes that the processor copies, in 10^9 bits a second.
///
/// The first call measures it, which takes some milliseconds; what it found stands until the process
/// ends, so that cards of one process are reckoned alike.
pub(super) fn rate_gbit_per_s() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(measure)
}

/// What is said of it.
pub(super) const SOURCE: &str =
    "measured here: 16 MiB from memory to memory, 64 KiB at a time, the best of 3 tries";

fn measure() -> f64 {
    // Neither holds zeros: pages that nobody wrote are no memory yet.
    let (source, mut destination) = (vec![1_u8; BYTES], vec![2_u8; BYTES]);
    let once_ns = |_| {
        let begin = Instant::now();
        let pieces = destination.chunks_mut(PIECE_BYTES).zip(source.chunks(PIECE_BYTES));
        pieces.for_each(|(to, from)| copy(to, from));
        black_box(&mut destination);
        begin.elapsed().as_nanos().max(1)
    };
    let best_ns = (0..TRIES).map(once_ns).min().unwrap_or(1);
    8.0 * BYTES as f64 / best_ns as f64
}

const BYTES: usize = 16 << 20;
const PIECE_BYTES: usize = 64 << 10;
const TRIES: usize = 3;
