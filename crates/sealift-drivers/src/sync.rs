//! Locks that threads share: those that users get, and those of loom where `make models` tries every order of what
//! threads do.

#[cfg(not(all(sealift_loom, test)))]
pub(crate) use crossbeam_utils::sync::{ShardedLock, ShardedLockReadGuard};
#[cfg(all(sealift_loom, test))]
pub(crate) use loom::sync::{RwLock as ShardedLock, RwLockReadGuard as ShardedLockReadGuard};
