//! A cipher that works from memory while other threads stream memory.

mod lane;
mod pool;
mod streamer;

use crate::crew::{Crew, Done, Part};
use crate::read::{READ_BYTES, ReadArm};
use crate::{Arm, ArmError, Sample, Verified};
use lane::{Cipher, Lane};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use streamer::Streamer;

/// What a [`ContendedArm`] does.
#[derive(Clone, Debug)]
pub struct ContendedSpec {
    /// "gcm" or "ctr".
    pub cipher: String,
    /// Threads that encrypt.
    pub threads: usize,
    /// Bytes of plaintext of each of them, and as many of ciphertext.
    pub text_bytes: usize,
    /// Threads that stream.
    pub streamers: usize,
    /// What all of them together stream, in per cent of what memory gives; 100 for as much as
    /// they get.
    pub share_percent: u8,
    /// Bytes that each of them streams, again and again.
    pub stream_bytes: usize,
    /// Of keys and texts.
    pub seed: u64,
}

/// AES-128 over texts in memory, a mebibyte an operation, beside threads that read memory as fast as
/// they are told.
///
/// Arms that ask for the same memory share it. What memory gives is measured before, by as many
/// threads as encrypt and stream together. After each sample every thread compares the last mebibyte
/// that it encrypted with what AWS-LC makes of it.
pub struct ContendedArm {
    hands: Vec<Hand>,
    crew: Crew,
    busy: Arc<AtomicUsize>,
    ceiling: Option<Sample>,
    share_percent: u8,
    detail: String,
    verified: Verified,
}

/// What a thread of the crew does.
enum Hand {
    Lane(Box<Lane>),
    Streamer(Streamer),
}

impl ContendedArm {
    /// Measures the ceiling, fills memory and encrypts once, asking before whether that is still
    /// wanted.
    ///
    /// # Errors
    /// A number is out of range, there is no such cipher; no memory; [`ArmError::Stopped`]; a result
    /// is wrong.
    pub fn prepare_while(
        spec: &ContendedSpec,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        spec.check()?;
        let ceiling = if spec.streamers == 0 { None } else { Some(ceiling(spec, wanted)?) };
        let busy = Arc::new(AtomicUsize::new(0));
        let mut hands = vec![];
        let mut detail = String::new();
        for thread in 0..spec.threads {
            let cipher = Cipher::new(&spec.cipher, spec.seed)?;
            detail = cipher.detail();
            let lane = Lane::new(cipher, spec, thread, &busy, &mut || stop_unless(wanted()))?;
            hands.push(Hand::Lane(Box::new(lane)));
        }
        let rate = ceiling.map_or(0.0, bytes_per_ns) * f64::from(spec.share_percent) / 100.0;
        let paced = (spec.share_percent < 100).then(|| rate / count(spec.streamers));
        for number in 0..spec.streamers {
            stop_unless(wanted())?;
            hands.push(Hand::Streamer(Streamer::new(spec, number, paced, &busy)?));
        }
        let mut arm = Self {
            crew: Crew::of(hands.len()),
            hands,
            busy,
            ceiling,
            share_percent: spec.share_percent,
            detail,
            verified: Verified::Against(vec!["library".to_owned()]),
        };
        arm.run(1)?;
        Ok(arm)
    }

    fn run(&mut self, times: usize) -> Result<Sample, ArmError> {
        let lanes = self.hands.iter().filter(|hand| matches!(hand, Hand::Lane(_))).count();
        self.busy.store(lanes, Ordering::Release);
        self.crew.run(&mut self.hands, times)
    }

    fn streamers(&self) -> impl Iterator<Item = &Streamer> {
        self.hands.iter().filter_map(|hand| match hand {
            Hand::Streamer(streamer) => Some(streamer),
            Hand::Lane(_) => None,
        })
    }
}

impl ContendedSpec {
    fn check(&self) -> Result<(), ArmError> {
        ArmError::check("threads", self.threads, 1, crate::THREADS_MAX)?;
        ArmError::check("streamers", self.streamers, 0, crate::THREADS_MAX)?;
        ArmError::check("per cent of the ceiling", self.share_percent.into(), 1, 100)?;
        ArmError::check("bytes of text", self.text_bytes, lane::CHUNK_BYTES, usize::MAX)?;
        ArmError::check("bytes to stream", self.stream_bytes, READ_BYTES, usize::MAX)
    }
}

impl Arm for ContendedArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        self.run(self.crew.times_for(seconds))
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    /// Mebibytes compared; what streamed beside, and how long; what memory gave, and how long.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        let compared = self.hands.iter().map(|hand| match hand {
            Hand::Lane(lane) => lane.compared,
            Hand::Streamer(_) => 0,
        });
        let mut counts = vec![("mebibytes_compared", compared.sum())];
        if let Some(ceiling) = self.ceiling {
            counts.push(("streamed_bytes", self.streamers().map(|each| each.streamed_bytes).sum()));
            let ns = self.streamers().map(|each| each.streamed_ns).max().unwrap_or(0);
            counts.push(("streamed_ns", ns));
            counts.push(("ceiling_bytes", ceiling.bytes));
            counts.push(("ceiling_ns", ceiling.ns));
        }
        counts
    }

    fn told(&self) -> Vec<(&'static str, String)> {
        let Some(ceiling) = self.ceiling else { return vec![] };
        let most = bytes_per_ns(ceiling);
        let reached: f64 = self.streamers().map(Streamer::bytes_per_ns).sum();
        let told = format!(
            "{} % of {most:.1} GB/s wanted, {reached:.1} GB/s reached, {:.0} %",
            self.share_percent,
            100.0 * reached / most.max(1e-9)
        );
        vec![("streams", told)]
    }
}

