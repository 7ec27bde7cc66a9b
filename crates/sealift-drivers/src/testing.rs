//! What the tests of this crate share.

use crate::cache::Cache;
use sealift_core::{
    Batch, Column, Context, Job, Key, KeySource, Notify, OwnedOutput, SessionId, SystemClock,
    Ticket,
};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{env, fs, process};

/// Counts rings.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rings: Mutex<usize>,
    rung: Condvar,
}

impl Bell {
    /// Waits until it rang so often; fails the test after a minute.
    pub(crate) fn wait(&self, rings: usize) {
        let too_few = |rung: &mut usize| *rung < rings;
        let minute = Duration::from_secs(60);
        let lock = self.rings.lock().unwrap();
        let (rung, timeout) = self.rung.wait_timeout_while(lock, minute, too_few).unwrap();
        assert!(!timeout.timed_out(), "it rang {rung} times, not {rings}");
    }

    pub(crate) fn rings(&self) -> usize {
        *self.rings.lock().unwrap()
    }
}

impl Notify for Bell {
    fn ring(&self) {
        *self.rings.lock().unwrap() += 1;
        self.rung.notify_all();
    }
}

/// A context whose bell can be listened to.
pub(crate) fn context() -> (Context, Arc<Bell>) {
    let bell = Arc::new(Bell::default());
    let notify = Arc::clone(&bell) as _;
    (Context { clock: Arc::new(SystemClock::new()), notify }, bell)
}

/// A key for each session.
#[derive(Default)]
pub(crate) struct KeyRing(HashMap<SessionId, Key>);

impl KeyRing {
    /// Keys of all three lengths for sessions 0 to `sessions`.
    pub(crate) fn of(sessions: u32) -> Self {
        Self((0..sessions).map(|slot| (session(slot), key(slot))).collect())
    }
}

impl KeySource for KeyRing {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        self.0.get(&session).cloned().map(Arc::new)
    }
}

pub(crate) fn session(slot: u32) -> SessionId {
    SessionId { slot, generation: slot + 1 }
}

pub(crate) fn key(slot: u32) -> Key {
    let bytes: Vec<u8> = slot.to_le_bytes().into_iter().cycle().take(32).collect();
    Key::new(&bytes[..[16, 24, 32][slot as usize % 3]]).unwrap()
}

/// A job of two messages of five bytes under session 0.
pub(crate) fn job(number: u64) -> Box<Job> {
    let nonce = Column::fixed(vec![number.to_le_bytes()[0]; 24], 12);
    let batch = Batch::seal(2, session(0), nonce, Column::fixed(b"firstother", 5));
    let output = OwnedOutput::for_batch(&batch).unwrap();
    let keys = Arc::new(KeyRing::of(1));
    Box::new(Job { ticket: Ticket(number), attempt: 0, batch: Arc::new(batch), output, keys })
}

/// A folder of its own that goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("sealift-cache-{}-{number}", process::id()));
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::at(self.0.join("sealift"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
