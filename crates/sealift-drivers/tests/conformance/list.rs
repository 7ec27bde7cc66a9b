//! Which devices are tested: every driver in the list, and every instruction-set path.

use sealift_core::{Context, Device, Driver, OpenError, Spec};
use sealift_drivers::DRIVERS;
use sealift_kernels::Path;
use std::sync::Arc;

/// Drivers that can't conform, and why.
pub(crate) const EXEMPT: &[(&str, &str)] = &[("null", "it encrypts nothing")];

/// Devices that take hours for the large numbers.
pub(crate) const SLOW: &[&str] = &["cpu:isa=model"];

/// The devices that every driver gives, exempt drivers left out.
pub(crate) fn specs() -> Vec<String> {
    let exempt = |driver: &&&dyn Driver| EXEMPT.iter().any(|(name, _)| *name == driver.name());
    DRIVERS.iter().filter(|driver| !exempt(driver)).flat_map(|driver| specs_of(*driver)).collect()
}

/// Opens one of them.
pub(crate) fn open(spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
    sealift_drivers::open(spec, context)
}

/// What `SEALIFT_REQUIRE` calls the thing that a device's absence is the lack of.
pub(crate) fn lacking(spec: &Spec) -> &str {
    spec.setting("isa").unwrap_or(spec.driver())
}

/// One device a driver; of the processor's, one for each path, those that it lacks too.
fn specs_of(driver: &dyn Driver) -> Vec<String> {
    match driver.name() {
        "cpu" => Path::NAMES.iter().map(|isa| format!("cpu:isa={isa}")).collect(),
        name => vec![name.to_owned()],
    }
}
