//! The devices Sealift can use, one module each.
//!
//! [`DRIVERS`] is the list of them all. A driver for users is in every build: what this machine lacks is an
//! [`Absent`](sealift_core::Probe::Absent) with its reason. Those to check with, to price the framework with, and for devices that
//! are described or simulated, need the feature `lab`. Drivers never use each other: what several
//! need, [`kernels`], [`keys`] and [`workers`], stands beside them, for drivers in other crates too; and
//! [`cache`], what was measured of this machine before, and [`single`], a key without a device.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(feature = "lab")]
mod alarm;
mod sync;
#[cfg(test)]
mod testing;

pub mod cache;
#[cfg(feature = "lab")]
pub mod cards;
pub mod copying;
pub mod cpu;
pub mod cuda;
#[cfg(feature = "lab")]
pub mod fault;
pub mod gpus;
pub mod kernels;
pub mod keys;
pub mod library;
#[cfg(feature = "lab")]
pub mod null;
pub mod opencl;
#[cfg(feature = "lab")]
pub mod pim;
#[cfg(feature = "lab")]
pub mod reference;
pub mod single;
pub mod workers;

use sealift_core::{Context, Device, Driver, OpenError, Spec};
pub use sealift_kernels::stack::wipe_after;
use std::sync::Arc;

/// Every driver, in the order an engine prefers them.
#[rustfmt::skip] // One line each, so that a new driver is one new line.
pub static DRIVERS: &[&dyn Driver] = &[
    &cpu::Cpu,
    &library::Library,
    #[cfg(feature = "lab")] &reference::Reference,
    #[cfg(feature = "lab")] &null::Null,
    #[cfg(feature = "lab")] &fault::Fault,
    #[cfg(feature = "lab")] &cards::Cards,
    #[cfg(feature = "lab")] &pim::Pim,
    &cuda::Cuda,
    &opencl::OpenCl,
];

/// The driver of that name.
///
/// # Errors
/// There is none; the error lists those there are.
pub fn driver(name: &str) -> Result<&'static dyn Driver, OpenError> {
    let found = DRIVERS.iter().find(|driver| driver.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = DRIVERS.iter().map(|driver| driver.name()).collect();
        OpenError::UnknownDriver { name: name.to_owned(), known: names.join(", ") }
    })
}

/// Opens the device that a spec names.
///
/// Whoever drops a device waits for the jobs it is working. Jobs still queued are let go unworked,
/// and nobody is told: they have no completion and nothing rings. Results that were not polled are
/// wiped.
///
/// # Errors
/// No driver has that name, the hardware is absent, or a setting is wrong.
pub fn open(spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
    driver(spec.driver())?.open(spec, context)
}

#[cfg(test)]
mod tests;
