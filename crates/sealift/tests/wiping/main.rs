//! No key is left in memory that is given back to the system.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod ffi;

use sealift::{
    Batch, Column, DRIVERS, Engine, Key, Options, Output, Place, Probe, Session, Status,
};
use std::thread;

const MESSAGES: usize = 500;

#[test]
fn neither_sessions_nor_devices_leave_a_key_in_freed_memory() {
    let before = ffi::keys_freed();
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
        assert_eq!(ffi::keys_freed(), before, "{spec}");
    }
    drop(vec![ffi::PATTERN; 3]);
    assert!(ffi::keys_freed() > before, "the spy sees what is not wiped");
}

fn in_another_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

fn session(engine: &Engine) -> Session {
    engine.session(Key::new(&ffi::PATTERN).unwrap()).unwrap()
}

fn seal(engine: &Engine, batch: &Batch<'_>, options: &Options) {
    let (mut sealed, mut tags) = (vec![0; 16 * MESSAGES], vec![0; 16 * MESSAGES]);
    let mut status = vec![Status::NotProcessed; MESSAGES];
    let (text, tags) = (Place::fixed(&mut sealed, 16), Place::fixed(&mut tags, 16));
    engine.run(batch, Output { text, tags, status: &mut status }, options).unwrap();
}
