//! Neither a key nor a result that nobody took is left in memory that is given back to the system.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod ffi;

use ffi::Secret;
use sealift::{
    Audit, Batch, Column, Context, DRIVERS, Engine, Job, Key, Keys, Notify, Options, Output,
    OwnedOutput, Place, Probe, Session, Settings, Status, SystemClock, Tags, Ticket,
};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

const MESSAGES: usize = 500;
/// What texts are sealed with.
const TEXT_KEY: [u8; 16] = [7; 16];

#[test]
fn neither_sessions_nor_devices_leave_a_key_in_freed_memory() {
    let before = ffi::KEY.freed_blocks();
    let present = DRIVERS.iter().filter(|driver| matches!(driver.probe(), Probe::Present { .. }));
    // A processor under OpenCL, which has to be named.
    let named = ["opencl:0"].into_iter().filter(|spec| Engine::with(&[spec]).is_ok());
    for spec in present.map(|driver| driver.name()).chain(named) {
        let engine = Engine::with(&[spec]).unwrap();
        let on = Some(engine.device(spec).unwrap());
        // One by one, so that every list they are in grows while it holds keys. By another thread: what a
        // compiler leaves on its stack would get into the padding of what this one puts on the heap.
        let install = || (0..MESSAGES).map(|_| session(&engine)).collect();
        let sessions: Vec<Session> = in_another_thread(install);
        let ids: Vec<_> = sessions.iter().map(Session::id).collect();
        let (nonces, texts) = (Column::Same(vec![1; 12].into()), vec![2; 16 * MESSAGES]);
        let batch = Batch::seal(MESSAGES, ids, nonces, Column::fixed(texts, 16));
        in_another_thread(|| seal(&engine, &batch, &Options { on, ..Options::default() }));
        let ticket = engine.submit(batch, &Options { on, ..Options::default() }).unwrap();
        assert!(engine.wait(Some(ticket), None).unwrap().unwrap().outcome.is_ok());
        drop((sessions, engine));
        assert_eq!(ffi::KEY.freed_blocks(), before, "{spec}");
    }
    drop(vec![*ffi::KEY.bytes(); 3]);
    assert!(ffi::KEY.freed_blocks() > before, "the spy sees what is not wiped");
}

#[test]
fn results_that_an_engine_has_fetched_and_nobody_took_are_wiped_with_it() {
    let engine = Engine::with(&["library:workers=1"]).unwrap();
    let session = engine.session(Key::new(&TEXT_KEY).unwrap()).unwrap();
    let options = Options { on: engine.device("library").ok(), ..Options::default() };
    let secret = engine.submit(opening(session.id(), ffi::FETCHED_TEXT.bytes()), &options).unwrap();
    // One worker, so the first is there when the second is.
    let second = engine.submit(opening(session.id(), &[0; 16]), &options).unwrap();
    assert!(secret < second && engine.wait(Some(second), None).unwrap().is_some());
    drop((session, engine));
    assert_eq!(ffi::FETCHED_TEXT.freed_blocks(), 0);
    assert_is_seen(&ffi::FETCHED_TEXT);
}

#[test]
fn results_that_nobody_polled_are_wiped_with_the_device() {
    let (rung, rings) = channel();
    let context =
        Context { clock: Arc::new(SystemClock::new()), notify: Arc::new(Bell(rung.into())) };
    let device = sealift::open(&"library:workers=1".parse().unwrap(), &context).unwrap();
    let key = Keys::Raw(Column::Same(TEXT_KEY.to_vec().into()));
    device.submit(job(opening(key, ffi::QUEUED_TEXT.bytes()))).unwrap();
    rings.recv().unwrap();
    drop(device);
    assert_eq!(ffi::QUEUED_TEXT.freed_blocks(), 0);
    assert_is_seen(&ffi::QUEUED_TEXT);
}

#[test]
fn an_audit_leaves_no_plaintext() {
    let audit = Some(Audit { share: 1.0, seed: 1 });
    let settings = Settings { audit, ..Settings::default() };
    let engine = Engine::open(&["library", "reference"], &[], settings).unwrap();
    let session = engine.session(Key::new(&TEXT_KEY).unwrap()).unwrap();
    session.seal(&[1; 12], &[], ffi::AUDITED_TEXT.bytes(), &mut [0; 32]).unwrap();
    drop((session, engine));
    assert_eq!(ffi::AUDITED_TEXT.freed_blocks(), 0);
    assert_is_seen(&ffi::AUDITED_TEXT);
}

/// Whoever rings says so.
#[derive(Debug)]
struct Bell(Mutex<Sender<()>>);

impl Notify for Bell {
    fn ring(&self) {
        self.0.lock().unwrap().send(()).unwrap();
    }
}

/// A batch that opens one message to this text.
fn opening(keys: impl Into<Keys<'static>>, text: &'static [u8; 16]) -> Batch<'static> {
    let engine = Engine::with(&["library"]).unwrap();
    let session = engine.session(Key::new(&TEXT_KEY).unwrap()).unwrap();
    let mut sealed = vec![0; 32];
    session.seal(&[1; 12], &[], text, &mut sealed).unwrap();
    let (nonce, text) = (Column::fixed(vec![1; 12], 12), Column::fixed(sealed, 32));
    Batch::open(1, keys, nonce, text, Tags::Appended)
}

fn job(batch: Batch<'static>) -> Box<Job> {
    let output = OwnedOutput::for_batch(&batch).unwrap();
    let (batch, keys) = (Arc::new(batch), Arc::new(()));
    Box::new(Job { ticket: Ticket(1), attempt: 0, batch, output, keys })
}

/// That the spy sees what is not wiped.
fn assert_is_seen(secret: &'static Secret) {
    drop(vec![*secret.bytes(); 3]);
    assert_eq!(secret.freed_blocks(), 1);
}

fn in_another_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

fn session(engine: &Engine) -> Session {
    engine.session(Key::new(ffi::KEY.bytes()).unwrap()).unwrap()
}

fn seal(engine: &Engine, batch: &Batch<'_>, options: &Options) {
    let (mut sealed, mut tags) = (vec![0; 16 * MESSAGES], vec![0; 16 * MESSAGES]);
    let mut status = vec![Status::NotProcessed; MESSAGES];
    let (text, tags) = (Place::fixed(&mut sealed, 16), Place::fixed(&mut tags, 16));
    engine.run(batch, Output { text, tags, status: &mut status }, options).unwrap();
}
