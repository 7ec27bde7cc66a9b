//! GPUs of NVIDIA's, through their driver's own library.
//!
//! Nothing but that driver is needed: kernels are compiled for the device that is there when they are first used. A batch
//! is worked in rounds over a few streams, which overlap. Sessions' keys stay on the device; keys, texts and what is made of
//! them are overwritten in its memory and in pinned memory of the host before another batch gets it.

use crate::gpus::{self, Asked};
use sealift_core::{Context, Device, Driver, OpenError, Probe, Spec};
pub use sealift_gpu::cuda::CudaLibrary;
use sealift_gpu::gpu::Gpu;
use std::sync::Arc;

/// The driver `cuda`: `cuda` is the first device.
///
/// | setting | meaning |
/// |---|---|
/// | `cuda:1` | the second device, as CUDA counts them |
/// | `strict=on` | the S-box as a circuit, without tables |
///
/// The library is `libcuda.so.1`, or the file that the variable `SEALIFT_LIBCUDA` names; `CUDA_VISIBLE_DEVICES` says which
/// devices it shows. Those of a library that plays GPUs are for tests only, and their times are simulated.
#[derive(Debug)]
pub struct Cuda;

impl Driver for Cuda {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "NVIDIA's GPUs (a number as in cuda:1, strict=on|off)"
    }

    fn probe(&self) -> Probe {
        probe(&CudaLibrary::of_this_machine())
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        open(spec, context, &CudaLibrary::of_this_machine())
    }
}

/// What a library finds.
#[must_use]
pub fn probe(library: &CudaLibrary) -> Probe {
    gpus::probe(library.about(0))
}

/// Opens a device that a library finds.
///
/// # Errors
/// It is absent, or a setting is wrong.
pub fn open(
    spec: &Spec,
    context: &Context,
    library: &CudaLibrary,
) -> Result<Arc<dyn Device>, OpenError> {
    let asked = Asked::of(spec)?;
    let gpu = gpu(spec, &asked, library)?;
    Ok(gpus::open(spec, NAME, &asked, gpu, context))
}

pub(crate) fn gpu(
    spec: &Spec,
    asked: &Asked,
    library: &CudaLibrary,
) -> Result<Arc<dyn Gpu>, OpenError> {
    let gpu = library.open(asked.number.unwrap_or(0));
    gpu.map_err(|error| gpus::absent(spec, &error))
}

const NAME: &str = "cuda";

#[cfg(test)]
mod tests;
