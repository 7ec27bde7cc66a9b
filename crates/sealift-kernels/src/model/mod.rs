//! AES-GCM by the book: FIPS 197, SP 800-38A and SP 800-38D, to be read beside them.
//!
//! It is what the fast paths are compared with, and it runs on any processor. It is constant time
//! all the same: no table is indexed and no branch is taken by a key or by text.

pub(crate) mod aes;
mod ctr;
mod gcm;
mod ghash;

pub(crate) use ctr::add_key_stream;
pub(crate) use gcm::{part, process, tag_of_parts};
