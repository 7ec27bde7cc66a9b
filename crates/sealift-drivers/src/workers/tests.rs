use super::*;
use crate::testing::{context, job, session};
use sealift_core::{Batch, Column, KeySource, OutputPool, OwnedOutput, SlotText, Status, Ticket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Software that waits for permission before each job and panics when it is told so.
#[derive(Debug)]
struct Puppet {
    orders: Mutex<Receiver<Order>>,
    threads: Arc<Mutex<Vec<String>>>,
    retired: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Order {
    Work,
    Fail,
    Panic,
}

impl Software for Puppet {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let name = thread::current().name().unwrap_or_default().to_owned();
        self.threads.lock().unwrap().push(name);
        let order = self.orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match order.unwrap_or(Order::Work) {
            Order::Work => {
                (0..work.len()).for_each(|message| work.set_status(message, Status::Ok));
                Ok(())
            }
            Order::Fail => {
                spoil(work);
                Err(DeviceError::Failed { device: "puppet".into(), reason: "told so".into() })
            }
            Order::Panic => {
                spoil(work);
                panic!("told to panic")
            }
        }
    }

    fn retire(&self, _: SessionId) {
        self.retired.fetch_add(1, Ordering::Relaxed);
    }
}

/// Leaves what a device may have written before it failed.
fn spoil(work: &mut Work<'_>) {
    if let SlotText::Apart { output, .. } = work.slot(0).text {
        output.fill(b'x');
    }
    work.set_status(0, Status::Ok);
}

struct Stage {
    device: Arc<dyn Device>,
    orders: Sender<Order>,
    bell: Arc<crate::testing::Bell>,
    threads: Arc<Mutex<Vec<String>>>,
    retired: Arc<AtomicUsize>,
}

fn stage() -> Stage {
    staged(Crew { workers: 1, cores: vec![] })
}

fn staged(crew: Crew) -> Stage {
    let (context, bell) = context();
    let (puppet, orders) = puppet();
    let (threads, retired) = (Arc::clone(&puppet.threads), Arc::clone(&puppet.retired));
    let device = open(puppet, puppet_capabilities(), crew, &context);
    Stage { device, orders, bell, threads, retired }
}

fn puppet() -> (Puppet, Sender<Order>) {
    let (orders, receiver) = channel();
    let (threads, retired) = Default::default();
    (Puppet { orders: Mutex::new(receiver), threads, retired }, orders)
}

fn puppet_capabilities() -> Capabilities {
    let spec = "puppet:workers=1".parse().unwrap();
    capabilities(&spec, "puppet", Role::TestOnly, String::new())
}

fn polled(device: &dyn Device) -> Vec<Completion> {
    let mut done = vec![];
    device.poll(&mut done);
    done
}

#[test]
fn a_job_is_worked_by_a_named_thread_which_rings_once() {
    let stage = stage();
    stage.orders.send(Order::Work).unwrap();
    stage.device.submit(job(7)).unwrap();
    stage.bell.wait(1);
    let done = polled(&*stage.device);
    assert_eq!((done.len(), done[0].ticket), (1, Ticket(7)));
    let (output, timing) = done[0].outcome.as_ref().unwrap();
    assert_eq!(output.status(), [Status::Ok; 2]);
    assert!(timing.start_ns <= timing.end_ns);
    assert_eq!(*stage.threads.lock().unwrap(), ["sealift-puppet-0"]);
    assert!(polled(&*stage.device).is_empty());
    assert_eq!(stage.bell.rings(), 1);
}

#[test]
fn a_full_queue_hands_the_same_job_back_until_results_are_taken() {
    let stage = stage();
    let slots = stage.device.capabilities().slots;
    (0..slots as u64).for_each(|number| stage.device.submit(job(number)).unwrap());
    let extra = job(99);
    let (batch, address) = (Arc::clone(&extra.batch), &raw const *extra);
    let refused = stage.device.submit(extra).unwrap_err();
    assert_eq!(refused.refusal, Refusal::Full { in_flight: slots, slots });
    assert_eq!(&raw const *refused.job, address);
    assert!(Arc::ptr_eq(&refused.job.batch, &batch));

    stage.orders.send(Order::Work).unwrap();
    stage.bell.wait(1);
    let still = stage.device.submit(refused.job).unwrap_err();
    assert_eq!(polled(&*stage.device).len(), 1);
    stage.device.submit(still.job).unwrap();
    (0..slots).for_each(|_| stage.orders.send(Order::Work).unwrap());
    stage.bell.wait(1 + slots);
    let done = polled(&*stage.device);
    assert_eq!(done.last().map(|completion| completion.ticket), Some(Ticket(99)));
}

#[test]
fn a_panic_fails_its_job_and_the_next_one_is_worked() {
    let stage = stage();
    for order in [Order::Panic, Order::Fail, Order::Work] {
        stage.orders.send(order).unwrap();
    }
    (0..3).for_each(|number| stage.device.submit(job(number)).unwrap());
    stage.bell.wait(3);
    let done = polled(&*stage.device);
    let failed = |reason: &str| {
        let device = "puppet:workers=1".into();
        Some(DeviceError::Failed { device, reason: reason.into() })
    };
    assert_eq!(done[0].outcome.as_ref().err().cloned(), failed("it panicked: told to panic"));
    assert!(done[1].outcome.as_ref().unwrap_err().to_string().contains("told so"));
    assert!(done[2].outcome.is_ok());
}

#[test]
fn an_attempt_that_fails_or_panics_leaves_nothing_of_what_it_wrote() {
    let (puppet, orders) = puppet();
    let crew = Crew { workers: 1, cores: vec![] };
    let shared = Shared::new(puppet, puppet_capabilities(), crew, &context().0, IDLE_MAX);
    for order in [Order::Fail, Order::Panic] {
        orders.send(order).unwrap();
        let Job { batch, mut output, keys, .. } = *job(0);
        shared.attempt(&batch, &mut output, &*keys).unwrap_err();
        assert!(output.text().0.iter().all(|byte| *byte == 0), "{output:?}");
        assert_eq!(output.status(), [Status::NotProcessed; 2]);
    }
}

#[test]
fn a_job_whose_keys_panic_when_they_are_let_go_leaves_nothing() {
    struct Panics;
    impl KeySource for Panics {
        fn key(&self, _: SessionId) -> Option<Arc<sealift_core::Key>> {
            None
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("told to panic");
        }
    }
    let stage = stage();
    let pool = Arc::new(OutputPool::default());
    let texts = Column::Same(vec![1; 100_000].into());
    let batch = Arc::new(Batch::seal(1, session(0), Column::Same(vec![0; 12].into()), texts));
    let mut output = OwnedOutput::in_pool(&pool, &batch).unwrap();
    output.fill_text(b'x');
    let (keys, number) = (Arc::new(Panics), 0);
    let job = Job { ticket: Ticket(1), attempt: number, batch: Arc::clone(&batch), output, keys };
    stage.orders.send(Order::Work).unwrap();
    stage.device.submit(Box::new(job)).unwrap();
    stage.bell.wait(1);
    assert!(polled(&*stage.device)[0].outcome.is_err());
    // The next results get its memory.
    let next = OwnedOutput::in_pool(&pool, &batch).unwrap();
    assert_eq!(next.text_of(0), [0; 100_000]);
}

#[test]
fn a_worker_that_can_not_keep_to_its_core_fails_its_jobs() {
    let no_such_core = rustix::thread::CpuSet::MAX_CPU - 1;
    let stage = staged(Crew { workers: 1, cores: vec![no_such_core] });
    stage.device.submit(job(0)).unwrap();
    stage.bell.wait(1);
    let error = polled(&*stage.device)[0].outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains(&format!("worker 0 can't be kept to core {no_such_core}")), "{error}");
}

