use super::*;
use crate::software::{self, Crew, Software};
use sealift_core::{
    Context, Device, Driver, OpenError, Probe, Role, SessionId, Spec, Status, Work,
};
use sealift_engine::Settings;
use sealift_engine::simulate::{Jitter, Model, pool};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[test]
fn the_cost_of_a_device_is_found_whatever_it_says_of_itself() {
    let truths =
        [(300.0, 40.0, 0.06), (25_000.0, 3.0, 0.02), (0.0, 900.0, 1.5), (5_000.0, 0.0, 0.0)];
    for (setup_ns, message_ns, byte_ns) in truths {
        let truth = Cost::new(setup_ns, message_ns, byte_ns).unwrap();
        for (quoted_times, runs_on_calling_thread) in [(1.0, true), (10.0, false), (0.1, true)] {
            let [a, b, c] = [setup_ns, message_ns, byte_ns].map(|term| term * quoted_times);
            let model = Model {
                quoted: Some(Cost::new(a, b, c).unwrap()),
                jitter: Jitter::Even { share: 0.02 },
                runs_on_calling_thread,
                ..Model::new("machine", truth)
            };
            let engine = pool([model]).unwrap().engine;
            let (device, capabilities) = engine.devices().next().unwrap();
            let found = measure(&engine, device, capabilities).unwrap();
            for point in POINTS {
                let (messages, bytes) = (point.messages as u64, point.bytes());
                let ratio = found.of(messages, bytes) / truth.of(messages, bytes);
                assert!((0.94..1.06).contains(&ratio), "{truth:?} {found:?} {point:?} {ratio}");
            }
        }
    }
}

#[test]
fn costs_are_measured_once_kept_and_taken_over_by_the_next_engine() {
    let folder = Folder::new();
    let engine = engine(&["library", "null"]);
    let before = engine.cost(id(&engine, "library")).unwrap();
    let first = calibrate(&engine, &folder.cache(), false).unwrap();
    assert!(first.devices.iter().all(|found| found.source == CostSource::Measured));
    assert_eq!((first.file, first.remarks), (folder.cache().file(), vec![]));
    let [library, null] = [0, 1].map(|at| first.devices[at].cost);
    assert_ne!(library, before);
    assert!(library.of(64, 64 * 4_096) > 5.0 * null.of(64, 64 * 4_096));
    assert_eq!(engine.cost(id(&engine, "library")), Ok(library));

    let batches = engine.counters(id(&engine, "library")).unwrap().batches;
    let again = calibrate(&engine, &folder.cache(), false).unwrap();
    let is_kept = |found: &Calibrated| matches!(found.source, CostSource::Cache { .. });
    assert!(again.devices.iter().all(is_kept), "{again:?}");
    assert_eq!(again.devices[0].cost, library);
    assert_eq!(engine.counters(id(&engine, "library")).unwrap().batches, batches);

    let next = self::engine(&["library"]);
    next.recall(&folder.cache()).unwrap();
    assert_eq!(next.cost(id(&next, "library")), Ok(library));
    let anew = calibrate(&next, &folder.cache(), true).unwrap();
    assert_eq!(anew.devices[0].source, CostSource::Measured);
    let kept = folder.cache().read().unwrap();
    assert_eq!(kept.device("library").unwrap().0, anew.devices[0].cost);
    assert_eq!(kept.device("null").unwrap().0, null, "the others stay");
}

#[test]
fn a_device_that_fails_keeps_what_was_known_and_is_not_kept() {
    let folder = Folder::new();
    let engine = engine(&["fault:fail=1(library)", "null"]);
    let device = id(&engine, "fault:fail=1(library)");
    let before = engine.cost(device).unwrap();
    let found = calibrate(&engine, &folder.cache(), false).unwrap();
    let CostSource::Known { reason } = &found.devices[0].source else { panic!("{found:?}") };
    assert!(reason.contains("fail"), "{reason}");
    assert_eq!((found.devices[0].cost, engine.cost(device)), (before, Ok(before)));
    let kept = folder.cache().read().unwrap();
    assert!(kept.device("null").is_some() && kept.device("fault:fail=1(library)").is_none());
}

#[test]
fn simulated_seconds_are_neither_measured_nor_kept() {
    let folder = Folder::new();
    let cost = Cost::new(1.0, 2.0, 3.0).unwrap();
    let engine = pool([Model::new("machine", cost)]).unwrap().engine;
    let found = calibrate(&engine, &folder.cache(), true).unwrap();
    assert!(matches!(found.devices[0].source, CostSource::Known { .. }));
    assert_eq!(found.devices[0].cost, cost);
    assert!(engine.records().unwrap().is_empty());
    assert!(!folder.0.exists());
}

#[test]
fn a_cache_that_is_in_the_way_costs_a_remark_and_nothing_else() {
    let folder = Folder::new();
    fs::write(&folder.0, "").unwrap();
    let found = calibrate(&engine(&["null"]), &folder.cache(), false).unwrap();
    assert_eq!(found.devices[0].source, CostSource::Measured);
    let [remark] = &found.remarks[..] else { panic!("{:?}", found.remarks) };
    let folder = folder.0.display();
    let what_to_do =
        format!("unless {folder} becomes a folder of this user's own or XDG_CACHE_HOME");
    assert!(remark.contains("can't be written") && remark.contains(&what_to_do), "{remark}");
}

#[test]
fn a_slow_device_is_given_few_batches() {
    let specs = ["slow"];
    let engine = crate::Engine::open(&specs, &[&Slow], Settings::default()).unwrap();
    let (device, capabilities) = engine.devices().next().unwrap();
    let cost = measure(&engine, device, capabilities).unwrap();
    let counters = engine.counters(device).unwrap();
    // Two that make it take what it needs, one to warm up, and some of the smallest.
    assert!((4..4 + SAMPLES_MAX as u64).contains(&counters.batches), "{counters:?}");
    assert_eq!(counters.messages, counters.batches, "{counters:?}");
    assert!(cost.of(1, 16) > 2e6, "{cost:?}");
}

/// Takes 3 ms for each message.
#[derive(Debug)]
struct Slow;

impl Driver for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn summary(&self) -> &'static str {
        "sleeps"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: "sleeps".to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        let detail = self.summary().to_owned();
        let capabilities = software::capabilities(spec, "slow", Role::TestOnly, detail);
        Ok(software::open(Slow, capabilities, Crew::of(spec)?, context))
    }
}

impl Software for Slow {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        thread::sleep(Duration::from_millis(3) * u32::try_from(work.len()).unwrap());
        (0..work.len()).for_each(|message| work.set_status(message, Status::Ok));
        Ok(())
    }

    fn retire(&self, _: SessionId) {}
}

/// Where a cache may be made, and that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sealift-calibrate-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn cache(&self) -> Cache {
        Cache::at(self.0.clone())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let remove = |path: &Path| fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        let _ = remove(&self.0);
    }
}

/// One that knows nothing from a cache of whoever runs the tests.
fn engine(specs: &[&str]) -> crate::Engine {
    let engine = crate::Engine::with(specs).unwrap();
    let devices: Vec<_> = engine.devices().map(|(id, device)| (id, device.cost)).collect();
    devices.into_iter().for_each(|(id, cost)| engine.set_cost(id, cost).unwrap());
    engine
}

fn id(engine: &crate::Engine, name: &str) -> DeviceId {
    engine.device(name).unwrap()
}
