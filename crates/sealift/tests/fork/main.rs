//! A fork while workers have batches: the child is told so by every call, and the parent loses nothing.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod ffi;

use ffi::in_child;
use sealift::{
    Batch, Column, Engine, EngineError, Key, NONCE_BYTES, Options, Patience, Session, Settings,
    SubmitRefusal, Ticket,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn a_fork_with_work_in_flight_tells_the_child_and_completes_in_the_parent() {
    // On a slow machine the first one takes longer than an engine usually waits.
    let patience = Patience { extra: Duration::from_secs(60), ..Patience::default() };
    let settings = Settings { patience, ..Settings::default() };
    let mut engine = Some(Engine::open(&[SLOW, "library"], &[], settings).unwrap());
    let mut session = Some(install(engine.as_ref().unwrap()));
    // The first takes long, so that there is surely work when the child is made.
    let mut sent = HashSet::from([submit(&engine, &session, Some(SLOW)).unwrap()]);
    sent.extend((0..8).map(|_| submit(&engine, &session, None).unwrap()));
    assert!(in_child(|| {
        let forked = Err(EngineError::Forked);
        let in_flight = engine.as_ref().map(|engine| engine.in_flight());
        let refused = submit(&engine, &session, None).unwrap_err();
        // These are the child's, and the last ones: to drop them waits for no thread of the parent.
        drop((session.take(), engine.take()));
        install(&Engine::with(&["library"]).unwrap());
        in_flight == Some(forked) && matches!(refused, SubmitRefusal::Engine(EngineError::Forked))
    }));
    let engine = engine.unwrap();
    while let Some(completed) = engine.wait(None, None).unwrap() {
        assert!(sent.remove(&completed.ticket), "it completes once");
        completed.outcome.unwrap();
    }
    assert_eq!(sent, HashSet::new());
}

#[test]
fn results_are_dropped_in_a_child_while_another_thread_uses_their_memory() {
    let engine = Engine::with(&["library"]).unwrap();
    let session = install(&engine);
    let (engine, session) = (Some(engine), Some(session));
    let next = || {
        let ticket = submit(&engine, &session, None).unwrap();
        engine.as_ref().unwrap().wait(Some(ticket), None).unwrap()
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drop(next());
            }
        });
        let mut held = next();
        let are_dropped = (0..100).all(|_| in_child(|| held.take().is_some()));
        stop.store(true, Ordering::Relaxed);
        assert!(are_dropped);
    });
}

fn install(engine: &Engine) -> Session {
    engine.session(Key::new(&[7; 16]).unwrap()).unwrap()
}

fn submit(
    engine: &Option<Engine>,
    session: &Option<Session>,
    on: Option<&str>,
) -> Result<Ticket, SubmitRefusal> {
    let (engine, session) = (engine.as_ref().unwrap(), session.as_ref().unwrap());
    let nonces = Column::fixed(vec![0; MESSAGES * NONCE_BYTES], NONCE_BYTES);
    let texts = Column::fixed(vec![7; MESSAGES * TEXT_BYTES], TEXT_BYTES);
    let batch = Batch::seal(MESSAGES, session.id(), nonces, texts);
    let on = on.map(|name| engine.device(name).unwrap());
    engine.submit(batch, &Options { on, ..Options::default() }).map_err(|error| error.reason)
}

const SLOW: &str = "cpu:isa=model,workers=1";
const MESSAGES: usize = 64;
const TEXT_BYTES: usize = 4_096;
