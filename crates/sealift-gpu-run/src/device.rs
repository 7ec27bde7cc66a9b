//! The devices of this machine, and those that are measured.

use sealift_core::{Context, Notify, OpenError, Origin, Probe, Role, Spec, SystemClock};
use sealift_drivers::driver;
use sealift_gpu::cuda::CudaLibrary;
use sealift_gpu::gpu::Gpu;
use sealift_gpu::opencl;
use serde_json::{Value, json};
use std::sync::Arc;

/// A device that was looked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Device {
    /// What opens it.
    pub(crate) spec: String,
    driver: &'static str,
    summary: &'static str,
    /// What was found.
    pub(crate) found: Result<Found, String>,
}

/// A device that is here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// What it is for.
    pub(crate) role: Role,
    /// What it is.
    pub(crate) detail: String,
    /// Whose seconds its times are.
    pub(crate) origin: Origin,
}

impl Device {
    /// Opens what a spec names, and looks at it.
    ///
    /// # Errors
    /// It is no spec of a GPU's driver. One that is absent is an answer.
    pub(crate) fn look(spec: &str) -> Result<Self, String> {
        let parsed: Spec = spec.parse().map_err(|error| format!("{error}"))?;
        let known = DRIVERS.iter().find(|name| **name == parsed.driver());
        let known = known.ok_or_else(|| {
            format!(
                "no driver of GPUs is called {}: devices are named by driver and number, as in {}:0 or {}:0",
                parsed.driver(), DRIVERS[0], DRIVERS[1]
            )
        })?;
        let driver = driver(known).map_err(|error| error.to_string())?;
        let found = match driver.probe() {
            Probe::Absent { reason } if spec == *known => Err(reason),
            _ => match driver.open(&parsed, &context()) {
                Ok(device) => {
                    let about = device.capabilities();
                    let (role, origin) = (about.role, about.origin);
                    Ok(Found { role, detail: about.detail.clone(), origin })
                }
                Err(OpenError::Absent { reason, .. }) => Err(reason),
                Err(error) => return Err(error.to_string()),
            },
        };
        Ok(Self { spec: parsed.to_string(), driver: known, summary: driver.summary(), found })
    }

    /// Whether it is what all this is for: no processor, and nothing that plays a GPU.
    pub(crate) fn is_real(&self) -> bool {
        self.found.as_ref().is_ok_and(|found| found.role == Role::Real)
    }

    /// Whether CUDA speaks to it.
    pub(crate) fn is_cuda(&self) -> bool {
        self.driver == "cuda"
    }

    /// How rows call it, as the lab does: a processor always so, because it is no GPU.
    pub(crate) fn label(&self) -> String {
        let is_processor = self.driver == "opencl" && !self.is_real();
        if is_processor { "OpenCL on this processor".to_owned() } else { self.spec.clone() }
    }

    /// Why no time of it is kept, where that is so.
    pub(crate) fn untimed(&self) -> Option<&'static str> {
        let measured = |found: &Found| found.origin == Origin::Measured;
        (!self.found.as_ref().is_ok_and(measured)).then_some(UNTIMED)
    }

    /// What is to be said beside figures of what is no GPU.
    pub(crate) fn no_gpu(&self) -> Option<String> {
        let what = match self.untimed() {
            _ if self.is_real() => return None,
            Some(untimed) => untimed,
            None => "OpenCL on a processor; its figures tell of no GPU",
        };
        Some(format!("No GPU: {} is {what}", self.spec))
    }

    /// The device itself.
    ///
    /// # Errors
    /// It is absent: why.
    pub(crate) fn gpu(&self) -> Result<Arc<dyn Gpu>, String> {
        let number = self.spec.split([':', ',']).nth(1).and_then(|word| word.parse().ok());
        let gpu = match self.driver {
            "opencl" => opencl::open(opencl::LIBRARY, number).map(|gpu| gpu as Arc<dyn Gpu>),
            _ => CudaLibrary::of_this_machine().open(number.unwrap_or(0)),
        };
        gpu.map_err(|error| error.to_string())
    }

    /// Its name, as its driver tells it.
    pub(crate) fn name(&self) -> Option<String> {
        self.gpu().ok().map(|gpu| gpu.about().name.clone())
    }

    /// For machine.json.
    pub(crate) fn as_json(&self) -> Value {
        let found = self.found.as_ref();
        json!({
            "spec": self.spec,
            "driver": self.driver,
            "state": if found.is_ok() { "present" } else { "absent" },
            "role": found.map(|found| found.role.to_string()).ok(),
            "detail": found.map(|found| &found.detail).ok(),
            "workers": null,
            "reason": found.err(),
            "summary": self.summary,
        })
    }

    /// What there is to say of it, in a line.
    pub(crate) fn told(&self) -> String {
        match &self.found {
            Ok(found) if found.role == Role::Real => format!("{}: {}", self.spec, found.detail),
            Ok(found) => format!("{}: {} ({})", self.spec, found.detail, found.role),
            Err(reason) => format!("{}: {reason}", self.spec),
        }
    }
}

