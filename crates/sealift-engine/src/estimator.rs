use sealift_core::Cost;

/// Learns what batches cost on a device from what they took.
///
/// Recursive least squares on the three terms of a [`Cost`], on errors relative to the larger of
/// what was predicted and what was measured: a residual lies within -1..1, whatever comes in.
///
/// **Forgetting** is directional: a batch makes room for itself only along what it tells about. A
/// million equal batches leave what is known of other shapes as it was, and no variance ever exceeds
/// the one it started with.
///
/// **Outliers and changes** are told apart by counting. One batch that surprises has a bounded
/// influence: the further it lies outside what is known, the less it counts. Three surprises close
/// together, or predictions that stay on one side, are no accident: the device became faster or
/// slower, whichever the last ones say. All terms are then scaled by what these have in common, and are
/// as uncertain again as at the start. Where that doesn't end the surprises, each term is learnt anew
/// on its own.
///
/// Learning allocates nothing, never panics, and every prediction is finite and not negative.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// Nanoseconds of set-up, for a message, for a byte.
    terms: [f64; 3],
    covariance: Covariance,
    /// Variances are kept below these.
    ceiling: [f64; 3],
    samples: u64,
    error: f64,
    /// Smoothed residual, sign and all.
    bias: f64,
    /// Surprises of late, older ones counting less.
    doubt: f64,
    /// The mildest of the surprises in doubt since the last on the other side: how many times the
    /// prediction it took.
    mildest: f64,
    /// How many samples there were when the device was last taken to have changed.
    changed_at: u64,
}

impl Estimator {
    /// Starts from what a device is thought to cost, taken to be wrong by about its own size, and
    /// rather by one factor for all terms than in each apart. A term that is wrongly 0 takes longer
    /// to learn than one that is ten times off. A term counts up to an hour.
    pub fn new(prior: Cost) -> Self {
        let terms = [prior.setup_ns(), prior.per_message_ns(), prior.per_byte_ns()].map(limited);
        let covariance = spread(&terms);
        let ceiling = diagonal(&covariance);
        Self {
            terms,
            covariance,
            ceiling,
            samples: 0,
            error: 1.0,
            bias: 0.0,
            doubt: 0.0,
            mildest: 1.0,
            changed_at: 0,
        }
    }

    /// Takes in that a batch of `messages` with `bytes` of text and aad took `ns` nanoseconds.
    ///
    /// Ignored are a batch without messages or with more than 2^32 of them or 2^48 bytes, one that
    /// took no time, which only says that the clock is coarse, and one that took more than an hour,
    /// in which the machine slept.
    pub fn learn(&mut self, messages: u64, bytes: u64, ns: u64) {
        if !(1..=MESSAGES_MAX).contains(&messages)
            || bytes > BYTES_MAX
            || !(1..=NS_MAX).contains(&ns)
        {
            return;
        }
        let batch = [1.0, messages as f64, bytes as f64];
        let (measured_ns, predicted_ns) = (ns as f64, dot(&self.terms, &batch));
        let scale = measured_ns.max(predicted_ns).recip();
        let residual = (measured_ns - predicted_ns) * scale;
        if self.has_changed(residual, measured_ns / predicted_ns) {
            self.start_again(&batch, measured_ns);
        } else {
            self.update(&batch.map(|x| x * scale), residual);
        }
    }

    /// What a batch costs, as far as is known.
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

    /// How far predictions were from measurements, smoothed over about 16 batches and relative to
    /// the larger of both: 0 is exact, 1 is worthless and what there is before the first batch.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Takes what is known for a guess again: the next batch counts as much as the very first one. For a device
    /// that had no batch for a while, in which the machine may have become another one.
    pub fn doubt(&mut self) {
        self.spread();
    }