#[test]
fn dropping_a_device_with_queued_jobs_ends_and_lets_them_go() {
    let stage = stage();
    let jobs: Vec<_> = (0..5).map(job).collect();
    let batches: Vec<_> = jobs.iter().map(|job| Arc::clone(&job.batch)).collect();
    jobs.into_iter().for_each(|job| stage.device.submit(job).unwrap());
    drop(stage.orders);
    drop(stage.device);
    assert!(batches.iter().all(|batch| Arc::strong_count(batch) == 1));
}

#[test]
fn dropping_a_device_leaves_its_queued_jobs_unworked() {
    let Stage { device, orders, threads, .. } = stage();
    device.submit(job(0)).unwrap();
    while threads.lock().unwrap().is_empty() {
        thread::yield_now();
    }
    let queued = job(1);
    let batch = Arc::clone(&queued.batch);
    device.submit(queued).unwrap();
    let dropping = thread::spawn(|| drop(device));
    while Arc::strong_count(&batch) > 1 {
        thread::yield_now();
    }
    orders.send(Order::Work).unwrap();
    dropping.join().unwrap();
    assert_eq!(threads.lock().unwrap().len(), 1);
}

#[test]
fn retiring_reaches_the_software() {
    let stage = stage();
    stage.device.retire(session(0));
    assert_eq!(stage.retired.load(Ordering::Relaxed), 1);
}
