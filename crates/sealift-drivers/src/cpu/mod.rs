//! The kernels for this processor.

use crate::kernels::Kernels;
use crate::workers::{self, Crew};
use sealift_core::{
    Algorithm, Capabilities, Context, Cuts, Device, Driver, OpenError, Probe, Role, Spec,
};
use sealift_kernels::{Path, PathError};
use std::sync::Arc;

/// The driver `cpu`.
///
/// Without `isa=` it takes the fastest instruction set this processor has, up to the one that the
/// environment variable `SEALIFT_ISA` names. Where that names none, `cpu` is present and does not open,
/// so that a slip of the pen is an error and not a slower device. `isa=model`, by the book and slow,
/// opens on every processor and is an oracle.
#[derive(Debug)]
pub struct Cpu;

impl Driver for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn summary(&self) -> &'static str {
        "this processor's kernels (isa=model|aesni|vaes256|vaes512, workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        match best() {
            Ok(path) => Probe::Present { role: role(path), detail: detail(path).to_owned() },
            Err(NoPath::Absent(reason)) => Probe::Absent { reason },
            Err(NoPath::Setting(detail)) => Probe::Present { role: Role::Real, detail },
        }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        workers::only(spec, &["isa", "workers", "cores"])?;
        let path = choose(spec)?;
        let detail = detail(path).to_owned();
        let capabilities = workers::capabilities(spec, self.name(), role(path), detail);
        let algorithms = vec![Algorithm::AesGcm, Algorithm::Xaes256Gcm];
        let capabilities = Capabilities { algorithms, cuts: Cuts::Texts, ..capabilities };
        let kernels = Kernels::new(spec.to_string(), path);
        Ok(workers::open(kernels, capabilities, Crew::of(spec)?, context))
    }
}

/// The path that a spec names, or the best.
fn choose(spec: &Spec) -> Result<Path, OpenError> {
    let chosen = match spec.setting("isa") {
        None => best(),
        Some(name) => Path::parse(name).map_err(NoPath::from),
    };
    let device = spec.to_string();
    chosen.map_err(|no_path| match no_path {
        NoPath::Absent(reason) => OpenError::Absent { device, reason },
        NoPath::Setting(reason) => OpenError::Setting { device, reason },
    })
}

/// The fastest path that `SEALIFT_ISA` allows.
fn best() -> Result<Path, NoPath> {
    Path::best()?.ok_or_else(|| match Path::parse("aesni") {
        Err(error) => error.into(),
        Ok(_) => {
            NoPath::Absent("the environment variable SEALIFT_ISA allows the model only".to_owned())
        }
    })
}

/// The fastest path that there is; none where this processor or this build has none.
///
/// # Errors
/// `SEALIFT_ISA` is a slip of the pen.
pub(crate) fn fastest() -> Result<Option<Path>, OpenError> {
    match best() {
        Ok(path) => Ok(Some(path)),
        Err(NoPath::Absent(_)) => Ok(None),
        Err(NoPath::Setting(reason)) => Err(OpenError::Setting { device: "cpu".into(), reason }),
    }
}

/// Why there is no path, for people.
enum NoPath {
    /// This processor or this build has none.
    Absent(String),
    /// What was asked for is no path.
    Setting(String),
}

impl From<PathError> for NoPath {
    fn from(error: PathError) -> Self {
        let reason = error.to_string();
        match error {
            PathError::Missing { .. } | PathError::NotBuilt { .. } => Self::Absent(reason),
            _ => Self::Setting(reason),
        }
    }
}

fn role(path: Path) -> Role {
    match path {
        Path::Model => Role::Oracle,
        _ => Role::Real,
    }
}

fn detail(path: Path) -> &'static str {
    match path.name() {
        "vaes512" => "vaes512: VAES and VPCLMULQDQ on 512-bit registers",
        "vaes256" => "vaes256: VAES and VPCLMULQDQ on 256-bit registers",
        "aesni" => "aesni: AES-NI and PCLMULQDQ on 128-bit registers",
        name => name,
    }
}