    /// Counts a batch in, and says whether what is known no longer holds.
    fn has_changed(&mut self, residual: f64, times: f64) -> bool {
        let surprise = residual.abs();
        let expected = (3.0 * self.error).clamp(SURPRISE_MIN, SURPRISE_MAX);
        self.samples = self.samples.saturating_add(1);
        self.error += (surprise - self.error) / self.samples.min(SMOOTHED_BATCHES) as f64;
        self.bias += (residual - self.bias) / SMOOTHED_BATCHES as f64;
        self.doubt *= DOUBT_KEPT;
        if surprise > expected {
            let turns = (times > 1.0) != (self.mildest > 1.0);
            let is_first = self.doubt < DOUBT_GONE || turns;
            if is_first || times.ln().abs() < self.mildest.ln().abs() {
                self.mildest = times;
            }
            self.doubt += 1.0;
        }
        self.doubt >= DOUBT_MAX || self.bias.abs() > BIAS_MAX
    }

    #[cold]
    fn start_again(&mut self, batch: &[f64; 3], measured_ns: f64) {
        // What all surprises have in common is the change; the rest was a busy moment.
        let biased = if self.bias > 0.0 { 1.0 / (1.0 - self.bias) } else { 1.0 + self.bias };
        let times = if self.doubt >= DOUBT_MAX { self.mildest } else { biased };
        let factor = times.clamp(1.0 / FACTOR_MAX, FACTOR_MAX);
        self.terms = self.terms.map(|term| limited(term * factor));
        self.spread();
        if self.samples - self.changed_at < SETTLED_BATCHES {
            for (i, x) in batch.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                self.covariance[i][i] += limited(ALONE * measured_ns / x).powi(2);
                self.ceiling[i] = self.covariance[i][i];
            }
        }
        (self.bias, self.doubt) = (0.0, 0.0);
        self.changed_at = self.samples;
    }

    /// Takes the terms for a guess again.
    fn spread(&mut self) {
        self.covariance = spread(&self.terms);
        self.ceiling = diagonal(&self.covariance);
    }

    /// One step of least squares for a batch given in units of its own time.
    fn update(&mut self, row: &[f64; 3], residual: f64) {
        let toward = self.covariance.map(|column| dot(&column, row));
        let known = dot(&toward, row);
        if known < KNOWN_MIN {
            return self.spread();
        }
        let forgotten = known * (1.0 / KEPT);
        let noise = NOISE * outlying(residual, NOISE + forgotten);
        let weight = 1.0 / (known * (noise + forgotten));
        let gain = residual * forgotten * weight;
        // Forgetting adds variance along `toward`, learning takes some away: at a share of `noise`
        // they are even.
        let stretch = (noise * (1.0 / KEPT - 1.0) - forgotten) * weight;
        for i in 0..3 {
            self.terms[i] += toward[i] * gain;
            for j in 0..3 {
                self.covariance[i][j] += toward[i] * toward[j] * stretch;
            }
        }
        self.bound();
        if !self.terms.iter().all(|term| (0.0..=TERM_MAX_NS).contains(term)) {
            self.project(row);
        }
    }

    /// Scales rows and columns so that no variance exceeds its ceiling; what remains is a covariance.
    fn bound(&mut self) {
        for i in 0..3 {
            let variance = self.covariance[i][i];
            if variance > self.ceiling[i] {
                let factor = (self.ceiling[i] / variance).sqrt();
                for j in 0..3 {
                    self.covariance[i][j] *= factor;
                    self.covariance[j][i] *= factor;
                }
            }
        }
    }

    /// Moves the terms to the likeliest ones of which none is negative. Cutting off alone would leave
    /// the others with an error that only the negative one made up for.
    #[cold]
    fn project(&mut self, row: &[f64; 3]) {
        for _ in 0..3 {
            let share = |i: &usize| self.terms[*i] * row[*i];
            let lowest = (0..3).min_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(0);
            let variance = self.covariance[lowest][lowest];
            if self.terms[lowest] >= 0.0 || variance <= 0.0 {
                break;
            }
            let missing = -self.terms[lowest] / variance;
            for i in 0..3 {
                self.terms[i] += self.covariance[i][lowest] * missing;
            }
            self.terms[lowest] = 0.0;
        }
        self.terms = self.terms.map(limited);
    }
}

type Covariance = [[f64; 3]; 3];

