//! The engine on simulated devices, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod adapts;
mod drawn_pools;
mod estimator;
mod explain;
mod large_pool;
mod load;
mod machine;
mod theory;
mod wrong_quotes;
