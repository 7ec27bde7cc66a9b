//! A device's context, and who uses it on which thread.

use super::{Code, Cuda, Handle, SUCCESS};
use crate::GpuError;
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The primary context of a device: the one that other users of CUDA in this process have, too.
pub(in crate::cuda) struct Context {
    pub(super) cuda: Arc<Cuda>,
    device: c_int,
    handle: Handle,
    name: String,
    /// Why nothing on it can be used any more.
    lost: OnceLock<GpuError>,
}

/// While it lives, the context is current on this thread. Whatever was current before is so again afterwards.
pub(super) struct Current<'c> {
    context: &'c Context,
    /// It stays on its thread.
    _thread: PhantomData<*const ()>,
}

impl Context {
    /// Opens device `number`, of that name.
    pub(in crate::cuda) fn open(
        cuda: Arc<Cuda>,
        number: usize,
        name: &str,
    ) -> Result<Arc<Self>, GpuError> {
        let device = cuda.device(number)?;
        let mut handle = 0;
        // SAFETY: the place is a whole pointer, and the device is the library's.
        let code = unsafe { (cuda.functions.cuDevicePrimaryCtxRetain)(&raw mut handle, device) };
        if code != SUCCESS {
            let code = cuda.told("cuDevicePrimaryCtxRetain", code);
            let reason = format!("{code}; see whether nvidia-smi shows it, and who uses it");
            return Err(GpuError::Unfit { device: name.to_owned(), reason });
        }
        let name = name.to_owned();
        Ok(Arc::new(Self { cuda, device, handle, name, lost: OnceLock::new() }))
    }

    /// The device's name.
    pub(in crate::cuda) fn name(&self) -> &str {
        &self.name
    }

    /// Makes it current, unless the device is lost.
    pub(super) fn current(&self) -> Result<Current<'_>, GpuError> {
        match self.lost.get() {
            Some(lost) => Err(lost.clone()),
            None => self.enter(),
        }
    }

    /// Makes it current to give something back. None where CUDA may wait for what never ends, or gives nothing more:
    /// then it stays with CUDA.
    pub(super) fn leave(&self) -> Option<Current<'_>> {
        let hangs = matches!(self.lost.get(), Some(GpuError::TimedOut { .. }));
        if hangs { None } else { self.enter().ok() }
    }

    fn enter(&self) -> Result<Current<'_>, GpuError> {
        // SAFETY: the context is retained for as long as `self` lives.
        let code = unsafe { (self.cuda.functions.cuCtxPushCurrent_v2)(self.handle) };
        self.check("cuCtxPushCurrent_v2", code)?;
        Ok(Current { context: self, _thread: PhantomData })
    }

    /// Makes a code an error, and remembers a loss.
    pub(super) fn check(&self, call: &'static str, code: Code) -> Result<(), GpuError> {
        let device = || self.name.clone();
        self.check_as(call, code, |_, code| GpuError::Call { device: device(), code })
    }

    /// The same with an error of one's own, made of the code and of CUDA's words, where the device is not lost.
    pub(super) fn check_as(
        &self,
        call: &'static str,
        code: Code,
        error: impl FnOnce(Code, String) -> GpuError,
    ) -> Result<(), GpuError> {
        if code == SUCCESS {
            return Ok(());
        }
        let told = self.cuda.told(call, code);
        if LOSSES.contains(&code) {
            return Err(self.lose(GpuError::Lost { device: self.name.clone(), code: told }));
        }
        Err(error(code, told))
    }

    /// Gives the device up: whether it still works is unknown. Returns the first reason there was.
    pub(super) fn lose(&self, error: GpuError) -> GpuError {
        self.lost.get_or_init(|| error).clone()
    }

    /// Gives the device up after an error that leaves open what it does.
    pub(super) fn give_up(&self, error: GpuError) -> GpuError {
        if error.is_loss() {
            return error;
        }
        self.lose(GpuError::Lost { device: self.name.clone(), code: error.to_string() })
    }

    /// Gives the device up because it did not answer for so long.
    pub(super) fn lose_patience(&self, patience: Duration) -> GpuError {
        let (device, seconds) = (self.name.clone(), patience.as_secs());
        self.lose(GpuError::TimedOut { device, seconds })
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = 0;
        let pop = self.context.cuda.functions.cuCtxPopCurrent_v2;
        // It fails where nothing is current, which can't be.
        // SAFETY: the place is a whole pointer, and the context was pushed on this thread.
        let _ = unsafe { pop(&raw mut popped) };
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if matches!(self.lost.get(), Some(GpuError::TimedOut { .. })) {
            return;
        }
        // Nothing can be done about a failure.
        // SAFETY: the context was retained once, and all that is in it was given back before.
        let _ = unsafe { (self.cuda.functions.cuDevicePrimaryCtxRelease_v2)(self.device) };
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({}, lost: {:?})", self.name, self.lost.get())
    }
}

/// Codes after which every call on the context fails or means nothing: faults of kernels (700, 702, 710, 714 to 719,
/// 721), of hardware (214, 220, 226, 999), and contexts that somebody else, the end of the process or a fork took away.
const LOSSES: [Code; 18] =
    [3, 4, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999];