impl Part for Hand {
    fn ready(&mut self, times: usize) {
        if let Self::Lane(lane) = self {
            lane.ready(times);
        }
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        match self {
            Self::Lane(lane) => lane.work(times),
            Self::Streamer(streamer) => streamer.work(),
        }
    }

    fn check(&mut self) -> Result<(), ArmError> {
        if let Self::Lane(lane) = self { lane.check() } else { Ok(()) }
    }
}

/// The best of a few samples of reading, by as many threads as the arm has in all.
fn ceiling(spec: &ContendedSpec, wanted: &mut dyn FnMut() -> bool) -> Result<Sample, ArmError> {
    let threads = spec.threads + spec.streamers;
    let bytes = spec.stream_bytes.max(READ_BYTES) * threads;
    let mut reading = ReadArm::prepare_while(bytes, threads, wanted)?;
    let mut best: Option<Sample> = None;
    for _ in 0..CEILING_SAMPLES {
        stop_unless(wanted())?;
        let sample = reading.sample(CEILING_SECONDS)?;
        if best.is_none_or(|before| bytes_per_ns(sample) > bytes_per_ns(before)) {
            best = Some(sample);
        }
    }
    best.ok_or(ArmError::NoMemory { bytes })
}

fn stop_unless(wanted: bool) -> Result<(), ArmError> {
    if wanted {
        return Ok(());
    }
    Err(ArmError::Stopped { device: "texts beside streams".to_owned() })
}

#[expect(clippy::cast_precision_loss, reason = "far under 2^52 bytes and nanoseconds")]
fn bytes_per_ns(sample: Sample) -> f64 {
    sample.bytes as f64 / sample.ns as f64
}

#[expect(clippy::cast_precision_loss, reason = "at most THREADS_MAX")]
fn count(threads: usize) -> f64 {
    threads as f64
}

const CEILING_SAMPLES: usize = 5;
const CEILING_SECONDS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a seed of its own, so that tests that run at the same time share nothing.
    fn spec(cipher: &str, streamers: usize, share_percent: u8, seed: u64) -> ContendedSpec {
        ContendedSpec {
            cipher: cipher.to_owned(),
            threads: 1,
            text_bytes: 2 * lane::CHUNK_BYTES,
            streamers,
            share_percent,
            stream_bytes: 4 * READ_BYTES,
            seed,
        }
    }

    /// GCM is the device cpu's, which is absent where the kernels are compiled out.
    const CIPHERS: &[&str] = if cfg!(all(target_arch = "x86_64", not(sealift_portable))) {
        &["gcm", "ctr"]
    } else {
        &["ctr"]
    };

    fn prepare(spec: &ContendedSpec) -> Result<ContendedArm, ArmError> {
        ContendedArm::prepare_while(spec, &mut || true)
    }

    fn counted(arm: &ContendedArm, name: &str) -> u64 {
        arm.counts().into_iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
    }

    #[test]
    fn a_sample_counts_what_is_encrypted_and_nothing_that_streams() {
        for cipher in CIPHERS {
            let mut arm = prepare(&spec(cipher, 1, 100, 1)).unwrap();
            let before = counted(&arm, "streamed_bytes");
            // On a busy machine what streams may get no core in one sample.
            let streams = (0..1_000).any(|_| {
                let sample = arm.sample(0.002).unwrap();
                assert_eq!(sample.bytes, sample.operations * lane::CHUNK_BYTES as u64, "{cipher}");
                counted(&arm, "streamed_bytes") > before
            });
            assert!(streams, "{cipher}");
            assert!(counted(&arm, "ceiling_bytes") > 0 && counted(&arm, "ceiling_ns") > 0);
            assert!(arm.told()[0].1.starts_with("100 % of "), "{:?}", arm.told());
        }
    }

    #[test]
    fn without_streams_there_is_no_ceiling() {
        let arm = prepare(&spec("ctr", 0, 100, 2)).unwrap();
        assert!(arm.told().is_empty());
        assert_eq!(counted(&arm, "ceiling_ns"), 0);
    }

    #[test]
    fn a_byte_that_is_wrong_is_noticed_after_the_sample() {
        for cipher in CIPHERS {
            let mut arm = prepare(&spec(cipher, 0, 100, 3)).unwrap();
            let Hand::Lane(lane) = &mut arm.hands[0] else { panic!("the first one encrypts") };
            lane.spoil_source();
            assert!(matches!(lane.check(), Err(ArmError::Wrong { .. })), "{cipher}");
        }
    }

    #[test]
    fn what_can_not_be_is_refused_with_what_would_be_right() {
        let error = |spec: &ContendedSpec| prepare(spec).err().unwrap().to_string();
        assert!(error(&spec("cbc", 0, 100, 4)).contains("gcm or ctr"));
        assert!(error(&spec("ctr", 1, 0, 4)).contains("right would be 1 to 100"));
        assert!(
            error(&ContendedSpec { text_bytes: 1, ..spec("ctr", 0, 100, 4) }).contains("1048576")
        );
        let stopped = ContendedArm::prepare_while(&spec("ctr", 0, 100, 4), &mut || false);
        assert!(matches!(stopped.err(), Some(ArmError::Stopped { .. })));
    }
}
