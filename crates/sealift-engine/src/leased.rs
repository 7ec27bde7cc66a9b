//! The keys of an attempt.

use crate::store::Lease;
use crate::sync::RwLock;
use sealift_core::{Batch, Key, KeySource, Keys, SessionId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError};

/// The keys behind the sessions of a job: those of the store, and once the attempt is given up only its
/// own, so that a device that hangs keeps no other key from being wiped.
pub(crate) struct JobKeys {
    source: RwLock<Source>,
}

enum Source {
    Leased(Arc<Lease>),
    Own(HashMap<SessionId, Arc<Key>>),
}

impl JobKeys {
    pub(crate) fn leased(lease: Arc<Lease>) -> Self {
        Self { source: RwLock::new(Source::Leased(lease)) }
    }

    /// Lets go of the store and keeps the keys of this batch alone.
    pub(crate) fn narrow(&self, batch: &Batch<'_>) {
        let sessions = sessions_of(batch);
        let own = sessions.iter().filter_map(|session| Some((*session, self.key(*session)?)));
        let own = Source::Own(own.collect());
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = own;
    }
}

impl KeySource for JobKeys {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        match &*self.source.read().unwrap_or_else(PoisonError::into_inner) {
            Source::Leased(lease) => lease.key(session),
            Source::Own(keys) => keys.get(&session).cloned(),
        }
    }
}

impl fmt::Debug for JobKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKeys(secret)")
    }
}

/// Each session of a batch once.
fn sessions_of(batch: &Batch<'_>) -> Vec<SessionId> {
    match &batch.keys {
        Keys::Raw(_) => vec![],
        Keys::Session(session) => vec![*session],
        Keys::Sessions(sessions) => {
            let mut sessions = sessions.to_vec();
            sessions.sort_unstable_by_key(|session| (session.slot, session.generation));
            sessions.dedup();
            sessions
        }
    }
}
