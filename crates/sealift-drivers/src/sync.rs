//! Locks that threads share: the standard library's, and those of loom where `make models` tries every order of what
//! threads do.

#[cfg(all(sealift_loom, test))]
pub(crate) use loom::sync::{RwLock, RwLockReadGuard};
#[cfg(not(all(sealift_loom, test)))]
pub(crate) use std::sync::{RwLock, RwLockReadGuard};
