//! Every path against the model, published vectors and what must not open.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod agreement;
mod batch;
#[path = "../common/mod.rs"]
mod common;
mod copy;
mod ctr;
mod forgery;
mod layouts;
mod many;
mod parts;
mod passing;
mod vectors;
mod xaes;
