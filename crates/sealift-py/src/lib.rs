//! The engine as the Python module `sealift._sealift`.
//!
//! Nothing is computed here: arguments become columns, `gil` is the one place that leaves the
//! GIL, `errors` the one place that turns an error into an exception, `ffi` the one that takes
//! memory from Python objects.

mod aesgcm;
mod batch;
mod bytes;
mod cards;
mod column;
mod copies;
mod dpu;
mod engine;
mod errors;
mod ffi;
mod files;
mod forms;
mod frames;
mod gil;
mod gpus;
mod hazmat;
mod info;
mod integers;
mod keys;
mod offload;
mod one;
mod overlap;
mod place;
mod play;
mod probes;
mod records;
mod rehearse;
mod room;
mod schedule;
mod session;
mod submit;

use pyo3::pymodule;

#[pymodule]
mod _sealift {
    #[pymodule_export]
    use crate::aesgcm::AesGcm;
    #[pymodule_export]
    use crate::batch::BatchResult;
    #[pymodule_export]
    use crate::cards::{Card, Constant, Prediction, cards, keep_copy_cost};
    #[pymodule_export]
    use crate::dpu::{
        DpuCounters, DpuFault, DpuKernel, DpuKernelRun, DpuProgram, DpuRun, DpuSystem, DpuTook,
        dpu_disassemble, dpu_systems, run_dpu_kernel, run_dpu_messages,
    };
    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::ffi::Column;
    #[pymodule_export]
    use crate::files::{Held, stream_source, write_reads};
    #[pymodule_export]
    use crate::forms::{Fixed, Offsets};
    #[pymodule_export]
    use crate::frames::{answer_frames, frame_ways};
    #[pymodule_export]
    use crate::gpus::multiprocessors;
    #[pymodule_export]
    use crate::hazmat::aes_ctr;
    #[pymodule_export]
    use crate::info::{DeviceInfo, DriverInfo, drivers};
    #[pymodule_export]
    use crate::play::{PlayedBoard, play_board};
    #[pymodule_export]
    use crate::probes::{
        Arm, NotMeasurableError, WrongResultError, check_region, effective_clock_ghz, primitives,
    };
    #[pymodule_export]
    use crate::records::{Counters, Record};
    #[pymodule_export]
    use crate::rehearse::{Rehearsal, Rehearsed, rehearse};
    #[pymodule_export]
    use crate::schedule::{
        Calibrated, Calibration, Cost, Explanation, PolicyInfo, Quote, policies,
    };
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::submit::{Finished, InFlight, Submission};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "its name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
