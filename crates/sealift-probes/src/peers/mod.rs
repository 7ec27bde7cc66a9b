//! AES-GCM devices that only the lab has: what others are compared with.
//!
//! They take the same way through an engine as every device, so that the framework weighs the same on
//! all that is compared. Their role is test only: an engine works on them when they are named, and never
//! chooses one.

mod message;

pub mod ipp;
pub mod slowed;
pub mod table;

use sealift::{Driver, Engine, EngineError, Settings, Spec};

/// Every peer.
#[rustfmt::skip] // One line each, so that a new peer is one new line.
pub static PEERS: &[&dyn Driver] = &[
    &table::Table,
    &ipp::Intel,
    &slowed::Slowed,
];

/// Opens a device, a peer or any other, and behind it those that tell what is right: two that share no
/// code.
///
/// # Errors
/// The spec names no device; the device is absent.
pub fn open(device: &str) -> Result<Engine, EngineError> {
    let own = device.parse().ok().map(|spec: Spec| spec.to_string());
    let others = CHECKERS.iter().filter(|name| own.as_deref() != Some(**name));
    let specs: Vec<_> = std::iter::once(device).chain(others.copied()).collect();
    Engine::open(&specs, PEERS, Settings::on_one_thread())
}

const CHECKERS: [&str; 2] = ["library", "reference"];
