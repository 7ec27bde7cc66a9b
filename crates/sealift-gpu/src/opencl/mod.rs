//! GPUs through OpenCL, whose library is opened at run time.

mod device;
mod ffi;
mod lane;
mod status;
mod vendors;

pub use device::OpenCl;

use crate::GpuError;
use crate::gpu::About;
use device::Found;
use ffi::Api;
use std::sync::{Arc, Mutex, PoisonError};
use vendors::Vendors;

/// The loader's file, of which every vendor's driver has the same one.
pub const LIBRARY: &str = "libOpenCL.so.1";

/// What the first device is that is no processor, without opening it.
///
/// Where all drivers that are installed are those of processors, none is loaded: they bring a compiler with them.
///
/// # Errors
/// There is none: what is missing.
pub fn look(library: &str) -> Result<About, GpuError> {
    let vendors = Vendors::installed();
    if let Some(found) = vendors.only_processors() {
        // Without a loader this says nothing of use.
        Api::open(library)?;
        return Err(only_processors(library, found));
    }
    found(library)?.gpu(library).map(|found| found.about.clone())
}

/// Opens the first device that is no processor, or that of a number: processors come behind the others.
///
/// # Errors
/// It isn't there: what is missing.
pub fn open(library: &str, number: Option<usize>) -> Result<Arc<OpenCl>, GpuError> {
    let Some(number) = number else {
        look(library)?;
        return found(library)?.gpu(library).map(|found| Arc::new(OpenCl::new(found.clone())));
    };
    let found = found(library)?.devices;
    let chosen = found.get(number).cloned();
    let error = || {
        let library = library.to_owned();
        let is_gpu = found.iter().any(|found| !found.about.local_is_cached);
        let opens = if is_gpu { "opencl:0" } else { "opencl:0, for tests only" };
        GpuError::NoSuchDevice { library, number, found: found.len(), opens }
    };
    Ok(Arc::new(OpenCl::new(chosen.ok_or_else(error)?)))
}

/// What a library finds.
struct All {
    /// Devices that can be used, processors last.
    devices: Vec<Found>,
    /// Why there are no others.
    unfit: Vec<String>,
}

/// All that there is; one device that can be used at least.
fn found(library: &str) -> Result<All, GpuError> {
    // Drivers set themselves up when they are first asked, and PoCL 3.1 does it twice when two threads ask.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE_BY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let api = Api::open(library)?;
    let none = |reason: String| GpuError::NoDevice {
        library: library.to_owned(),
        reason,
        install: INSTALL,
    };
    let (ids, failures) = api.devices().map_err(|failed| none(failed.to_string()))?;
    let (mut devices, mut unfit) = (vec![], vec![]);
    for id in ids {
        match Found::look(&api, id) {
            Ok(found) => devices.push(found),
            Err(error) => unfit.push(error),
        }
    }
    devices.sort_by_key(|found| found.about.local_is_cached);
    let platforms: Vec<_> =
        failures.iter().map(|failed| format!("a platform fails: {failed}")).collect();
    if devices.is_empty() {
        let reason = match platforms.is_empty() {
            true => "no platform has one".to_owned(),
            false => platforms.join("; "),
        };
        return Err(unfit.pop().unwrap_or_else(|| none(reason)));
    }
    let unfit = unfit.iter().map(ToString::to_string).chain(platforms).collect();
    Ok(All { devices, unfit })
}

impl All {
    /// The first that is no processor.
    fn gpu(&self, library: &str) -> Result<&Found, GpuError> {
        let first = self.devices.iter().find(|found| !found.about.local_is_cached);
        first.ok_or_else(|| {
            let names: Vec<_> =
                self.devices.iter().map(|found| found.about.name.as_str()).collect();
            let unfit = self.unfit.iter().map(|reason| format!(" ({reason})"));
            only_processors(library, names.join(", ") + &unfit.collect::<String>())
        })
    }
}

fn only_processors(library: &str, found: String) -> GpuError {
    GpuError::OnlyProcessors { library: library.to_owned(), found, opens: "opencl:0" }
}

const INSTALL: &str =
    "the device's driver or, for a run without a GPU, PoCL (Debian: pocl-opencl-icd)";
