use sealift_core::Cost;

/// Learns what batches cost on a device from what they took.
///
/// Recursive least squares with forgetting on the terms of a [`Cost`]. Each residual is relative to
/// the larger of what was predicted and what was measured, so it lies within -1..1: an outlier, long
/// or short, has little weight against what is known. What lasts is told from what is single by
/// counting: three surprises close together mean that the device changed, and the terms become as
/// uncertain again as at the start, so that the next batches settle them anew.
///
/// Nothing it is given makes it panic, allocate or predict anything but a finite number.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// Nanoseconds of set-up, a message, a byte.
    terms: [f64; 3],
    covariance: Covariance,
    samples: u64,
    error: f64,
    doubt: f64,
}

impl Estimator {
    /// Starts from what a device is thought to cost. Terms are limited to 10^15 nanoseconds.
    pub fn new(prior: Cost) -> Self {
        let terms = [prior.setup_ns(), prior.per_message_ns(), prior.per_byte_ns()]
            .map(|term| term.min(TERM_MAX_NS));
        let covariance = spread(&terms, &TYPICAL, dot(&terms, &TYPICAL));
        Self { terms, covariance, samples: 0, error: 1.0, doubt: 0.0 }
    }

    /// Takes in that a batch of `messages` with `bytes` of text and aad took `ns` nanoseconds.
    ///
    /// Ignored are batches without messages and those that took no time at all: such a clock was
    /// too coarse to tell anything.
    pub fn learn(&mut self, messages: u64, bytes: u64, ns: u64) {
        if messages == 0 || ns == 0 {
            return;
        }
        let batch = [1.0, messages as f64, bytes as f64];
        let measured_ns = ns as f64;
        let residual = self.residual(&batch, measured_ns);
        if self.changed(residual.abs()) {
            self.covariance = spread(&self.terms, &batch, measured_ns);
        }
        self.update(&batch, measured_ns);
    }

    /// What a batch costs, as far as is known; terms are never negative.
    pub fn cost(&self) -> Cost {
        let [setup_ns, per_message_ns, per_byte_ns] = self.terms;
        Cost::clamped(setup_ns, per_message_ns, per_byte_ns)
    }

    /// What a batch of `messages` with `bytes` of text and aad will take, in nanoseconds.
    pub fn predict_ns(&self, messages: u64, bytes: u64) -> f64 {
        dot(&self.terms, &[1.0, messages as f64, bytes as f64])
    }

    /// How many batches it has learnt from.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How far predictions were from measurements, smoothed over the last 16 batches and relative to
    /// the larger of both: 0 is exact, 1 is worthless and what it says before the first batch.
    pub fn error(&self) -> f64 {
        self.error
    }

    fn residual(&self, batch: &[f64; 3], measured_ns: f64) -> f64 {
        let predicted_ns = dot(&self.terms, batch);
        (measured_ns - predicted_ns) / measured_ns.max(predicted_ns)
    }

    /// Counts a batch and says whether the device has become another one.
    fn changed(&mut self, surprise: f64) -> bool {
        let surprised = surprise > (3.0 * self.error).clamp(SURPRISE_MIN, SURPRISE_MAX);
        self.samples += 1;
        self.error += (surprise - self.error) / (self.samples.min(ERROR_BATCHES) as f64);
        self.doubt = self.doubt * DOUBT_KEPT + f64::from(u8::from(surprised));
        let changed = self.doubt >= DOUBT_MAX;
        if changed {
            self.doubt = 0.0;
        }
        changed
    }

    fn update(&mut self, batch: &[f64; 3], measured_ns: f64) {
        let scale = measured_ns.max(dot(&self.terms, batch));
        let row = batch.map(|x| x / scale);
        let residual = measured_ns / scale - dot(&self.terms, &row);
        let toward = times(&self.covariance, &row);
        let known = dot(&toward, &row);
        if known < KNOWN_MIN {
            return;
        }
        let forgotten = known / KEPT;
        let gain = residual / KEPT / (NOISE + forgotten);
        let shrink = (1.0 / KEPT - 1.0 - forgotten / KEPT / (NOISE + forgotten)) / known;
        for i in 0..3 {
            self.terms[i] += toward[i] * gain;
            for j in 0..3 {
                self.covariance[i][j] += toward[i] * toward[j] * shrink;
            }
        }
        self.project();
    }

    fn project(&mut self) {
        for term in &mut self.terms {
            *term = term.clamp(0.0, TERM_MAX_NS);
        }
    }
}

type Covariance = [[f64; 3]; 3];

fn spread(terms: &[f64; 3], batch: &[f64; 3], ns: f64) -> Covariance {
    let mut covariance = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            covariance[i][j] = terms[i] * terms[j] * COMMON;
        }
        let least = if batch[i] > 0.0 { TERM_SHARE_MIN * ns / batch[i] } else { 0.0 };
        let own = terms[i].max(least.min(TERM_MAX_NS));
        covariance[i][i] += own * own * (1.0 - COMMON);
    }
    covariance
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn times(covariance: &Covariance, row: &[f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i: usize| dot(&covariance[i], row))
}

const TERM_MAX_NS: f64 = 1e15;
const TYPICAL: [f64; 3] = [1.0, 64.0, 65_536.0];
const TERM_SHARE_MIN: f64 = 0.02;
const COMMON: f64 = 0.95;
const NOISE: f64 = 0.03 * 0.03;
const KEPT: f64 = 0.95;
const KNOWN_MIN: f64 = 1e-30;
const ERROR_BATCHES: u64 = 16;
const SURPRISE_MIN: f64 = 0.2;
const SURPRISE_MAX: f64 = 0.6;
const DOUBT_KEPT: f64 = 7.0 / 8.0;
const DOUBT_MAX: f64 = 2.0;
