//! Programs as they are shipped, and what the driver makes of them.

use super::ffi::{Context, Function, Module, NotLoaded};
use super::shared_bytes;
use crate::GpuError;
use crate::program::Program as Source;
use crate::variant::Kernel;
use std::ffi::CString;
use std::sync::Arc;

/// The kernels of a program.
pub(super) struct Program(Vec<(Kernel, Function)>);

impl Program {
    /// Has the driver compile it, which it remembers for the next process.
    pub(super) fn build(context: &Arc<Context>, source: Source) -> Result<Self, GpuError> {
        let device = || context.name().to_owned();
        let unfit = |reason: &str| GpuError::Unfit {
            device: device(),
            reason: format!("program {} {reason}", source.name()),
        };
        let text = ptx(source).ok_or_else(|| unfit("is not made for CUDA devices"))?;
        let text = CString::new(text).map_err(|_| unfit("holds a zero"))?;
        let module = Module::load(context, &text, |not_loaded| GpuError::Build {
            device: device(),
            program: source.name(),
            log: help(&not_loaded),
            code: not_loaded.told,
        })?;
        let functions = source.kernels().iter().map(|kernel| {
            let bytes = shared_bytes(*kernel, source);
            module.function(kernel.name(), bytes).map(|function| (*kernel, function))
        });
        functions.collect::<Result<_, _>>().map(Self)
    }

    /// None if the program has no such kernel.
    pub(super) fn kernel(&self, kernel: Kernel) -> Option<&Function> {
        self.0.iter().find(|(of, _)| *of == kernel).map(|(_, function)| function)
    }
}

/// What to do about a program that is not taken.
fn help(not_loaded: &NotLoaded) -> String {
    match not_loaded.code {
        UNSUPPORTED_PTX_VERSION => {
            "the driver is older than the compiler that made it: install a newer driver".to_owned()
        }
        NO_BINARY_FOR_GPU => "it is for newer devices".to_owned(),
        NO_JIT_COMPILER => {
            "libnvidia-ptxjitcompiler.so.1 is missing: install all of NVIDIA's driver".to_owned()
        }
        _ if not_loaded.log.is_empty() => "its compiler says nothing more".to_owned(),
        _ => not_loaded.log.clone(),
    }
}

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../ptx/", $name, ".ptx")))),*]
    };
}

/// A program in PTX, which every driver of its time or later compiles; none for those that only tests use.
#[must_use]
pub fn ptx(program: impl Into<Source>) -> Option<&'static str> {
    let name = match program.into() {
        Source::Lab(program) => return Some(program.ptx()),
        Source::Driver(variant) => variant.name(),
    };
    PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

const PROGRAMS: &[(&str, &str)] = shipped! {
    "aes128-tables0-copies1" "aes128-tables1-copies32" "aes128-tables4-copies32"
    "aes192-tables0-copies1" "aes192-tables1-copies32" "aes192-tables4-copies32"
    "aes256-tables0-copies1" "aes256-tables1-copies32" "aes256-tables4-copies32"
};

// `CUresult`.
const NO_BINARY_FOR_GPU: u32 = 209;
const NO_JIT_COMPILER: u32 = 221;
const UNSUPPORTED_PTX_VERSION: u32 = 222;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::LabProgram;
    use crate::variant::{Tables, Variant};

    #[test]
    fn every_program_for_users_is_shipped_with_all_its_kernels() {
        for variant in Variant::all() {
            let text = ptx(variant);
            assert_eq!(text.is_some(), variant.tables != Tables::OneShared, "{}", variant.name());
            assert!(text.is_none_or(|text| has_its_kernels(variant.into(), text)), "{variant:?}");
        }
        for program in LabProgram::all() {
            let text = ptx(program).unwrap();
            assert!(has_its_kernels(program.into(), text), "{program:?}");
        }
    }

    fn has_its_kernels(program: Source, text: &str) -> bool {
        let entry = |kernel: &Kernel| format!(".entry {}(", kernel.name());
        program.kernels().iter().all(|kernel| text.contains(&entry(kernel)))
    }
}
