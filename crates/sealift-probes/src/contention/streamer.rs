//! A thread that reads memory at a rate until all lanes are through.

use super::ContendedSpec;
use super::pool::{Pool, lock};
use crate::ArmError;
use crate::crew::{Done, Part};
use crate::read::{READ_BYTES, Reader};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(super) struct Streamer {
    reader: Arc<Mutex<Reader>>,
    /// Nothing for as much as it gets.
    bytes_per_ns: Option<f64>,
    busy: Arc<AtomicUsize>,
    pub(super) streamed_bytes: u64,
    pub(super) streamed_ns: u64,
}

impl Streamer {
    pub(super) fn new(
        spec: &ContendedSpec,
        number: usize,
        bytes_per_ns: Option<f64>,
        busy: &Arc<AtomicUsize>,
    ) -> Result<Self, ArmError> {
        let chunks = spec.stream_bytes / READ_BYTES;
        let reader = READERS.get((chunks, spec.seed, number), || Reader::filled(chunks, number))?;
        Ok(Self { reader, bytes_per_ns, busy: Arc::clone(busy), streamed_bytes: 0, streamed_ns: 0 })
    }

    /// What it reached over all samples.
    #[expect(clippy::cast_precision_loss, reason = "far under 2^52 bytes and nanoseconds")]
    pub(super) fn bytes_per_ns(&self) -> f64 {
        self.streamed_bytes as f64 / self.streamed_ns.max(1) as f64
    }

    /// Reads whenever it is behind its rate, and spins whenever it is ahead.
    pub(super) fn work(&mut self) -> Result<Done, ArmError> {
        let mut reader = lock(&self.reader);
        let (begin, mut bytes) = (Instant::now(), 0);
        // A lane that could not begin never ends.
        while self.busy.load(Ordering::Acquire) > 0 && begin.elapsed() < PATIENCE {
            if self.is_due(bytes, begin.elapsed()) {
                reader.work(1)?;
                bytes += READ_BYTES as u64;
            } else {
                spin_loop();
            }
        }
        drop(reader);
        self.streamed_bytes += bytes;
        self.streamed_ns += u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Done::default())
    }

    #[expect(clippy::cast_precision_loss, reason = "far under 2^52 bytes and nanoseconds")]
    fn is_due(&self, bytes: u64, since: Duration) -> bool {
        self.bytes_per_ns.is_none_or(|rate| (bytes as f64) < rate * since.as_nanos() as f64)
    }
}

static READERS: Pool<Reader> = Pool::new();

const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paced_stream_holds_its_rate_and_reads_no_more() {
        let spec = ContendedSpec {
            cipher: String::new(),
            threads: 1,
            text_bytes: 0,
            streamers: 1,
            share_percent: 50,
            stream_bytes: 4 * READ_BYTES,
            seed: 1,
        };
        let streamer = Streamer::new(&spec, 0, Some(2.0), &Arc::default()).unwrap();
        let since = Duration::from_micros(100);
        assert!(streamer.is_due(0, Duration::from_nanos(1)));
        assert!(streamer.is_due(199_999, since) && !streamer.is_due(200_000, since));
        let free = Streamer { bytes_per_ns: None, ..streamer };
        assert!(free.is_due(u64::MAX, since));
    }
}
