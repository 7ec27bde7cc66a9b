//! What NVIDIA's management library tells of its GPUs, where it is.

use crate::gil;
use crate::lab::probes::NotMeasurableError;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use pyo3::prelude::*;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// Readings of a GPU's sensors: each a name with the unit last, a value, and why there is none.
type Readings = Vec<(&'static str, Option<f64>, Option<String>)>;

/// Names and driver of NVIDIA's GPUs, by its management library.
///
/// Returns:
///     A line for each GPU, as in "NVIDIA H200, driver 550.54.15".
///
/// Raises:
///     NotMeasurableError: If that library is not on this machine, or tells nothing; says why.
#[pyfunction]
pub(crate) fn nvidia_gpus(py: Python<'_>) -> PyResult<Vec<String>> {
    gil::leave(py, || {
        let nvml = library()?;
        let driver = nvml.sys_driver_version().map_err(reason)?;
        let name = |gpu: Device<'_>| gpu.name().unwrap_or_else(reason);
        Ok(gpus(nvml)?.into_iter().map(|gpu| format!("{}, driver {driver}", name(gpu))).collect())
    })
    .map_err(not_measurable)
}

/// What the sensors of NVIDIA's GPUs tell now, by its management library.
///
/// Returns:
///     For each GPU its sensors: names with the unit last, a value or None, and why there is none.
///     `limited_by_power` and `limited_by_heat` are 1.0 while clocks are held down for that.
///
/// Raises:
///     NotMeasurableError: If that library is not on this machine, or tells nothing; says why.
#[pyfunction]
pub(crate) fn nvidia_sensors(py: Python<'_>) -> PyResult<Vec<Readings>> {
    let read = || Ok(gpus(library()?)?.iter().map(readings).collect());
    gil::leave(py, read).map_err(not_measurable)
}

fn readings(gpu: &Device<'_>) -> Readings {
    let whole = |value: Result<u32, NvmlError>| value.map(f64::from);
    let watts = |value: Result<u32, NvmlError>| value.map(|mw| f64::from(mw) / 1_000.0);
    let limits = gpu.current_throttle_reasons();
    let limited = |by: ThrottleReasons| match &limits {
        Ok(reasons) => Ok(f64::from(u8::from(reasons.intersects(by)))),
        Err(error) => Err(error.to_string()),
    };
    let told: [(&str, Result<f64, String>); 12] = [
        ("clock_mhz", whole(gpu.clock_info(Clock::SM)).map_err(reason)),
        ("clock_max_mhz", whole(gpu.max_clock_info(Clock::SM)).map_err(reason)),
        ("memory_clock_mhz", whole(gpu.clock_info(Clock::Memory)).map_err(reason)),
        ("temperature_c", whole(gpu.temperature(TemperatureSensor::Gpu)).map_err(reason)),
        ("power_w", watts(gpu.power_usage()).map_err(reason)),
        ("power_limit_w", watts(gpu.enforced_power_limit()).map_err(reason)),
        ("fan_percent", whole(gpu.fan_speed(0)).map_err(reason)),
        ("used_percent", whole(gpu.utilization_rates().map(|used| used.gpu)).map_err(reason)),
        ("limited_by_power", limited(BY_POWER)),
        ("limited_by_heat", limited(BY_HEAT)),
        ("pcie_generation", whole(gpu.current_pcie_link_gen()).map_err(reason)),
        ("pcie_lanes", whole(gpu.current_pcie_link_width()).map_err(reason)),
    ];
    told.into_iter().map(|(name, value)| (name, value.clone().ok(), value.err())).collect()
}

fn gpus(nvml: &Nvml) -> Result<Vec<Device<'_>>, String> {
    let count = nvml.device_count().map_err(reason)?;
    (0..count).map(|gpu| nvml.device_by_index(gpu).map_err(reason)).collect()
}

/// Opened once: that takes a while, and readings are taken every second.
fn library() -> Result<&'static Nvml, String> {
    static LIBRARY: OnceLock<Result<Nvml, String>> = OnceLock::new();
    let open = || Nvml::builder().lib_path(OsStr::new(FILE)).init().map_err(reason);
    LIBRARY.get_or_init(open).as_ref().map_err(Clone::clone)
}

fn not_measurable(reason: String) -> PyErr {
    NotMeasurableError::new_err(reason)
}

fn reason(error: NvmlError) -> String {
    match error {
        NvmlError::LibloadingError(_) => {
            format!("{FILE}, of NVIDIA's driver, is not on this machine")
        }
        error => error.to_string(),
    }
}

const BY_POWER: ThrottleReasons =
    ThrottleReasons::SW_POWER_CAP.union(ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN);
const BY_HEAT: ThrottleReasons = ThrottleReasons::SW_THERMAL_SLOWDOWN
    .union(ThrottleReasons::HW_THERMAL_SLOWDOWN)
    .union(ThrottleReasons::HW_SLOWDOWN);
/// As drivers install it; the name without a number comes with packages for developers.
const FILE: &str = "libnvidia-ml.so.1";
