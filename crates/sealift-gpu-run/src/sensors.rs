//! What sensors tell while everything runs, once a second.

use crate::folder::{self, Folder};
use crate::machine::{Facts, fact, load_1min};
use crate::nvml::Nvml;
use serde_json::{Map, Value, json};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Reads the sensors in a thread of its own, as long as it lives.
#[derive(Debug)]
pub(crate) struct Sensors {
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sensors {
    /// Begins to read.
    pub(crate) fn begin(nvml: Result<Nvml, String>, folder: &Folder) -> Self {
        let (ends, ended) = channel();
        let (folder, began) = (folder.clone(), Instant::now());
        let thread = thread::spawn(move || {
            // A disk that is full is told by whoever writes results.
            while add(&nvml, &folder, began).is_ok()
                && ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout)
            {}
        });
        Self { ends: Some(ends), thread: Some(thread) }
    }
}

impl Drop for Sensors {
    fn drop(&mut self) {
        drop(self.ends.take());
        let ended = self.thread.take().map(JoinHandle::join);
        debug_assert!(ended.is_none_or(|ended| ended.is_ok()), "the thread panics on nothing");
    }
}

/// What each sensor tells now, or why it tells nothing.
pub(crate) fn look(nvml: &Result<Nvml, String>) -> Facts {
    let mut facts = Facts::new();
    facts.insert("load_1min".to_owned(), fact(load_1min()));
    match nvml {
        Err(reason) => {
            let none: Result<Value, _> = Err(reason.clone());
            facts.insert("gpu_temperature_c".to_owned(), fact(none));
        }
        Ok(nvml) => {
            let told = readings(nvml).map(|(name, value)| (name, fact(value)));
            facts.extend(told);
        }
    }
    facts
}

fn add(nvml: &Result<Nvml, String>, folder: &Folder, began: Instant) -> Result<(), String> {
    let mut values = Map::new();
    values.extend(load_1min().ok().map(|load| ("load_1min".to_owned(), load.into())));
    if let Ok(nvml) = nvml {
        values.extend(readings(nvml).filter_map(|(name, value)| Some((name, value.ok()?.into()))));
    }
    let at_s = began.elapsed().as_secs_f64();
    folder.add(folder::SENSORS, &[json!({"at_s": at_s, "values": values})])
}

/// By name, with the GPU's number first where there are several.
fn readings(nvml: &Nvml) -> impl Iterator<Item = (String, Result<f64, String>)> {
    let gpus = u32::try_from(nvml.gpus().len()).unwrap_or(0);
    let name = move |gpu, name| {
        if gpus == 1 { format!("gpu_{name}") } else { format!("gpu_{gpu}_{name}") }
    };
    (0..gpus).flat_map(move |gpu| {
        nvml.read(gpu).into_iter().map(move |(sensor, value)| (name(gpu, sensor), value))
    })
}

const EVERY: Duration = Duration::from_secs(1);
