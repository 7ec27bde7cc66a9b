//! The process's default engine, and sessions on it that outlive a fork.

use crate::errors::Outcome;
use sealift::{Engine, EngineError, Key, Session};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A key with a session on the default engine of whichever process uses it.
pub(crate) struct Home {
    key: Key,
    first: Installed,
    // Sessions don't survive a fork: a child makes its own here. Only taken under the GIL and never
    // while it is left, so that no fork finds it held and no thread waits for it with the GIL.
    after_fork: Mutex<Option<Arc<Installed>>>,
}

/// A session and its engine.
pub(crate) struct Installed {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
}

impl Home {
    /// Installs a key.
    pub(crate) fn new(key: Key) -> Outcome<Self> {
        let first = install(&key)?;
        Ok(Self { key, first, after_fork: Mutex::new(None) })
    }

    /// Does something with the session. In a forked child it is done again with a session of the
    /// child's own, so nothing may be done before the engine is asked.
    pub(crate) fn with<T>(
        &self,
        mut use_it: impl FnMut(&Installed) -> Result<T, EngineError>,
    ) -> Outcome<T> {
        match use_it(&self.first) {
            Err(EngineError::Forked) => {}
            other => return Ok(other?),
        }
        let own = lock(&self.after_fork).clone();
        if let Some(installed) = own {
            match use_it(&installed) {
                // A child's child.
                Err(EngineError::Forked) => {}
                other => return Ok(other?),
            }
        }
        let installed = Arc::new(install(&self.key)?);
        *lock(&self.after_fork) = Some(Arc::clone(&installed));
        Ok(use_it(&installed)?)
    }
}

/// Installs a key in this process's default engine, which is made when it is first needed.
fn install(key: &Key) -> Result<Installed, EngineError> {
    let mut default = lock(&DEFAULT);
    if let Some(engine) = &*default {
        match engine.session(key.clone()) {
            Err(EngineError::Forked) => {}
            session => return Ok(Installed { engine: engine.clone(), session: session? }),
        }
    }
    let engine = default.insert(Engine::detect()?);
    let session = engine.session(key.clone())?;
    Ok(Installed { engine: engine.clone(), session })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// Only taken under the GIL, so that no fork finds it held.
static DEFAULT: Mutex<Option<Engine>> = Mutex::new(None);
