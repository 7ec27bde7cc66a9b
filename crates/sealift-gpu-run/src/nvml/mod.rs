//! What NVIDIA's management library tells of its GPUs, where it is: driver, clocks, temperature, power, link.

mod ffi;

use ffi::Library;

/// The library, open.
#[derive(Debug)]
pub(crate) struct Nvml {
    library: Library,
}

impl Nvml {
    /// Opens the library of the driver.
    ///
    /// # Errors
    /// It isn't here, or says no; why, as a sentence's end.
    pub(crate) fn open() -> Result<Self, String> {
        Self::at(FILE)
    }

    fn at(file: &str) -> Result<Self, String> {
        Library::open(file).map(|library| Self { library })
    }

    /// The driver's version.
    ///
    /// # Errors
    /// The library doesn't tell.
    pub(crate) fn driver(&self) -> Result<String, String> {
        self.library.driver_version()
    }

    /// The names of its GPUs, in its own order, by where they are plugged in.
    pub(crate) fn gpus(&self) -> Vec<String> {
        let names = (0..self.library.count().unwrap_or(0)).map(|gpu| self.library.name(gpu));
        names.map(|name| name.unwrap_or_else(|reason| reason)).collect()
    }

    /// What each sensor tells of a GPU, by name with the unit last, or why it tells nothing.
    pub(crate) fn read(&self, gpu: u32) -> Vec<(&'static str, Result<f64, String>)> {
        let number = |what: Result<u32, String>| what.map(f64::from);
        let library = &self.library;
        vec![
            ("sm_clock_mhz", number(library.clock(gpu, SM))),
            ("memory_clock_mhz", number(library.clock(gpu, MEMORY))),
            ("sm_clock_max_mhz", number(library.clock_max(gpu, SM))),
            ("temperature_c", number(library.temperature(gpu))),
            ("power_w", number(library.power_mw(gpu)).map(|mw| mw / 1_000.0)),
            ("pcie_generation", number(library.pcie_generation(gpu))),
            ("pcie_lanes", number(library.pcie_lanes(gpu))),
        ]
    }
}

const FILE: &str = "libnvidia-ml.so.1";
/// Which clock, as `nvml.h` counts them.
const SM: u32 = 1;
const MEMORY: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_says_so() {
        let absent = Nvml::at("libnowhere-nvml.so.1").unwrap_err();
        assert!(absent.contains("libnowhere-nvml.so.1"), "{absent}");
        let other = Nvml::at("libc.so.6").unwrap_err();
        assert_eq!(other, "libc.so.6 has no function nvmlInit_v2");
    }
}
