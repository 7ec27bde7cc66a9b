//! What Arrow's arrays need unsafe code for.
#![allow(unsafe_code)]

mod capsules;
mod texts;

pub(super) use capsules::{read_chunks, schema_capsule, stream_capsule};
pub(super) use texts::Texts;
