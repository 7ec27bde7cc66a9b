//! Programs and their kernels.

use super::{Code, Context, Handle};
use crate::GpuError;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

/// A program on a device.
pub(in crate::cuda) struct Module {
    context: Arc<Context>,
    handle: Handle,
}

/// A kernel of a program, which it keeps.
pub(in crate::cuda) struct Function {
    module: Arc<Module>,
    pub(super) handle: Handle,
    pub(super) name: &'static str,
}

/// Why a program is not taken.
pub(in crate::cuda) struct NotLoaded {
    /// The code.
    pub(in crate::cuda) code: Code,
    /// The call and its error.
    pub(in crate::cuda) told: String,
    /// What the driver's compiler says.
    pub(in crate::cuda) log: String,
}

impl Module {
    /// Has the driver compile PTX. Failures that are no loss of the device are told by `error`.
    pub(in crate::cuda) fn load(
        context: &Arc<Context>,
        ptx: &CStr,
        error: impl FnOnce(NotLoaded) -> GpuError,
    ) -> Result<Arc<Self>, GpuError> {
        let _current = context.current()?;
        let (mut handle, mut log) = (0, [0_u8; LOG_BYTES]);
        let mut names = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        // SAFETY: the text ends with a zero; there are two options with their values, of which the first is a place of
        // as many bytes as the second says.
        let code = unsafe {
            (context.cuda.functions.cuModuleLoadDataEx)(
                &raw mut handle,
                ptx.as_ptr().cast(),
                2,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        context.check_as("cuModuleLoadDataEx", code, |code, told| {
            let log = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            error(NotLoaded { code, told, log: log.to_string_lossy().trim().to_owned() })
        })?;
        Ok(Arc::new(Self { context: Arc::clone(context), handle }))
    }

    /// A kernel, which may then be launched with so many bytes of dynamic shared memory.
    pub(in crate::cuda) fn function(
        self: &Arc<Self>,
        name: &'static str,
        shared_bytes: usize,
    ) -> Result<Function, GpuError> {
        let context = &self.context;
        let _current = context.current()?;
        let c_name = CString::new(name).unwrap_or_default();
        let mut handle = 0;
        let get = context.cuda.functions.cuModuleGetFunction;
        // SAFETY: the place is a whole pointer, the module is loaded, and the name ends with a zero.
        let code = unsafe { get(&raw mut handle, self.handle, c_name.as_ptr()) };
        context.check("cuModuleGetFunction", code)?;
        if shared_bytes > SHARED_BYTES_USUAL {
            let bytes = c_int::try_from(shared_bytes).unwrap_or(c_int::MAX);
            let set = context.cuda.functions.cuFuncSetAttribute;
            // SAFETY: the function is of a loaded module.
            let code = unsafe { set(handle, DYNAMIC_SHARED_BYTES_MAX, bytes) };
            context.check("cuFuncSetAttribute", code)?;
        }
        Ok(Function { module: Arc::clone(self), handle, name })
    }
}

impl Function {
    /// Where it can be launched.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.module.context
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(_current) = self.context.leave() {
            // An error is one of earlier work.
            // SAFETY: it was loaded in this context and is unloaded once, when no function of it is left.
            let _ = unsafe { (self.context.cuda.functions.cuModuleUnload)(self.handle) };
        }
    }
}

const LOG_BYTES: usize = 4096;
/// What every kernel has without asking.
const SHARED_BYTES_USUAL: usize = 48 << 10;
// `CUjit_option`.
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;
// `CUfunction_attribute`.
const DYNAMIC_SHARED_BYTES_MAX: c_uint = 8;
