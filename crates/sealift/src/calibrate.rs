//! Finds out what batches cost on a machine's devices.

use sealift_core::{
    Batch, Capabilities, Column, Cost, DeviceError, Key, NONCE_BYTES, Origin, OwnedOutput, Timing,
};
use sealift_drivers::cache::{Cache, Kept, Measured};
use sealift_engine::{DeviceId, Engine, EngineError, Estimator, Options, Session};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// What [`Engine::calibrate`](crate::Engine::calibrate) found.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// One for each device, in the engine's order.
    pub devices: Vec<Calibrated>,
    /// Where costs are kept; none where there is no place for them.
    pub file: Option<PathBuf>,
    /// What kept costs from being read or kept there. Nothing else comes of it.
    pub remarks: Vec<String>,
}

/// What a device's batches cost.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// Which device.
    pub device: DeviceId,
    /// What the engine goes by from now on, until it has learnt more.
    pub cost: Cost,
    /// Where that is from.
    pub source: CostSource,
}

/// Where a cost is from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostSource {
    /// Measured just now.
    Measured,
    /// The cache.
    Cache {
        /// When it was measured.
        measured_at: SystemTime,
    },
    /// What the device says of itself, and what was learnt from its batches.
    Known {
        /// Why it was not measured.
        reason: String,
    },
}

pub(crate) fn calibrate(
    engine: &Engine,
    cache: &Cache,
    anew: bool,
) -> Result<Calibration, EngineError> {
    let mut remarks = vec![];
    let kept = cache.read().unwrap_or_else(|remark| {
        remarks.push(remark.to_string());
        Kept::default()
    });
    let devices: Vec<_> = engine.devices().collect();
    let known = if anew { &Kept::default() } else { &kept };
    let find = |(id, device): &(DeviceId, &Capabilities)| find(engine, *id, device, known);
    let found = devices.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let measured = devices.iter().zip(&found);
    let measured = measured.filter(|(_, found)| found.source == CostSource::Measured);
    let measured = measured.map(|((_, device), found)| Measured::Device {
        name: device.name.clone(),
        cost: found.cost,
    });
    let measured: Vec<_> = measured.collect();
    if !measured.is_empty()
        && let Err(remark) = cache.keep(kept.clone(), measured)
    {
        // This one says what to do; what can't be read would have been replaced.
        remarks = vec![remark.to_string()];
    }
    Ok(Calibration { devices: found, file: cache.file(), remarks })
}

/// What a device costs: from the cache, or measured.
fn find(
    engine: &Engine,
    device: DeviceId,
    capabilities: &Capabilities,
    kept: &Kept,
) -> Result<Calibrated, EngineError> {
    let known = |reason: String| {
        let cost = engine.cost(device)?;
        Ok(Calibrated { device, cost, source: CostSource::Known { reason } })
    };
    if capabilities.origin != Origin::Measured {
        return known("its time is not of this machine, and it says what it costs".to_owned());
    }
    let (cost, source) = match kept.device(&capabilities.name) {
        Some((cost, measured_at)) => (cost, CostSource::Cache { measured_at }),
        None => match measure(engine, device, capabilities) {
            Ok(cost) => (cost, CostSource::Measured),
            Err(EngineError::Forked) => return Err(EngineError::Forked),
            Err(error) => return known(error.to_string()),
        },
    };
    engine.set_cost(device, cost)?;
    Ok(Calibrated { device, cost, source })
}

/// Times batches of a few shapes, smallest first, as far as the time reaches.
fn measure(
    engine: &Engine,
    device: DeviceId,
    capabilities: &Capabilities,
) -> Result<Cost, EngineError> {
    let session = engine.session(random_key()?)?;
    let material = Material::new();
    let lane = Lane { engine, session: &session, device, capabilities };
    // A device takes what it needs at its first batch.
    lane.median(&material, POINTS[0], Instant::now())?;
    let mut points: Vec<(Point, u64)> = vec![];
    let mut cost = capabilities.cost;
    let end = Instant::now() + DEVICE_MAX;
    for point in POINTS {
        let left = end.saturating_duration_since(Instant::now());
        let twice_ns = 2.0 * cost.of(point.messages as u64, point.bytes());
        if !points.is_empty() && twice_ns > left.as_nanos() as f64 {
            break;
        }
        points.push((*point, lane.median(&material, *point, end)?));
        cost = fit(capabilities.cost, &points);
    }
    Ok(cost)
}

/// The cost that meets the points best, by errors relative to them.
fn fit(prior: Cost, points: &[(Point, u64)]) -> Cost {
    let mut estimator = Estimator::new(prior);
    for (point, ns) in points.iter().cycle().take(ROUNDS * points.len()) {
        estimator.learn(point.messages as u64, point.bytes(), *ns);
    }
    estimator.cost()
}

/// Messages of one length.
#[derive(Clone, Copy, Debug)]
struct Point {
    messages: usize,
    text_bytes: usize,
}