/// What the drivers of GPUs find, or, where some are named, those.
///
/// # Errors
/// What is named is no GPU's.
pub(crate) fn look(named: &[String]) -> Result<Vec<Device>, String> {
    if named.is_empty() {
        return DRIVERS.iter().map(|name| Device::look(name)).collect();
    }
    named.iter().map(|spec| Device::look(spec)).collect()
}

/// The GPUs among devices. One that several drivers speak to, which is told by its name, is measured by the first.
pub(crate) fn each_gpu_once(
    devices: &[Device],
    name: impl Fn(&Device) -> Option<String>,
) -> Vec<&Device> {
    let mut chosen: Vec<(&Device, Option<String>)> = vec![];
    for device in devices.iter().filter(|device| device.is_real()) {
        let own = name(device);
        match chosen.iter().find(|(_, known)| own.is_some() && *known == own) {
            None => chosen.push((device, own)),
            Some((known, _)) => eprintln!(
                "{}: the GPU that {} speaks to, left out; --device {}:0 measures it",
                device.spec, known.spec, device.spec
            ),
        }
    }
    chosen.into_iter().map(|(device, _)| device).collect()
}

fn context() -> Context {
    Context { clock: Arc::new(SystemClock::new()), notify: Arc::new(Nobody) }
}

/// Nothing is submitted.
#[derive(Debug)]
struct Nobody;

impl Notify for Nobody {
    fn ring(&self) {}
}

const UNTIMED: &str = "simulated: checked, and not timed";
const DRIVERS: [&str; 2] = ["cuda", "opencl"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_gpu_is_refused_with_what_is_one() {
        for (spec, told) in [
            (
                "h200",
                "no driver of GPUs is called h200: devices are named by driver and number, as in cuda:0",
            ),
            ("cpu:isa=aesni", "no driver of GPUs is called cpu: "),
            ("cuda:strict=maybe", "strict=maybe: write on or off"),
            ("cuda:fast", "fast is no device's number"),
        ] {
            let error = look(&[spec.to_owned()]).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_gpu_that_two_drivers_speak_to_is_measured_by_the_first() {
        let found = |role| Ok(Found { role, detail: String::new(), origin: Origin::Measured });
        let device = |driver: &'static str, role| Device {
            spec: driver.to_owned(),
            driver,
            summary: "",
            found: found(role),
        };
        let devices = [device("cuda", Role::Real), device("opencl", Role::Real)];
        let specs = |name: &dyn Fn(&Device) -> Option<String>| {
            let chosen = each_gpu_once(&devices, name);
            chosen.into_iter().map(|device| device.spec.clone()).collect::<Vec<_>>()
        };
        assert_eq!(specs(&|_| Some("H200".to_owned())), ["cuda"]);
        assert_eq!(specs(&|device| Some(format!("GPU of {}", device.spec))), ["cuda", "opencl"]);
        assert_eq!(specs(&|_| None), ["cuda", "opencl"]);
        assert!(each_gpu_once(&[device("cuda", Role::TestOnly)], |_| None).is_empty());
    }

    #[test]
    fn a_device_that_is_not_there_has_its_reason_and_is_not_measured() {
        let device = Device::look("opencl:1000").unwrap();
        assert!(!device.is_real());
        let (told, row) = (device.told(), device.as_json());
        assert!(told.starts_with("opencl:1000: ") && told.len() > 30, "{told}");
        assert_eq!((&row["state"], &row["role"]), (&json!("absent"), &json!(null)));
        assert_eq!(row["reason"], json!(device.found.unwrap_err()));
    }
}
