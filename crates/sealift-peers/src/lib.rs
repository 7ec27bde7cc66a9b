//! Other libraries' AES-GCM beside Sealift's kernels: the same messages, in turn, each checked.
//!
//! A [`Peer`](roster::Peer) is a library that is compared with: linked ([`aws_lc`](peers::evp_aead::AwsLc),
//! [`ring`](peers::ring), [`rustcrypto`](peers::rustcrypto), [`graviola`](peers::graviola)) or opened at
//! run time ([`boringssl`](peers::evp_aead::BoringSsl), [`ipsec_mb`](peers::ipsec_mb),
//! [`isal_crypto`](peers::isal_crypto), [`openssl`](peers::openssl), [`ipp`](peers::ipp)), first from `.venv`,
//! where `make peer-libraries` installs the newest versions. One that is absent says why. Each is a small file
//! that implements [`Cipher`](cipher::Cipher); the loop over messages is compiled into it, so that a call costs
//! what it costs the library's users.
//!
//! Every arm has the same messages, outputs of its own that lie alike, and keys that were expanded
//! before. What it gives is compared with what two other implementations agreed on, all of it before it
//! is timed and a part after each sample. Nothing here is for users of Sealift.

pub mod case;
pub mod cipher;
pub mod cores;
pub mod engine;
pub mod kernels;
pub mod measure;
pub mod memcpy;
pub mod messages;
pub mod options;
pub mod outputs;
pub mod peers;
pub mod ports;
pub mod releases;
pub mod report;
pub mod roster;
pub mod single;
pub mod timed;