/// How uncertain terms are that may be wrong by their own size, rather together than apart.
fn spread(terms: &[f64; 3]) -> Covariance {
    let mut covariance = terms.map(|a| terms.map(|b| COMMON * a * b));
    for (i, extreme) in EXTREMES.iter().enumerate() {
        let least = TERM_SHARE_MIN * dot(terms, extreme) / extreme[i];
        covariance[i][i] = terms[i].max(least).powi(2);
    }
    covariance
}

/// How many times as far out as is usual a residual lies, and 1 where it isn't out.
fn outlying(residual: f64, variance: f64) -> f64 {
    let squared = residual * residual / (OUTLIER * OUTLIER * variance);
    if squared > 1.0 { squared.sqrt() } else { 1.0 }
}

fn diagonal(covariance: &Covariance) -> [f64; 3] {
    [covariance[0][0], covariance[1][1], covariance[2][2]]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Within 0 and an hour; 0 also for what is no number.
fn limited(term_ns: f64) -> f64 {
    if term_ns > 0.0 { term_ns.min(TERM_MAX_NS) } else { 0.0 }
}

const MESSAGES_MAX: u64 = 1 << 32;
const BYTES_MAX: u64 = 1 << 48;
/// An hour.
const NS_MAX: u64 = 3_600_000_000_000;
const TERM_MAX_NS: f64 = NS_MAX as f64;
/// Share of a wrong cost's variance that is one factor on all terms: a slower clock, a busy machine.
const COMMON: f64 = 0.97;
/// A term is as uncertain as this share at least of the batch in which it weighs most, so that one of
/// 0 isn't believed for ever.
const TERM_SHARE_MIN: f64 = 0.02;
/// The batches in which each term weighs most.
const EXTREMES: [[f64; 3]; 3] = [[1.0, 1.0, 0.0], [1.0, 4096.0, 0.0], [1.0, 1.0, 65_536.0]];
/// Variance of measurements, relative: what batches scatter by themselves.
const NOISE: f64 = 0.03 * 0.03;
/// What a batch weighs after the next one of its kind: about 20 batches are remembered.
const KEPT: f64 = 0.95;
/// A variance this small, relative, leaves nothing to learn, and dividing by less could overflow.
const KNOWN_MIN: f64 = 1e-24;
/// Residuals beyond this many standard deviations count in proportion, not in full.
const OUTLIER: f64 = 3.0;
const SMOOTHED_BATCHES: u64 = 16;
/// A surprise is three times the usual error, and between these whatever is usual.
const SURPRISE_MIN: f64 = 0.2;
const SURPRISE_MAX: f64 = 0.6;
/// With these, two surprises in a row are doubt and three within six batches a change.
const DOUBT_KEPT: f64 = 7.0 / 8.0;
const DOUBT_MAX: f64 = 2.0;
/// With less of it, what surprised is over.
const DOUBT_GONE: f64 = 0.5;
/// So far to one side of the measurements predictions stay by no accident.
const BIAS_MAX: f64 = 1.0 / 8.0;
/// The most that a device is taken to become faster or slower at once.
const FACTOR_MAX: f64 = 1e3;
/// A second change within as many batches means that it was no common factor.
const SETTLED_BATCHES: u64 = 30;
/// Then each term is uncertain by this share of what the batch took.
const ALONE: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_variance_exceeds_the_one_it_started_with(
            prior in prop::array::uniform3(-300.0..12.0f64),
            batches in prop::collection::vec((0..34u32, 0..50u32, 0..43u32, any::<u64>()), 0..300),
        ) {
            let [setup, per_message, per_byte] = prior.map(|power| 10f64.powf(power));
            let mut estimator = Estimator::new(Cost::clamped(setup, per_message, per_byte));
            for (messages, bytes, ns, bits) in batches {
                let [messages, bytes, ns] = [messages, bytes, ns].map(|log2| bits >> (63 - log2));
                estimator.learn(messages, bytes, ns);
                let variances = diagonal(&estimator.covariance);
                prop_assert!(estimator.covariance.as_flattened().iter().all(|x| x.is_finite()));
                for (variance, ceiling) in variances.iter().zip(estimator.ceiling) {
                    prop_assert!(*variance <= ceiling * (1.0 + 1e-9), "{estimator:?}");
                }
            }
        }
    }
}
