//! One suite for every device: what it computes is right, byte for byte, or it says before that it
//! doesn't take it.
//!
//! A crate with a device of its own runs it in one line of its tests:
//!
//! ```
//! # use sealift_drivers::reference::Reference as Mine;
//! use sealift_conformance::{Candidate, suite};
//!
//! suite!([Candidate::new(&Mine, "reference")]);
//! ```
//!
//! That makes a test of each check, on all candidates. Results are compared with published vectors
//! and with another device, `library` or `reference`. A program that is no test opens a
//! [`Checker`]: so does `sealift check`, without the feature `complete`, with the few vectors that
//! are a part of this crate. What the machine lacks is skipped with its reason, and with
//! `--nocapture` each test prints what it did on which device.
//!
//! A device is used within its [`Capabilities`](sealift_core::Capabilities), and seen to keep to them. At
//! least it takes nonces of 12 bytes, whole tags, 5 messages a batch and texts of 64 bytes. One that
//! doesn't run on the calling thread is submitted everything; only the guard pages say nothing of it.
//!
//! Variables of the environment:
//!
//! | variable | meaning |
//! |---|---|
//! | `SEALIFT_REQUIRE=vectors,mine` | what may not be skipped: names in `sealift-testing`'s `names.txt`, and [of candidates](Candidate::required_as); others are an error |
//! | `SEALIFT_TEST_REPORT` | a file to which names that ran or were skipped are appended |
//! | `SEALIFT_SEED=7` | the seed of the random messages, which a failure names |
//! | `SEALIFT_TEST_SCALE=0.01` | how much of the large numbers is done; each kind of message, form and failure is tested once at any scale |
//! | `SEALIFT_VECTORS` | the folder of the Python package `cryptography_vectors`, if not in Sealift's `.venv` |

mod arranged;
mod bell;
#[cfg(test)]
mod broken;
mod candidate;
mod check;
mod columns;
mod compare;
mod counted;
mod differential;
mod edges;
mod environment;
mod ffi;
mod flips;
mod form;
mod guards;
mod memory;
mod message;
mod message_bytes;
#[cfg(feature = "complete")]
mod nist;
#[cfg(test)]
mod notices;
#[cfg(feature = "complete")]
mod published;
mod race;
mod random;
mod recipe;
mod rereads;
mod sessions;
mod strip;
mod subject;
mod submitting;
mod suite;
mod vectors;
mod workers;
mod wrap;

pub use candidate::Candidate;
pub use check::{Checked, Checker};
pub use suite::run;
