//! What is timed, as Python has it: one way to make it for each family, and what it tells.

use super::contended;
use super::measuring::{Figures, Made};
use super::messages::{planned, regime, values};
use crate::lab::{copies, frames, gpus, offload};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use sealift_probes::copy::{CopyArm, PublishedArm};
use sealift_probes::files::{Cache, ReadSpec, WriteSpec, read_arm, write_arm};
use sealift_probes::frames::FramesArm;
use sealift_probes::gpu::GpuArm;
use sealift_probes::offload::OffloadArm;
use sealift_probes::{
    ArmError, ArmSpec, Columns, ContendedArm, GcmArm, Primitive, PrimitiveArm, ReadArm, Verified,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

/// Something that is timed again and again: prepared, checked and warm.
///
/// Only one at a time is prepared or measured in a process: two would measure each other.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Arm(pub(super) Mutex<Made>);

#[pymethods]
impl Arm {
    /// A device on messages, checked on every one of them, and warm.
    ///
    /// It looks for Ctrl-C after each batch.
    ///
    /// Args:
    ///     device: Names a device, the lab's own among them: table, ipp, slowed.
    ///     operation: 0 seal, 1 open, 2 open that must fail, 3 verify; one for each message.
    ///     key_len: Bytes of each key.
    ///     nonce_len: Bytes of each nonce.
    ///     aad_len: Bytes of each aad.
    ///     text_len: Bytes of each text.
    ///     tag_len: Bytes of each tag.
    ///     keys: "one", "sessions" or "fresh".
    ///     sessions: How many keys are installed; looked at for "sessions" only.
    ///     batch: Messages handed to the engine at once.
    ///     threads: Threads that each work all messages.
    ///     seed: Of keys, nonces, aads and texts.
    ///
    /// Raises:
    ///     ValueError: If a column is wrong.
    ///     UnknownDeviceError: If it is no device.
    ///     DeviceError: If the device is absent, or failed.
    ///     LimitError: If it doesn't take the messages.
    ///     NotMeasurableError: If nobody can check it, or there can't be so many threads.
    ///     WrongResultError: If it computes something wrong.
    #[staticmethod]
    #[pyo3(signature = (device, *, operation, key_len, nonce_len, aad_len, text_len, tag_len, keys, sessions, batch, threads, seed))]
    #[expect(clippy::too_many_arguments, reason = "by name in Python")]
    fn gcm(
        py: Python<'_>,
        device: &str,
        operation: PyBuffer<u8>,
        key_len: PyBuffer<u8>,
        nonce_len: PyBuffer<u8>,
        aad_len: PyBuffer<u32>,
        text_len: PyBuffer<u64>,
        tag_len: PyBuffer<u8>,
        keys: &str,
        sessions: usize,
        batch: usize,
        threads: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let columns = Columns {
            planned: values(py, &operation, "operation")?
                .into_iter()
                .map(planned)
                .collect::<PyResult<_>>()?,
            key_bytes: values(py, &key_len, "key_len")?,
            nonce_bytes: values(py, &nonce_len, "nonce_len")?,
            aad_bytes: values(py, &aad_len, "aad_len")?,
            text_bytes: values(py, &text_len, "text_len")?,
            tag_bytes: values(py, &tag_len, "tag_len")?,
        };
        let regime = regime(keys, sessions)?;
        let spec = ArmSpec { columns, regime, batch, threads, seed };
        Self::prepare(py, |wanted| {
            let engine = sealift_probes::open(device).map_err(ArmError::from)?;
            Ok(Box::new(GcmArm::prepare_while(&engine, device, &spec, wanted)?))
        })
    }

    /// A hash or a signature scheme on messages, by AWS-LC, checked and warm.
    ///
    /// It looks for Ctrl-C between messages.
    ///
    /// Args:
    ///     name: One of `primitives()`.
    ///     message_bytes: Length of each message.
    ///     threads: Threads, each with messages and a key of its own.
    ///     seed: Of the messages.
    ///
    /// Raises:
    ///     ValueError: If there is no such primitive, or a number is out of range.
    ///     NotMeasurableError: If the library refuses, or there can't be so many threads.
    ///     WrongResultError: If it computes something wrong.
    #[staticmethod]
    #[pyo3(signature = (name, message_bytes, *, threads, seed))]
    fn primitive(
        py: Python<'_>,
        name: &str,
        message_bytes: usize,
        threads: usize,
        seed: u64,
    ) -> PyResult<Self> {
        Self::prepare(py, |wanted| {
            let primitive = Primitive::parse(name)?;
            let arm = PrimitiveArm::prepare_while(primitive, message_bytes, threads, seed, wanted)?;
            Ok(Box::new(arm))
        })
    }

    /// A loop that sums memory, 64 KiB an operation.
    ///
    /// Args:
    ///     buffer_bytes: What all threads read together, each its own part.
    ///     threads: Threads that read.
    ///
    /// Raises:
    ///     ValueError: If there are less than 64 KiB for each thread.
    ///     NotMeasurableError: If there is no memory, or there can't be so many threads.
    #[staticmethod]
    #[pyo3(signature = (buffer_bytes, *, threads))]
    fn read(py: Python<'_>, buffer_bytes: usize, threads: usize) -> PyResult<Self> {
        Self::prepare(py, |wanted| {
            Ok(Box::new(ReadArm::prepare_while(buffer_bytes, threads, wanted)?))
        })
    }

    /// AES-128 over texts in memory, 1 MiB an operation, beside threads that read memory.
    ///
    /// What memory gives is measured before, by as many threads as encrypt and read together. It
    /// looks for Ctrl-C after each mebibyte.
    ///
    /// Args:
    ///     asked: A mapping with all of cipher ("gcm", by the device cpu, or "ctr"), threads that
    ///         encrypt, text_bytes of each (1 MiB or more), streamers (threads that read; 0 for
    ///         none), share_percent (1 to 100: of what memory gives, all of them together),
    ///         stream_bytes of each (64 KiB or more), seed of keys and texts.
    ///
    /// Raises:
    ///     ValueError: If there is no such cipher, or a number is out of range.
    ///     DeviceError: If this processor has no device cpu.
    ///     NotMeasurableError: If there is no memory, or there can't be so many threads.
    ///     WrongResultError: If it computes something wrong.
    #[staticmethod]
    fn contended(py: Python<'_>, asked: contended::Asked) -> PyResult<Self> {
        let spec = asked.spec();
        Self::prepare(py, |wanted| Ok(Box::new(ContendedArm::prepare_while(&spec, wanted)?)))
    }

    /// A function that copies, reads or writes, each in a loop of its own.
    ///
    /// Arms that ask for the same memory share it.
    ///
    /// Args:
    ///     asked: A mapping with all of operation ("copy", "read", "write", "fill"), function
    ///         ("glibc", "words", "sse2", "rep-movsb", "avx512", "non-temporal",
    ///         "apex", "ours", "pread", "pwrite", "first-touch", "populated"), bytes of a copy,
    ///         threads, source and target ("heap", "pages", "huge-pages", "memfd", "shm",
    ///         "file", "hugetlb", "region"), state ("hot", "cold", or for a file "beyond
    ///         memory", which takes a control group that SEALIFT_MEMORY_GROUP names), buffers
    ///         ("private", "shared"), offset (destination minus source, modulo 4,096), beside
    ///         ("nothing", "spinner", "protector", "evictor"), content ("seeded", "counting",
    ///         "found"), seed (of the content, or what is added when it counts), folder for
    ///         files without a name, region (path, offset, bytes; or None).
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If this machine has no such function or memory.
    ///     WrongResultError: If it copies something wrong, or a region is not as it was found.
    #[staticmethod]
    fn copy(py: Python<'_>, asked: copies::CopyArgs) -> PyResult<Self> {
        Self::prepare(py, |wanted| Ok(Box::new(CopyArm::prepare_while(&asked.spec()?, wanted)?)))
    }

    /// The published tool's way of measuring: two looks at the clock around some copies.
    ///
    /// Args:
    ///     asked: A mapping with all of function (0 for the C library's copy, 1 for a loop of
    ///         words as compilers make it, 2 for a copy in the manner of Apex memmove, 3 for
    ///         registers of 64 bytes; those before it go first), bytes of a copy, before
    ///         (shorter lengths that are copied before, in order), runs (how often each
    ///         function copies), threads (workers of the pool; 0 for none), source and target
    ///         (as of `copy`; a target is fresh memory, but for a region), content and seed (as
    ///         of `copy`), folder for files without a name, region (path, offset, bytes; or
    ///         None).
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If this machine has no such function or memory, or can't have
    ///         so many threads.
    #[staticmethod]
    fn published_copy(py: Python<'_>, asked: copies::PublishedCopyArgs) -> PyResult<Self> {
        Self::prepare(py, |_| Ok(Box::new(PublishedArm::prepare(&asked.spec()?)?)))
    }

    /// A reader on a file of short reads, 1,000 an operation, held to what was written.
    ///
    /// Args:
    ///     path: A file that `write_reads` made.
    ///     sums: What that gave.
    ///     reader: getc, getc_unlocked, fgets, getline, ifstream, read+memchr, mmap+memchr,
    ///         needletail, seq_io, memory byte by byte or memory by lines.
    ///     library: That of ifstream, built of `stream_source()`.
    ///     threads: Threads that each read the whole file.
    ///     cold: Whether what is read next is taken out of the page cache before the clock starts.
    ///
    /// Raises:
    ///     ValueError: If there is no such reader, or the file doesn't fit the sums.
    ///     NotMeasurableError: If the file can't be read, or there can't be so many threads.
    ///     WrongResultError: If something else is read than was written.
    #[staticmethod]
    #[pyo3(signature = (path, sums, *, reader, library, threads, cold))]
    fn reads(
        py: Python<'_>,
        path: PathBuf,
        sums: Vec<u64>,
        reader: String,
        library: Option<PathBuf>,
        threads: usize,
        cold: bool,
    ) -> PyResult<Self> {
        let cache = if cold { Cache::Cold } else { Cache::Warm };
        let spec = ReadSpec { path, sums, reader, library, threads, cache };
        Self::prepare(py, |_| Ok(read_arm(&spec)?))
    }

    /// A writer of lorem ipsum, 64 KiB an operation, read back after each sample.
    ///
    /// Args:
    ///     path: A file that is there; what it holds is lost.
    ///     writer: putc, fwrite or write.
    ///     block_bytes: Bytes of each call, 1 for putc.
    ///     fsync: Whether it waits after each 1 MiB until that is on the disk.
    ///     seed: Of the text.
    ///
    /// Raises:
    ///     ValueError: If there is no such writer, or a number is out of range.
    ///     NotMeasurableError: If the file can't be written.
    ///     WrongResultError: If the file holds something else than was written.
    #[staticmethod]
    #[pyo3(signature = (path, *, writer, block_bytes, fsync, seed))]
    fn writes(
        py: Python<'_>,
        path: PathBuf,
        writer: String,
        block_bytes: usize,
        fsync: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let spec = WriteSpec { path, writer, block_bytes, fsync, seed };
        Self::prepare(py, |_| Ok(write_arm(&spec)?))
    }

    /// Frames exchanged with another process, each byte of each compared where it arrives.
    ///
    /// The other process is started for it, and ended with it.
    ///
    /// Args:
    ///     way: One of `frame_ways()`.
    ///     pattern: "ping-pong", where each frame is answered by one, or "stream".
    ///     frame_bytes: Length of each frame, 16 bytes to 64 MiB.
    ///     batch: Frames handed over at once.
    ///     seed: Of the frames, and of keys where they are sealed.
    ///     far: The command that starts the other process: one that calls `answer_frames()`.
    ///
    /// Raises:
    ///     ValueError: If there is no such way or pattern, or a number is out of range.
    ///     NotMeasurableError: If the other process doesn't start, or the system refuses the way.
    ///     WrongResultError: If a frame arrives that was not sent.
    #[staticmethod]
    #[pyo3(signature = (way, pattern, *, frame_bytes, batch, seed, far))]
    fn frames(
        py: Python<'_>,
        way: &str,
        pattern: &str,
        frame_bytes: usize,
        batch: usize,
        seed: u64,
        far: Vec<OsString>,
    ) -> PyResult<Self> {
        Self::prepare(py, |wanted| {
            let spec = frames::spec((way, pattern), (frame_bytes, batch), seed, far)?;
            Ok(Box::new(FramesArm::prepare_while(&spec, wanted)?))
        })
    }

    /// Clients that hand batches over to cores as to cards, each message compared.
    ///
    /// Each device is a worker that keeps to a core of its own; clients run anywhere, keep to a
    /// device each and have one batch in flight.
    ///
    /// Args:
    ///     asked: A mapping with all of cipher ("3des-cbc", "aes-128-gcm"), way ("calling thread",
    ///         where nothing is handed over, "sleeping", "polling"), threads, devices,
    ///         message_bytes (a multiple of 8), batch and seed.
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If there are fewer cores than devices.
    ///     WrongResultError: If a message comes back otherwise than another library gives it.
    #[staticmethod]
    fn offload(py: Python<'_>, asked: offload::Asked) -> PyResult<Self> {
        Self::prepare(py, |wanted| Ok(Box::new(OffloadArm::prepare_while(&asked.spec()?, wanted)?)))
    }

    /// Messages that lie in a GPU's memory and are worked again and again, each one compared.
    ///
    /// Where OpenCL speaks to a processor that is a device, too, with the role "test only".
    ///
    /// Args:
    ///     asked: A mapping with all of device ("cuda" or "opencl", with a number where there are
    ///         several, as in "opencl:0"), code ("as published" or "ours"), mode ("replicated",
    ///         where each thread works all messages, or "partitioned"), data ("resident" or "with
    ///         transfers"), grid (blocks, and threads of each; None for what Sealift's driver
    ///         takes), operation ("seal", "open", "verify", "counter mode", or "mixed, verified"
    ///         and "mixed, refused": half sealed, a quarter opened, and a quarter verified or, with
    ///         wrong tags, refused), keys ("own keys", one for each message, or "one key"),
    ///         key_bits (a sequence of 128, 192 and 256: as many messages have each, one length
    ///         after the other), s_box ("tables" or "without tables", for code "ours"), messages,
    ///         message_bytes and seed.
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If there is no such device, or it takes no such grid.
    ///     WrongResultError: If a message comes out otherwise than this processor gives it.
    #[staticmethod]
    fn gpu(py: Python<'_>, asked: gpus::Asked) -> PyResult<Self> {
        let spec = asked.spec();
        Self::prepare(py, |wanted| Ok(Box::new(GpuArm::prepare_while(&spec, wanted)?)))
    }

    /// Products of small matrices of a data type in each thread of a GPU, each one compared.
    ///
    /// Args:
    ///     asked: A mapping with all of device (as above), of ("int", "long", "float", "double" or
    ///         "float with double literal") and grid (blocks, and threads of each).
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If there is no such device, or it takes no such grid or type.
    ///     WrongResultError: If a product comes out otherwise than this processor gives it.
    #[staticmethod]
    fn gpu_types(py: Python<'_>, asked: gpus::AskedTypes) -> PyResult<Self> {
        let spec = asked.spec();
        Self::prepare(py, |wanted| Ok(Box::new(GpuArm::of_types_while(&spec, wanted)?)))
    }

    /// Chains of one instruction in all multiprocessors of an NVIDIA GPU, each end compared.
    ///
    /// Args:
    ///     asked: A mapping with all of device (as above), of ("LOP3", "PRMT", "SHF", "IMAD",
    ///         "IMAD.WIDE", "LDS" or "BMMA") and rounds (length of a chain: odd, no multiple of 3).
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If there is no such device, or it isn't NVIDIA's or lacks it.
    ///     WrongResultError: If a chain ends elsewhere than on this processor.
    #[staticmethod]
    fn gpu_units(py: Python<'_>, asked: gpus::AskedUnits) -> PyResult<Self> {
        let spec = asked.spec();
        Self::prepare(py, |wanted| Ok(Box::new(GpuArm::of_units_while(&spec, wanted)?)))
    }

    /// Copies between pinned memory of this machine and a GPU, compared.
    ///
    /// Args:
    ///     asked: A mapping with all of device (as above), direction ("to the device", "back" or
    ///         "both at once") and size_bytes of a copy.
    ///
    /// Raises:
    ///     ValueError: If something of it is wrong.
    ///     NotMeasurableError: If there is no such device, or no memory for it.
    ///     WrongResultError: If other bytes come back than went.
    #[staticmethod]
    fn gpu_copies(py: Python<'_>, asked: gpus::AskedCopies) -> PyResult<Self> {
        let spec = asked.spec();
        Self::prepare(py, |wanted| Ok(Box::new(GpuArm::of_copies_while(&spec, wanted)?)))
    }

    /// Runs for about `seconds`, looking for Ctrl-C ten times a second.
    ///
    /// Each thread keeps to a core of its own while there are enough.
    ///
    /// Returns:
    ///     Wall nanoseconds, operations, bytes of payload, involuntary switches, least CPU share of
    ///     a thread, nanoseconds stolen by the hypervisor, and the clock of the calling thread's
    ///     core right beside the sample in GHz, or None where it isn't known.
    ///
    /// Raises:
    ///     WrongResultError: If something was computed wrong.
    ///     DeviceError: If a device failed.
    fn sample(&self, py: Python<'_>, seconds: f64) -> PyResult<Figures> {
        self.sampled(py, seconds)
    }

    /// What it was checked against before the first sample: other devices, published values.
    ///
    /// Empty for a device that encrypts nothing.
    #[getter]
    fn checked_against(&self) -> PyResult<Vec<String>> {
        self.look(|arm| match arm.verified() {
            Verified::Against(names) => names.clone(),
            Verified::NothingToCheck => vec![],
        })
    }

    /// What is measured, for people: an instruction set, a library with its version.
    #[getter]
    fn detail(&self) -> PyResult<String> {
        self.look(|arm| arm.detail().to_owned())
    }

    /// What the device that is measured may be used for, as in `DeviceInfo`.
    ///
    /// None when it is no device.
    #[getter]
    fn role(&self) -> PyResult<Option<String>> {
        self.look(|arm| arm.role().map(|role| role.to_string()))
    }

    /// The cores that its threads keep to; empty when they run anywhere.
    #[getter]
    fn cores(&self) -> PyResult<Vec<usize>> {
        self.look(|arm| arm.cores().to_vec())
    }

    /// What was checked and worked so far, by the name of each count.
    #[getter]
    fn counts(&self) -> PyResult<BTreeMap<&'static str, u64>> {
        self.look(|arm| arm.counts().into_iter().collect())
    }

    /// What it has to tell beside times and counts, by name, for people.
    #[getter]
    fn told(&self) -> PyResult<BTreeMap<&'static str, String>> {
        self.look(|arm| arm.told().into_iter().collect())
    }
}
