//! The driver `cuda` over a libcuda without a GPU, which computes by this processor's kernels from the same descriptors.

use fake_cuda::Fake;
use sealift_conformance::Candidate;
use sealift_core::{Context, Device, Driver, OpenError, Probe, Spec};
use sealift_drivers::cuda::{self, CudaLibrary};
use std::sync::{Arc, LazyLock};

/// What it computes is known to be right; what is tested is how it is told, which every message does: a part is enough.
pub(crate) fn device() -> Candidate {
    static DRIVER: LazyLock<OnAFake> = LazyLock::new(OnAFake::new);
    Candidate::new(&*DRIVER, "fake-cuda").slow().scale(0.1)
}

struct OnAFake(CudaLibrary);

impl OnAFake {
    fn new() -> Self {
        let fake = Fake::shared().expect("cargo builds it with the tests");
        Self(CudaLibrary::at(fake.path()))
    }
}

impl Driver for OnAFake {
    fn name(&self) -> &'static str {
        "fake-cuda"
    }

    fn summary(&self) -> &'static str {
        "CUDA without a GPU"
    }

    fn probe(&self) -> Probe {
        cuda::probe(&self.0)
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        cuda::open(spec, context, &self.0)
    }
}
