//! A UPMEM DPU that runs without hardware, SDK or container.
//!
//! It takes assembly and ELF, not C: [`assemble`] reads the vendor's assembly, [`elf::read`] programs that the vendor's
//! tools built. A [`Dpu`] executes them with 24 tasklets, counts what they did and says how many cycles a DPU takes for
//! that; a [`host::DpuSet`] is the host's side, with ranks of DPUs and transfers between them and the host.
//!
//! ```
//! use dpu_sim::{Dpu, Outcome, Region, Timing, assemble};
//!
//! let program = assemble("
//!     .text
//!         lw   r0, zero, numbers
//!         lw   r1, zero, numbers + 4
//!         add  r0, r0, r1
//!         sw   zero, sum, r0
//!         stop
//!     .data
//!     numbers: .long 20, 22
//!     sum:     .long 0
//! ")?;
//! let mut dpu = Dpu::new(Timing::default());
//! dpu.load(&program);
//! dpu.boot();
//! assert_eq!(dpu.run(1000), Outcome::Done);
//! let mut sum = [0; 4];
//! dpu.read(Region::Wram, 8, &mut sum)?;
//! assert_eq!(u32::from_le_bytes(sum), 42);
//! assert_eq!(dpu.counters().instructions, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program's `printf` is read by [`Dpu::log`]. The instructions with checked pointers (`adds`, `subs`, and loads and stores whose
//! names end with one more `s`, like `lws`) check what the vendor's emulator checks.
//!
//! What it says of time is a model, held against published measurements of real DPUs; no DPU was there to compare with.

#![forbid(unsafe_code)]

mod asm;
mod counters;
pub mod elf;
mod exec;
pub mod host;
pub mod isa;
pub mod kernels;
mod log;
mod preset;
mod program;
mod timing;

pub use asm::{AsmError, Reason, assemble, assemble_with};
pub use counters::{Counters, Idle};
pub use exec::{AccessError, Dpu, Fault, FaultKind, Outcome, TASKLETS, Told};
pub use log::LogError;
pub use preset::{PRESETS, Preset, PresetError, Rate, TransferTime, Transfers};
pub use program::{IRAM_INSTRUCTIONS, MRAM_BYTES, Program, Region, Symbol, WRAM_BYTES};
pub use timing::{Direction, Dma, Timing};
