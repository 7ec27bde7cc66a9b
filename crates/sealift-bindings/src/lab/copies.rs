//! What Python says of copies, as the probes take it.

use crate::lab::probes::{Stop, exception, watched};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sealift_probes::ArmError;
use sealift_probes::copy::{
    self, Beside, Buffers, Content, CopySpec, Direction, Function, Kind, Operation, PublishedSpec,
    Region, State, ToolSpec,
};
use std::path::PathBuf;
use std::sync::Mutex;

/// The arguments of `Arm.copy`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CopyArgs {
    operation: String,
    function: String,
    bytes: usize,
    threads: usize,
    source: String,
    target: String,
    state: String,
    buffers: String,
    offset: usize,
    beside: String,
    content: String,
    seed: u64,
    folder: PathBuf,
    region: Option<RegionArgs>,
}

impl CopyArgs {
    pub(crate) fn spec(&self) -> Result<CopySpec, ArmError> {
        Ok(CopySpec {
            operation: Operation::parse(&self.operation)?,
            function: Function::parse(&self.function)?,
            bytes: self.bytes,
            threads: self.threads,
            source: kind(&self.source, self.region.as_ref())?,
            target: kind(&self.target, self.region.as_ref())?,
            state: State::parse(&self.state)?,
            buffers: Buffers::parse(&self.buffers)?,
            offset: self.offset,
            beside: Beside::parse(&self.beside)?,
            content: content(&self.content, self.seed)?,
            folder: self.folder.clone(),
        })
    }
}

/// The arguments of `Arm.published_copy`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PublishedCopyArgs {
    function: usize,
    bytes: usize,
    before: Vec<usize>,
    runs: usize,
    threads: usize,
    source: String,
    target: String,
    content: String,
    seed: u64,
    folder: PathBuf,
    region: Option<RegionArgs>,
}

impl PublishedCopyArgs {
    pub(crate) fn spec(&self) -> Result<PublishedSpec, ArmError> {
        Ok(PublishedSpec {
            function: self.function,
            bytes: self.bytes,
            before: self.before.clone(),
            runs: self.runs,
            threads: self.threads,
            source: kind(&self.source, self.region.as_ref())?,
            target: kind(&self.target, self.region.as_ref())?,
            content: content(&self.content, self.seed)?,
            folder: self.folder.clone(),
        })
    }
}

/// The published tool whole: its application's memory, its workers, and its experiments.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct PublishedTool(Mutex<copy::PublishedTool>);

#[pymethods]
impl PublishedTool {
    /// Takes the memory and starts the workers.
    ///
    /// Args:
    ///     runs: How often each function copies.
    ///     threads: Workers of the pool; 0 for none.
    ///
    /// Raises:
    ///     ValueError: If a number is out of range.
    ///     NotMeasurableError: If there is no memory for it, or there can't be the threads.
    #[new]
    #[pyo3(signature = (*, runs, threads))]
    fn new(runs: usize, threads: usize) -> PyResult<Self> {
        let tool = copy::PublishedTool::new(runs, threads);
        tool.map(|tool| Self(Mutex::new(tool))).map_err(|error| exception(error.into()))
    }

    /// Where the application's memory lies.
    #[getter]
    fn address(&self) -> PyResult<usize> {
        Ok(self.0.try_lock().map_err(|_| busy())?.address())
    }

    /// Gives back the memory of the last experiment, takes this one's, and fills its source.
    ///
    /// Args:
    ///     asked: A mapping with all of memory ("heap", "shm", "region"), bytes of it,
    ///         direction ("writes", "reads", "reads what is there"), value (byte i of a source
    ///         that is filled is i plus this), folder for files without a name, region (path,
    ///         offset, bytes; or None).
    ///
    /// Returns:
    ///     Where the memory lies; the file behind it, or -1; and of the source the last word, the
    ///     one before it, and the third, second and first.
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If this machine has no such memory.
    fn begin(&self, py: Python<'_>, asked: ToolArgs) -> PyResult<(usize, i32, Vec<u64>)> {
        let memory = watched(py, |_| {
            let mut tool = self.0.try_lock().map_err(|_| Stop::Busy)?;
            Ok(tool.begin(&asked.spec()?)?)
        })?;
        Ok((memory.address, memory.file, memory.source.to_vec()))
    }

    /// Copies a length by each of the tool's three functions.
    ///
    /// Returns:
    ///     The nanoseconds that all runs took by each function; and of the destination the last
    ///     word, the one before it, and the third, second and first.
    ///
    /// Raises:
    ///     ValueError: If no experiment has begun, or its memory is shorter.
    ///     NotMeasurableError: If this machine has no such function.
    ///     WrongResultError: If something is copied wrong.
    fn copy(&self, py: Python<'_>, size_bytes: usize) -> PyResult<(Vec<u64>, Vec<u64>)> {
        let report = watched(py, |wanted| {
            let mut tool = self.0.try_lock().map_err(|_| Stop::Busy)?;
            Ok(tool.copy(size_bytes, wanted)?)
        })?;
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Ok((report.times.map(ns).to_vec(), report.target.to_vec()))
    }
}

fn busy() -> PyErr {
    PyRuntimeError::new_err("another thread measures with it")
}

/// The arguments of `PublishedTool.begin`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ToolArgs {
    memory: String,
    bytes: usize,
    direction: String,
    value: u8,
    folder: PathBuf,
    region: Option<RegionArgs>,
}

impl ToolArgs {
    fn spec(&self) -> Result<ToolSpec, ArmError> {
        let direction = match self.direction.as_str() {
            "writes" => Direction::Writes,
            "reads" => Direction::Reads,
            "reads what is there" => Direction::ReadsWhatIsThere,
            other => return Err(unknown("direction", other, "writes, reads, reads what is there")),
        };
        Ok(ToolSpec {
            memory: kind(&self.memory, self.region.as_ref())?,
            bytes: self.bytes,
            direction,
            value: self.value,
            folder: self.folder.clone(),
        })
    }
}

/// Path, offset and length of a region.
type RegionArgs = (PathBuf, u64, usize);

fn kind(name: &str, region: Option<&RegionArgs>) -> Result<Kind, ArmError> {
    match region {
        Some((path, offset, bytes)) if name == "region" => {
            Ok(Kind::Region(Region::find(path, *offset, *bytes)?))
        }
        _ => Kind::parse(name),
    }
}

fn content(name: &str, seed: u64) -> Result<Content, ArmError> {
    let value = seed.to_le_bytes()[0];
    match name {
        "seeded" => Ok(Content::Seeded(seed)),
        "counting" => Ok(Content::Counting(value)),
        "found" => Ok(Content::Found(value)),
        other => Err(unknown("content", other, "seeded, counting, found")),
    }
}

fn unknown(what: &'static str, value: &str, right: &str) -> ArmError {
    ArmError::Spec { what, value: format!("{value:?}"), right: right.to_owned() }
}