impl Point {
    fn bytes(self) -> u64 {
        self.messages as u64 * self.text_bytes as u64
    }
}

/// What all batches are made of: no secret, but nobody's either.
struct Material {
    texts: Vec<u8>,
    nonces: Vec<u8>,
}

impl Material {
    fn new() -> Self {
        let numbers = 0..POINTS.iter().map(|point| point.messages as u64).max().unwrap_or(0);
        let nonce = |number: u64| [&[0; 4], &number.to_be_bytes()[..]].concat();
        let bytes = POINTS.iter().map(|point| point.messages * point.text_bytes).max();
        Self { texts: vec![0; bytes.unwrap_or(0)], nonces: numbers.flat_map(nonce).collect() }
    }

    /// The same bytes are sealed under one nonce again and again, which tells nobody anything new.
    fn batch(&self, session: &Session, point: Point) -> Batch<'_> {
        let Point { messages, text_bytes } = point;
        let texts = Column::fixed(&self.texts[..messages * text_bytes], text_bytes);
        let nonces = Column::fixed(&self.nonces[..messages * NONCE_BYTES], NONCE_BYTES);
        Batch::seal(messages, session.id(), nonces, texts)
    }

    /// One that a device's workers may have.
    fn owned_batch(&self, session: &Session, point: Point) -> Batch<'static> {
        let Point { messages, text_bytes } = point;
        let texts = Column::fixed(self.texts[..messages * text_bytes].to_vec(), text_bytes);
        let nonces = self.nonces[..messages * NONCE_BYTES].to_vec();
        Batch::seal(messages, session.id(), Column::fixed(nonces, NONCE_BYTES), texts)
    }
}

/// The way to one device.
struct Lane<'e> {
    engine: &'e Engine,
    session: &'e Session,
    device: DeviceId,
    capabilities: &'e Capabilities,
}

impl Lane<'_> {
    /// The median of some batches, after one that nobody times; of one at least, if it is late.
    /// Results are thrown away.
    fn median(&self, material: &Material, point: Point, end: Instant) -> Result<u64, EngineError> {
        let batch = material.batch(self.session, point);
        // One for all: new memory costs more than the work at its first touch.
        let mut output = OwnedOutput::for_batch(&batch)?;
        let options = Options {
            on: Some(self.device),
            threads: Some(NonZeroUsize::MIN),
            ..Options::default()
        };
        let mut work = || {
            let timing = if self.capabilities.runs_on_calling_thread {
                self.engine.run(&batch, output.as_output(), &options)?.timing
            } else {
                self.submit(material.owned_batch(self.session, point), &options)?
            };
            Ok::<_, EngineError>(timing.end_ns.saturating_sub(timing.start_ns).max(1))
        };
        work()?;
        let (begun, mut samples) = (Instant::now(), vec![]);
        while samples.is_empty() || samples.len() < SAMPLES_MAX && Instant::now() < end {
            samples.push(work()?);
            if samples.len() >= SAMPLES_MIN && begun.elapsed() > POINT_MAX {
                break;
            }
        }
        output.wipe();
        samples.sort_unstable();
        Ok(samples[samples.len() / 2])
    }

    /// Works a batch on the device's workers.
    fn submit(&self, batch: Batch<'static>, options: &Options) -> Result<Timing, EngineError> {
        let device = || self.capabilities.name.clone();
        let failed = |reason: String| DeviceError::Failed { device: device(), reason };
        let ticket =
            self.engine.submit(batch, options).map_err(|error| failed(error.to_string()))?;
        let Some(completed) = self.engine.wait(Some(ticket), None)? else {
            return Err(failed("it gave no answer".to_owned()).into());
        };
        let (mut output, report) = completed.outcome?;
        output.wipe();
        Ok(report.timing)
    }
}

fn random_key() -> Result<Key, EngineError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| EngineError::Random { reason: error.to_string() })?;
    Key::new(&bytes).map_err(|error| EngineError::Random { reason: error.to_string() })
}

/// What is timed: the first tells of the set-up, the last of bytes.
const POINTS: &[Point] = &[
    Point { messages: 1, text_bytes: 16 },
    Point { messages: 64, text_bytes: 16 },
    Point { messages: 1, text_bytes: 4_096 },
    Point { messages: 1_024, text_bytes: 16 },
    Point { messages: 64, text_bytes: 4_096 },
    Point { messages: 1_024, text_bytes: 4_096 },
];
/// For all points of a device.
const DEVICE_MAX: Duration = Duration::from_millis(30);
const POINT_MAX: Duration = Duration::from_millis(4);
/// Enough that some batches that were held up don't matter.
const SAMPLES_MIN: usize = 7;
const SAMPLES_MAX: usize = 25;
/// So often the estimator is shown all points: it forgets about as slowly as that.
const ROUNDS: usize = 8;

#[cfg(test)]
mod tests;
