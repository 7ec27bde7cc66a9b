//! Models: loom tries every order in which threads can do what they do here, up to [`PREEMPTIONS`] (`make models`). The code is
//! the engine's own, over loom's locks.

use crate::bell::{Bell, Doorbell};
use crate::leased::JobKeys;
use crate::store::KeyStore;
use crate::stripes::use_number;
use crate::{DeviceId, Engine, EngineError, Options};
use loom::sync::Mutex;
use loom::thread;
use sealift_core::{
    Algorithm, Batch, Capabilities, Clock, Column, Completion, Context, Cost, Cuts, Device,
    DeviceError, Job, Key, KeySource, NonceLengths, Notify, Origin, Resource, Role, SessionId,
    Submission, TagLength, Ticket, Timing, Work,
};
use std::cell::RefCell;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn model(threads: impl Fn() + Send + Sync + 'static) {
    let orders = Arc::new(AtomicU64::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.max_branches = 20_000;
    builder.check({
        let orders = Arc::clone(&orders);
        move || {
            orders.fetch_add(1, Ordering::SeqCst);
            threads();
        }
    });
    let orders = orders.load(Ordering::SeqCst);
    eprintln!("{}: {orders} orders", std::thread::current().name().unwrap_or_default());
    assert!(orders > 20, "{orders} orders are no model of threads");
}

const PREEMPTIONS: usize = 3;

fn seal(session: SessionId) -> Batch<'static> {
    Batch::seal(1, session, Column::fixed(vec![7; 12], 12), Column::fixed(vec![1; 4], 4))
}

/// A store with one session.
fn store() -> (Arc<KeyStore>, SessionId) {
    let store = Arc::new(KeyStore::default());
    let session = store.install(Key::Aes128([7; 16]), 10);
    (store, session)
}

#[test]
fn a_key_is_there_while_a_lease_is_held_and_is_wiped_once() {
    model(|| {
        let (store, session) = store();
        let lessee = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                use_number(1);
                let Ok(lease) = KeyStore::admit(&*store, &seal(session)) else { return };
                assert!(store.key(session).is_some(), "wiped under a lease");
                thread::yield_now();
                assert!(store.key(session).is_some(), "wiped under a lease");
                drop(lease);
            })
        };
        let retirer = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                store.retire(session);
                let wiped = store.wipe_retired();
                store.reuse(&wiped);
                wiped.len()
            })
        };
        lessee.join().unwrap();
        let wiped = retirer.join().unwrap();
        assert_eq!(store.has_wipeable(), wiped == 0, "nobody would look again");
        assert_eq!(wiped + store.wipe_retired().len(), 1);
        assert!(store.key(session).is_none());
    });
}

#[test]
fn two_stripes_seal_as_many_messages_as_a_key_may() {
    model(|| {
        let store = Arc::new(KeyStore::default());
        let session = store.install(Key::Aes128([7; 16]), 3);
        let sealers = [0, 1].map(|number| {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                use_number(number);
                let sealed = (0..2).filter(|_| KeyStore::admit(&*store, &seal(session)).is_ok());
                sealed.count()
            })
        });
        let sealed: usize = sealers.into_iter().map(|sealer| sealer.join().unwrap()).sum();
        assert_eq!((sealed, store.sealed(session)), (3, 3));
    });
}

#[test]
fn an_attempt_that_is_given_up_keeps_its_own_key_and_lets_go_of_the_store() {
    model(|| {
        let (store, session) = store();
        let lease = Arc::new(KeyStore::admit(Arc::clone(&store), &seal(session)).unwrap());
        store.retire(session);
        let keys = Arc::new(JobKeys::leased(lease));
        let device = {
            let keys = Arc::clone(&keys);
            thread::spawn(move || assert!(keys.key(session).is_some()))
        };
        let engine = {
            let (keys, store) = (Arc::clone(&keys), Arc::clone(&store));
            thread::spawn(move || {
                keys.narrow(&seal(session));
                store.wipe_retired().len()
            })
        };
        device.join().unwrap();
        assert_eq!(engine.join().unwrap(), 1, "the attempt still holds the store");
        assert!(keys.key(session).is_some() && store.key(session).is_none());
    });
}

