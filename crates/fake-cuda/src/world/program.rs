//! Programs: the text of PTX is read for what CUDA would refuse, and for its kernels' names.

use super::{Launch, World};
use crate::code::{
    Code, INVALID_PTX, INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES, NO_BINARY_FOR_GPU, NOT_FOUND,
    UNSUPPORTED_PTX_VERSION,
};
use crate::kernels::Kernel;

/// A program that was loaded.
pub(super) struct Module {
    context: u64,
    text: String,
}

/// A kernel of a program.
pub(super) struct Function {
    module: u64,
    kernel: Kernel,
    /// Bytes of dynamic shared memory that a launch may ask for.
    shared: u32,
    /// Threads of a block that it was compiled for.
    threads_max: u32,
}

/// Why a program is not taken: the code, and what the log says.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) log: String,
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self { code, log: String::new() }
    }
}

impl World {
    pub(crate) fn load(&mut self, text: &str) -> Result<u64, Refusal> {
        let (context, handle) = (self.current()?, self.handle());
        self.read_ptx(text)?;
        self.modules.insert(handle, Module { context, text: text.to_owned() });
        Ok(handle)
    }

    fn read_ptx(&self, text: &str) -> Result<(), Refusal> {
        let refuse = |code, log: String| Err(Refusal { code, log });
        let Some((major, minor)) = word_after(text, ".version").and_then(|v| v.split_once('.'))
        else {
            return refuse(INVALID_PTX, "ptxas fatal   : Missing .version directive".to_owned());
        };
        let version = (number(major), number(minor));
        let newest = (self.plan.driver / 1_000 - 4, self.plan.driver % 1_000 / 10);
        if version > newest {
            let (major, minor) = version;
            let log = format!("ptxas fatal   : Unsupported .version {major}.{minor}");
            return refuse(UNSUPPORTED_PTX_VERSION, log);
        }
        let Some(target) = word_after(text, ".target").and_then(|target| {
            target.trim_end_matches(|c: char| !c.is_ascii_digit()).strip_prefix("sm_")
        }) else {
            return refuse(INVALID_PTX, "ptxas fatal   : Missing .target directive".to_owned());
        };
        if number(target) > self.plan.capability {
            return refuse(NO_BINARY_FOR_GPU, String::new());
        }
        Ok(())
    }

    pub(crate) fn unload(&mut self, module: u64) -> Result<(), Code> {
        self.own(self.modules.get(&module).map(|module| module.context))?;
        self.modules.remove(&module);
        self.functions.retain(|_, function| function.module != module);
        Ok(())
    }

    pub(crate) fn function(&mut self, module: u64, name: &str) -> Result<u64, Code> {
        self.own(self.modules.get(&module).map(|module| module.context))?;
        let text = self.modules.get(&module).map_or("", |module| &module.text);
        let kernel = Kernel::named(name, text).ok_or(NOT_FOUND)?;
        let threads_max = threads_max(text, name);
        let handle = self.handle();
        self.functions.insert(handle, Function { module, kernel, shared: SHARED, threads_max });
        Ok(handle)
    }

    /// Lets launches ask for so many bytes of dynamic shared memory.
    pub(crate) fn allow_shared(&mut self, function: u64, bytes: u32) -> Result<(), Code> {
        self.own(self.context_of(function))?;
        if bytes > self.plan.shared {
            return Err(INVALID_VALUE);
        }
        self.functions.get_mut(&function).into_iter().for_each(|of| of.shared = bytes);
        Ok(())
    }

    pub(crate) fn launch(
        &mut self,
        function: u64,
        (blocks, threads, shared): (u32, u32, u32),
        stream: u64,
        arguments: Vec<u8>,
    ) -> Result<(), Code> {
        self.own(self.context_of(function))?;
        let Some(of) = self.functions.get(&function) else { return Err(NOT_FOUND) };
        if threads > of.threads_max {
            return Err(LAUNCH_OUT_OF_RESOURCES);
        }
        let (kernel, allowed) = (of.kernel, of.shared);
        let fits = (kernel.shared_bytes()..=allowed).contains(&shared);
        let is_whole =
            blocks > 0 && threads > 0 && (threads % WARP == 0 || !kernel.is_of_drivers());
        if !fits || !is_whole || arguments.len() != kernel.argument_bytes() {
            return Err(self.wrong(INVALID_VALUE));
        }
        self.put_launch(Launch { kernel, arguments, items: blocks * threads }, stream)
    }

    fn context_of(&self, function: u64) -> Option<u64> {
        let module = self.functions.get(&function)?.module;
        self.modules.get(&module).map(|module| module.context)
    }
}

/// What stands behind a word at the begin of a line.
fn word_after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim().strip_prefix(word)).map(str::trim)
}

/// What a kernel says of the blocks that it is launched with.
fn threads_max(text: &str, name: &str) -> u32 {
    let entry = text.split_once(&format!(".entry {name}(")).map(|(_, behind)| behind);
    let head = entry.and_then(|entry| entry.split_once('{')).map_or("", |(head, _)| head);
    let said = word_after(head, ".maxntid").and_then(|said| said.split(',').next());
    said.map_or(THREADS_MAX, number)
}

/// A number, or one that is larger than all.
fn number(text: &str) -> u32 {
    text.parse().unwrap_or(u32::MAX)
}

/// What every kernel has without asking.
const SHARED: u32 = 48 << 10;
const THREADS_MAX: u32 = 1_024;
const WARP: u32 = 32;
