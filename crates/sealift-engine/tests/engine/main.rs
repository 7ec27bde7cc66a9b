//! The engine on devices that work when a test says so.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod cores;
mod moves;
mod other_work;
mod promises;
mod toy;
mod trouble;