#[test]
fn no_ring_is_lost_between_looking_and_waiting() {
    model(|| {
        let bell = Arc::new(Bell::default());
        let devices = [0, 1].map(|at| Arc::new((Doorbell::of(&bell, DeviceId(at)), Mutex::new(0))));
        let workers = [(0, 2), (1, 1)].map(|(at, completions): (usize, u32)| {
            let device = Arc::clone(&devices[at]);
            thread::spawn(move || {
                for _ in 0..completions {
                    *device.1.lock().unwrap() += 1;
                    device.0.ring();
                }
            })
        });
        // A device that doesn't ring is not asked.
        let mut collected = 0;
        while collected < 3 {
            let seen = bell.rings();
            for DeviceId(at) in bell.take_rung() {
                collected += mem::take(&mut *devices[at].1.lock().unwrap());
            }
            if collected < 3 {
                assert!(bell.wait_for(seen + 1, None));
            }
        }
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn each_of_two_waiters_gets_one_of_two_completions() {
    model(|| {
        let (engine, [device, _], _) = engine();
        let session = engine.session(Key::Aes128([7; 16])).unwrap();
        let on = Options { on: Some(DeviceId(0)), ..Options::default() };
        let tickets = [0, 1].map(|_| engine.submit(seal(session.id()), &on).unwrap());
        let worker = thread::spawn(move || {
            device.work_one();
            device.work_one();
        });
        let other = {
            let engine = engine.clone();
            thread::spawn(move || engine.wait(None, None).unwrap().map(|done| done.ticket))
        };
        let own = engine.wait(None, None).unwrap().map(|done| done.ticket);
        let mut taken = [own, other.join().unwrap()].map(|ticket| ticket.expect("none was lost"));
        worker.join().unwrap();
        taken.sort_by_key(|ticket| ticket.0);
        assert_eq!(taken, tickets);
        assert_eq!(engine.in_flight().unwrap(), 0);
        drop(session);
    });
}

#[test]
fn a_batch_that_ends_while_it_is_given_up_is_delivered_once_and_its_key_is_wiped() {
    model(|| {
        let (engine, devices, clock) = engine();
        let session = engine.session(Key::Aes128([7; 16])).unwrap();
        let ticket = engine.submit(seal(session.id()), &Options::default()).unwrap();
        let id = session.id();
        drop(session);
        let [late, next] = devices.clone();
        let late = thread::spawn(move || late.work_one());
        // Any time that a device is given is over: the other gets the batch.
        clock.0.store(u64::MAX / 2, Ordering::SeqCst);
        let mut taken = vec![];
        taken.extend(engine.poll().unwrap());
        next.work_one();
        taken.extend(engine.poll().unwrap());
        late.join().unwrap();
        taken.extend(engine.poll().unwrap());
        let taken: Vec<Ticket> = taken.into_iter().map(|done| done.ticket).collect();
        assert_eq!(taken, [ticket]);
        assert_eq!(engine.in_flight().unwrap(), 0);
        assert!(devices.iter().all(|device| device.has_forgotten(id)), "its key is left behind");
    });
}

/// An engine over two devices that work only when they are told to.
fn engine() -> (Engine, [Arc<Idle>; 2], Arc<Still>) {
    let clock = Arc::new(Still::default());
    let devices = RefCell::new(vec![]);
    let open = ["first", "second"].map(|name| {
        let devices = &devices;
        move |context: &Context| -> Result<Arc<dyn Device>, EngineError> {
            let device = Arc::new(Idle::new(name, context));
            devices.borrow_mut().push(Arc::clone(&device));
            Ok(device)
        }
    });
    let engine = Engine::over(Arc::clone(&clock) as _, open).unwrap();
    (engine, devices.into_inner().try_into().unwrap(), clock)
}

/// Time that passes only when it is set.
#[derive(Debug, Default)]
struct Still(AtomicU64);

impl Clock for Still {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn park(&self, _: Option<u64>, sleep: &mut dyn FnMut(Option<Duration>) -> bool) -> bool {
        sleep(None)
    }
}

#[derive(Debug)]
struct Idle {
    capabilities: Capabilities,
    notify: Arc<dyn Notify>,
    jobs: Mutex<Vec<Job>>,
    done: Mutex<Vec<Completion>>,
    forgotten: Mutex<Vec<SessionId>>,
}

impl Idle {
    fn new(name: &str, context: &Context) -> Self {
        let (notify, capabilities) = (Arc::clone(&context.notify), capabilities(name));
        let (jobs, done, forgotten) = (Mutex::new(vec![]), Mutex::new(vec![]), Mutex::new(vec![]));
        Self { capabilities, notify, jobs, done, forgotten }
    }

    /// Works the oldest job, if there is one; its key has to be there.
    fn work_one(&self) {
        let mut jobs = self.jobs.lock().unwrap();
        if jobs.is_empty() {
            return;
        }
        let Job { ticket, attempt, batch, output, keys } = jobs.remove(0);
        drop(jobs);
        let session = batch.session_of(0).unwrap();
        assert!(keys.key(session).is_some(), "the key of a job was wiped");
        let outcome = Ok((output, Timing::in_memory(0, 1)));
        self.done.lock().unwrap().push(Completion { ticket, attempt, outcome });
        self.notify.ring();
    }

    fn has_forgotten(&self, session: SessionId) -> bool {
        self.forgotten.lock().unwrap().contains(&session)
    }
}

impl Device for Idle {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, _: &mut Work<'_>) -> Result<Timing, DeviceError> {
        Err(DeviceError::NotOnCallingThread { device: self.capabilities.name.clone() })
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        self.jobs.lock().unwrap().push(*job);
        Ok(())
    }

    fn poll(&self, done: &mut Vec<Completion>) {
        done.append(&mut self.done.lock().unwrap());
    }

    fn retire(&self, session: SessionId) {
        self.forgotten.lock().unwrap().push(session);
    }
}

fn capabilities(name: &str) -> Capabilities {
    Capabilities {
        name: name.to_owned(),
        driver: "idle",
        role: Role::Real,
        origin: Origin::Measured,
        detail: String::new(),
        algorithms: vec![Algorithm::AesGcm],
        runs_on_calling_thread: false,
        cuts: Cuts::Nothing,
        works_on: Resource::Own,
        cost: Cost::clamped(1e6, 100.0, 1.0),
        in_place: false,
        workers: 1,
        slots: 4,
        messages_max: 4,
        text_bytes_max: 16,
        aad_bytes_max: 16,
        prepares: Duration::ZERO,
        nonce_lengths: NonceLengths::of(&[12]),
        tag_lengths: vec![TagLength::FULL],
    }
}
