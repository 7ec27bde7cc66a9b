//! GPUs through OpenCL, and for tests processors.
//!
//! A batch is worked in rounds over a few queues, which overlap. Sessions' keys stay on the device; keys, texts and what is
//! made of them are overwritten in its memory and in pinned memory of the host before another batch gets it.

use crate::gpus::{self, Asked};
use sealift_core::{Context, Device, Driver, OpenError, Probe, Spec};
use sealift_gpu::gpu::Gpu;
use sealift_gpu::opencl;
use std::sync::Arc;

/// The driver `opencl`: `opencl` is the first GPU.
///
/// | setting | meaning |
/// |---|---|
/// | `opencl:1` | the second of all devices, GPUs before processors |
/// | `strict=on` | the S-box as a circuit, without tables |
///
/// A processor is a device for tests only, because what it looks up lies in caches, whose times tell of secrets. It is
/// opened by its number alone.
#[derive(Debug)]
pub struct OpenCl;

impl Driver for OpenCl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "GPUs through OpenCL (a number as in opencl:1, strict=on)"
    }

    fn probe(&self) -> Probe {
        gpus::probe(opencl::look(opencl::LIBRARY))
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        open(spec, context, opencl::LIBRARY)
    }
}

fn open(spec: &Spec, context: &Context, library: &str) -> Result<Arc<dyn Device>, OpenError> {
    let asked = Asked::of(spec)?;
    let gpu = gpu(spec, &asked, library)?;
    Ok(gpus::open(spec, NAME, &asked, gpu, context))
}

pub(crate) fn gpu(spec: &Spec, asked: &Asked, library: &str) -> Result<Arc<dyn Gpu>, OpenError> {
    match opencl::open(library, asked.number) {
        Ok(gpu) => Ok(gpu),
        Err(error) => Err(gpus::absent(spec, &error)),
    }
}

const NAME: &str = "opencl";

#[cfg(test)]
mod tests;
