"""The lab's extension: an engine with every device, and what measures and simulates, native.

Classes that the library has, too, are typed as the library's. They are classes of their own all
the same: an engine of one extension takes no session of the other.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Final, Literal, final

from sealift._sealift import (
    AESGCM,
    AESGCMSIV,
    XAES256GCM,
    BatchResult,
    Calibrated,
    Calibration,
    CheckResult,
    Column,
    Cost,
    Counters,
    DeviceCheck,
    DeviceInfo,
    DriverInfo,
    Engine,
    Explanation,
    Finished,
    Fixed,
    InFlight,
    Offsets,
    PolicyInfo,
    Quote,
    Record,
    Session,
    Submission,
    __version__,
    _Bytes,
    aes_ctr,
    drivers,
    policies,
)

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "XAES256GCM",
    "Arm",
    "BatchResult",
    "Calibrated",
    "Calibration",
    "Card",
    "CheckResult",
    "Column",
    "Constant",
    "Cost",
    "Counters",
    "DeviceCheck",
    "DeviceInfo",
    "DpuCounters",
    "DpuFault",
    "DpuKernel",
    "DpuKernelRun",
    "DpuProgram",
    "DpuRun",
    "DpuSystem",
    "DpuTook",
    "DriverInfo",
    "Engine",
    "Explanation",
    "Finished",
    "Fixed",
    "Held",
    "InFlight",
    "NotMeasurableError",
    "Offsets",
    "PlayedBoard",
    "PolicyInfo",
    "Prediction",
    "PublishedTool",
    "Quote",
    "Record",
    "Rehearsal",
    "Rehearsed",
    "Session",
    "Submission",
    "WrongResultError",
    "__version__",
    "aes_ctr",
    "answer_frames",
    "cards",
    "check_region",
    "dpu_disassemble",
    "dpu_systems",
    "drivers",
    "effective_clock_ghz",
    "frame_ways",
    "keep_copy_cost",
    "multiprocessors",
    "nvidia_gpus",
    "nvidia_sensors",
    "play_board",
    "policies",
    "primitives",
    "rehearse",
    "run_dpu_kernel",
    "run_dpu_messages",
    "stream_source",
    "write_reads",
]

def cards() -> list[Card]:
    """The cards that come with Sealift."""

@final
class Card:
    """A device that is not here, described by constants.

    Its times are reckoned from them. As the device `spec` it works batches, with true bytes and
    reckoned times.
    """

    @staticmethod
    def read(path: str | Path) -> Card:
        """Reads a description from a plain TOML file.

        Where it says how often the host copies and not how fast, that is what `sealift lab run
        copy-by-length` left in the user's cache, or else measured, some milliseconds once a
        process.

        Raises:
            InputError: If it can't be read, something in it is missing or wrong, or its path can't
                stand in a device's name.
        """
    name: Final[str]
    """Its name."""
    summary: Final[str]
    """What it is, in a line."""
    source: Final[str]
    """Where constants come from that name no other source."""
    algorithm: Final[str]
    """What its rate was published for: "aes-gcm", or another cipher whose rate is taken."""
    spec: Final[str]
    """The device that it is for `Engine(devices=...)`."""
    constants: Final[list[Constant]]
    """Every number of its description."""
    units: Final[int]
    """Crypto units, each of which works one request at a time."""
    slots: Final[int]
    """Batches that it holds at most, those being worked included."""
    watts: Final[float | None]
    """The power it takes; None where the description doesn't say."""
    price: Final[float | None]
    """What it costs in its currency; None where the description doesn't say."""
    currency: Final[str | None]
    """What its price is in; None where the description doesn't say."""
    def predict(self, messages: int, message_bytes: int) -> Prediction:
        """What a batch of equal messages is reckoned to take.

        Args:
            messages: Messages in the batch, 1 to 2**32 - 1.
            message_bytes: Bytes of each text, aad included, at most 2**36 - 32.

        Raises:
            InputError: If a number is out of range.
        """
    def cost(self) -> Cost:
        """The straight line through the predictions for an idle card.

        It meets batches of 1 to 1,024 messages of 16 bytes to 16 KiB as well as a line can. Take
        `predict` where the size of a batch is known.
        """

@final
class Constant:
    """One number of a card's description."""

    name: Final[str]
    """Its key, as in "card.setup_us"."""
    value: Final[float]
    """Its value, in its unit."""
    unit: Final[str]
    """"us", "Gbit/s" (10**9 bits a second), "W", "the currency"; "" for a count."""
    source: Final[str]
    """Where it comes from."""
    fitted: Final[bool]
    """Whether it was chosen so that the model meets measurements."""
    measured: Final[bool]
    """Whether it was measured on this machine, because the description leaves it out."""

@final
class Prediction:
    """What a card is reckoned to take for a batch of equal messages; the origin is "projected"."""

    batch_ns: Final[float]
    """From handing over to results, on an idle card."""
    host_ns: Final[float]
    """Time of the host's processor for it; where results share interrupts, in a queue."""
    interval_ns: Final[float]
    """Between the ends of such batches when as many are queued as the card holds."""
    bound_by: Final[Literal["host", "link", "card"]]
    """What sets that interval."""

def keep_copy_cost(times: Sequence[tuple[int, float]]) -> Path:
    """Keeps what copies cost on this machine, for cards whose descriptions leave that out.

    In the user's cache, beside what calibration keeps there, and in the place of what was kept of
    copies before.

    Args:
        times: Lengths in bytes, ascending, each with the nanoseconds that such a copy takes from
            memory to memory.

    Returns:
        The file.

    Raises:
        InputError: If no copies take such times.
        OSError: If there is no place for the file, or it can't be written.
    """

def rehearse(
    devices: Sequence[Card | tuple[str, Cost, int]],
    *,
    batches_per_s: float,
    messages: int,
    message_bytes: int,
    batches: int = 20_000,
    policy: str = "earliest-finish",
    seed: int = 0,
) -> Rehearsal:
    """Works an open load on modelled devices in virtual time, with the engine's own scheduler.

    Batches come at random moments (Poisson), however many are still in flight. Messages are true:
    each is sealed on its device and compared, which takes most of the time of this call. It looks
    for Ctrl-C ten times a second.

    Hosts are not shared: each card hands over as if a processor of this machine were there for it
    alone, beside those of the machine's own devices, and each has a bus of its own. So a pool does
    no better than this says, and worse where `host_utilisation` comes near the processors there
    are.

    Args:
        devices: Cards, and this machine's processors as (name, cost of a batch on one worker,
            workers); the cost is one of `Engine.costs()`, the time its work takes is the host's.
        batches_per_s: How many come a second in the mean, from 0.00001 to 10**9.
        messages: Messages of each, 1 to 2**24.
        message_bytes: Bytes of each text.
        batches: How many in all, 1 to 10**7, which may come for 10**6 seconds.
        policy: Who chooses a device for each, as in `Engine`.
        seed: Where moments, keys and texts are drawn from, 0 to 2**64 - 1.

    Raises:
        TypeError: If a device is neither a `Card` nor such a tuple.
        InputError: If a number is out of range, there is no device or no such policy, or as many
            batches as devices hold take more than 2 GiB, or two cards of one name differ.
        DeviceError: If two devices have one name.
    """

@final
class Rehearsal:
    """What became of a load. Nothing of it was measured: the origin of its times is "simulated"."""

    batches: Final[int]
    """Batches that came back."""
    refused: Final[int]
    """Batches that were handed back, once or more often, because every device was full."""
    lost: Final[int]
    """Batches that did not come back, or without results."""
    response_ns_mean: Final[float]
    """From sending to taking back, waiting for a slot included."""
    response_ns_p99: Final[float]
    """What 99 of 100 batches stay within."""
    span_ns: Final[int]
    """From the start to the end of the last batch."""
    host_utilisation: Final[float]
    """Processors of this machine that were busy for all devices, in the mean over the span."""
    devices: Final[list[Rehearsed]]
    """The devices, in their order."""

@final
class Rehearsed:
    """What a device had to do in a rehearsal."""

    name: Final[str]
    """Its name; of a second card of one kind with ",number=2" behind it."""
    batches: Final[int]
    """Batches and parts of batches that it worked."""
    utilisation: Final[float]
    """Share of the time that its workers were busy; of a card, share of the batches that it could
    have worked at its best."""
    host_utilisation: Final[float]
    """Processors of this machine that were busy for it, in the mean over the span."""

def play_board(card: Card, asked: Mapping[str, object]) -> PlayedBoard:
    """Works a load of closed clients on cards that share a host, with the engine's own scheduler.

    Events are played one by one, in virtual time: handing over, copies, bus, memory, interrupts.
    Bytes are true: on cards of 3DES messages of 16 KiB in all, drawn by their nonces, are
    encrypted by one library and compared with what another one gives, and the others pass as they
    are; on other cards each message is sealed and compared. It looks for Ctrl-C ten times a second.

    Args:
        card: Whose host, bus and slots these are.
        asked: The load: clients, messages and bytes of each batch, batches in all, policy (None for
            a card of its own for each client), seed. What is not as in the description: time of
            the kernel for a request without copies and interrupt, of its client before it, of an
            interrupt and for each of the cards on its line that is asked; of a card for a message;
            a rate for each card, that of software beside them, when the first card dies. The law of
            times, "fixed", "host" or "all"; memory, "unlimited", "in order" or "copies first"; the
            host's order, "in turn", "completions first" or "rounds"; has_bus.

    Raises:
        InputError: If a number is out of range, there is no such law, memory, order or policy, or
            messages for 3DES are no whole blocks of 8 bytes.
    """

@final
class PlayedBoard:
    """What became of a load on a board; the origin of its times is "simulated"."""

    batches: Final[int]
    """Batches that came back."""
    lost: Final[int]
    """Batches that did not come back, or without results."""
    moved: Final[int]
    """Batches that came back from another card than the first that was tried."""
    span_ns: Final[int]
    """From the start to the end of the last batch."""
    response_ns_mean: Final[float]
    """From sending to taking back."""
    response_ns_p99: Final[float]
    """What 99 of 100 batches stay within."""
    by_card: Final[list[int]]
    """Batches of each card."""
    card_ns: Final[list[int]]
    """Time that each card worked."""
    payload_bytes: Final[int]
    """Bytes of the texts that came back."""
    written_bytes: Final[int]
    """Bytes that were written to memory, by the host and by cards."""
    interrupts: Final[int]
    """Interrupts that the host took."""
    host_ns: Final[int]
    """Time of the host's processor."""
    copy_ns: Final[int]
    """Of it, copies and waits for memory."""
    interrupt_ns: Final[int]
    """Of it, interrupts."""
    user_ns: Final[int]
    """Of it, what clients do themselves."""
    software_ns: Final[int]
    """Of it, encrypting in place of a card."""
    bus_ns: Final[int]
    """Time that the bus carried bytes."""
    idle_ns: Final[int]
    """Time that no card had anything to work."""
    cipher: Final[Literal["3des-cbc", "aes-128-gcm"]]
    """What messages were encrypted by: "3des-cbc" or "aes-128-gcm"."""
    encrypted: Final[int]
    """Messages that were encrypted, and compared where they came back."""

def run_dpu_kernel(asked: Mapping[str, object]) -> DpuKernelRun:
    """Runs a generated kernel on one simulated DPU and compares what it gives, byte by byte.

    It looks for Ctrl-C ten times a second.

    Args:
        asked: A mapping with all of kernel ("document-000", "ecb", "ecb-by-bank", "ecb-fed", "ctr",
            "ghash", "gcm"), key_bits (128, 192, 256), decrypts, tasklets (1 to 24; of "ecb-fed"
            those that work, beside the one that moves data), chunk_bytes (a power of two from 32 to
            2,048), bytes of data in MRAM, hazard (whether registers that meet in a bank cost a
            cycle), counts (what the timer of "document-000" counts: "cycles" or "instructions").

    Raises:
        InputError: If there is no such kernel, or it can't be run so.
        WrongResultError: If it gives something wrong.
    """

def run_dpu_messages(asked: Mapping[str, object]) -> DpuKernelRun:
    """Seals or opens messages with a key each on one simulated DPU and compares what it gives.

    Keys are expanded on the DPU. It looks for Ctrl-C ten times a second.

    Args:
        asked: A mapping with all of key_bits (128, 192, 256), decrypts, tasklets (1 to 24),
            chunk_bytes (a power of two from 32 to 2,048), messages, message_bytes (of each text),
            hazard (whether registers that meet in a bank cost a cycle).

    Raises:
        InputError: If a number can't be, or the messages don't fit into 64 MiB.
        WrongResultError: If a text or a tag is wrong.
    """

@final
class DpuKernelRun:
    """What a simulated DPU did; the origin of its cycles is "simulated"."""

    cycles: Final[int]
    """From the first instruction to the last one."""
    instructions: Final[int]
    """Instructions of all tasklets."""
    mnemonics: Final[list[tuple[str, int]]]
    """Instructions by mnemonic, most frequent first."""
    idle_revolver_cycles: Final[int]
    """Cycles without an instruction because each tasklet had issued one just before."""
    idle_dma_cycles: Final[int]
    """Cycles without an instruction while tasklets waited for transfers."""
    idle_hazard_cycles: Final[int]
    """Cycles lost because registers met in a bank."""
    mram_read_bytes: Final[int]
    """Bytes that went out of MRAM."""
    mram_written_bytes: Final[int]
    """Bytes that went into MRAM."""
    transfers: Final[int]
    """Transfers between MRAM and WRAM, both ways."""
    times: Final[list[int]]
    """What the timer of "document-000" said before and after transfers and blocks, in sixteens."""
    checked_against: Final[str]
    """What the results were compared with."""

def effective_clock_ghz() -> float | None:
    """The clock of the core that runs this, in GHz.

    Measured in 10 ms by a chain of multiplications.

    Returns:
        None on processors whose cycles a multiplication aren't known.
    """

def primitives() -> list[str]:
    """The names of the primitives that can be measured."""

def check_region(path: str | Path, offset: int, length: int) -> None:
    """Looks whether a part of a device's memory, or of a file, is there and long enough.

    Nothing of it is read or written.

    Args:
        path: A PCI resource, /dev/dax, /dev/mem, or an ordinary file.
        offset: Where in it the region begins, in bytes; whole pages.
        length: Of the region, in bytes; whole pages.

    Raises:
        NotMeasurableError: If it is not; says why.
    """

def frame_ways() -> list[str]:
    """The ways that frames can go between two processes, by name."""

def answer_frames() -> None:
    """Answers frames over the socket that is standard input, until its other end is closed.

    What the command does that `Arm.frames` starts; it returns when who measures is gone.

    Raises:
        ValueError: If standard input is no such socket, or a frame was wrong; the process that
            measures is told, too.
    """

def multiprocessors(device: str) -> int:
    """How many multiprocessors a GPU has.

    Args:
        device: "cuda" or "opencl", with a number where there are several, as in "opencl:0".

    Raises:
        ValueError: If it is none of these.
        NotMeasurableError: If there is no such device; says what is missing.
    """

def nvidia_gpus() -> list[str]:
    """Names and driver of NVIDIA's GPUs, by its management library.

    Returns:
        A line for each GPU, as in "NVIDIA H200, driver 550.54.15".

    Raises:
        NotMeasurableError: If that library is not on this machine, or tells nothing; says why.
    """

def nvidia_sensors() -> list[list[tuple[str, float | None, str | None]]]:
    """What the sensors of NVIDIA's GPUs tell now, by its management library.

    Returns:
        For each GPU its sensors: names with the unit last, a value or None, and why there is none.
        `limited_by_power` and `limited_by_heat` are 1.0 while clocks are held down for that.

    Raises:
        NotMeasurableError: If that library is not on this machine, or tells nothing; says why.
    """

class WrongResultError(RuntimeError):
    """Something was computed wrong while it was prepared or measured; its times mean nothing."""

class NotMeasurableError(RuntimeError):
    """What was asked for can't be measured here; says why."""

@final
class Arm:
    """Something that is timed again and again: prepared, checked and warm.

    Only one at a time is prepared or measured in a process: two would measure each other.
    """

    @staticmethod
    def gcm(
        device: str,
        *,
        operation: _Bytes,
        key_len: _Bytes,
        nonce_len: _Bytes,
        aad_len: _Bytes,
        text_len: _Bytes,
        tag_len: _Bytes,
        keys: Literal["one", "sessions", "fresh"],
        sessions: int,
        batch: int,
        threads: int,
        seed: int,
    ) -> Arm:
        """A device on messages, checked on every one of them, and warm.

        It looks for Ctrl-C after each batch.

        Args:
            device: Names a device, the lab's own among them: table, ipp, slowed.
            operation: 0 seal, 1 open, 2 open that must fail, 3 verify; one for each message.
            key_len: Bytes of each key.
            nonce_len: Bytes of each nonce.
            aad_len: Bytes of each aad.
            text_len: Bytes of each text.
            tag_len: Bytes of each tag.
            keys: "one", "sessions" or "fresh".
            sessions: How many keys are installed; looked at for "sessions" only.
            batch: Messages handed to the engine at once.
            threads: Threads that each work all messages.
            seed: Of keys, nonces, aads and texts.

        Raises:
            ValueError: If a column is wrong.
            UnknownDeviceError: If it is no device.
            DeviceError: If the device is absent, or failed.
            LimitError: If it doesn't take the messages.
            NotMeasurableError: If nobody can check it, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def primitive(name: str, message_bytes: int, *, threads: int, seed: int) -> Arm:
        """A hash or a signature scheme on messages, by AWS-LC, checked and warm.

        It looks for Ctrl-C between messages.

        Args:
            name: One of `primitives()`.
            message_bytes: Length of each message.
            threads: Threads, each with messages and a key of its own.
            seed: Of the messages.

        Raises:
            ValueError: If there is no such primitive, or a number is out of range.
            NotMeasurableError: If the library refuses, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def read(buffer_bytes: int, *, threads: int) -> Arm:
        """A loop that sums memory, 64 KiB an operation.

        Args:
            buffer_bytes: What all threads read together, each its own part.
            threads: Threads that read.

        Raises:
            ValueError: If there are less than 64 KiB for each thread.
            NotMeasurableError: If there is no memory, or there can't be so many threads.
        """
    @staticmethod
    def contended(asked: Mapping[str, object]) -> Arm:
        """AES-128 over texts in memory, 1 MiB an operation, beside threads that read memory.

        What memory gives is measured before, by as many threads as encrypt and read together. It
        looks for Ctrl-C after each mebibyte.

        Args:
            asked: A mapping with all of cipher ("gcm", by the device cpu, or "ctr"), threads that
                encrypt, text_bytes of each (1 MiB or more), streamers (threads that read; 0 for
                none), share_percent (1 to 100: of what memory gives, all of them together),
                stream_bytes of each (64 KiB or more), seed of keys and texts.

        Raises:
            ValueError: If there is no such cipher, or a number is out of range.
            DeviceError: If this processor has no device cpu.
            NotMeasurableError: If there is no memory, or there can't be so many threads.
            WrongResultError: If it computes something wrong.
        """
    @staticmethod
    def copy(asked: Mapping[str, object]) -> Arm:
        """A function that copies, reads or writes, each in a loop of its own.

        Arms that ask for the same memory share it.

        Args:
            asked: A mapping with all of operation ("copy", "read", "write", "fill"), function
                ("glibc", "words", "sse2", "rep-movsb", "avx512", "non-temporal",
                "apex", "ours", "pread", "pwrite", "first-touch", "populated"), bytes of a copy,
                threads, source and target ("heap", "pages", "huge-pages", "memfd", "shm",
                "file", "hugetlb", "region"), state ("hot", "cold", or for a file "beyond
                memory", which takes a control group that SEALIFT_MEMORY_GROUP names), buffers
                ("private", "shared"), offset (destination minus source, modulo 4,096), beside
                ("nothing", "spinner", "protector", "evictor"), content ("seeded", "counting",
                "found"), seed (of the content, or what is added when it counts), folder for
                files without a name, region (path, offset, bytes; or None).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If this machine has no such function or memory.
            WrongResultError: If it copies something wrong, or a region is not as it was found.
        """
    @staticmethod
    def published_copy(asked: Mapping[str, object]) -> Arm:
        """The published tool's way of measuring: two looks at the clock around some copies.

        Args:
            asked: A mapping with all of function (0 for the C library's copy, 1 for a loop of
                words as compilers make it, 2 for a copy in the manner of Apex memmove, 3 for
                registers of 64 bytes; those before it go first), bytes of a copy, before
                (shorter lengths that are copied before, in order), runs (how often each
                function copies), threads (workers of the pool; 0 for none), source and target
                (as of `copy`; a target is fresh memory, but for a region), content and seed (as
                of `copy`), folder for files without a name, region (path, offset, bytes; or
                None).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If this machine has no such function or memory, or can't have
                so many threads.
        """
    @staticmethod
    def reads(
        path: str | PathLike[str],
        sums: Sequence[int],
        *,
        reader: str,
        library: str | PathLike[str] | None,
        threads: int,
        cold: bool,
    ) -> Arm:
        """A reader on a file of short reads, 1,000 an operation, held to what was written.

        Args:
            path: A file that `write_reads` made.
            sums: What that gave.
            reader: getc, getc_unlocked, fgets, getline, ifstream, read+memchr, mmap+memchr,
                needletail, seq_io, memory byte by byte or memory by lines.
            library: That of ifstream, built of `stream_source()`.
            threads: Threads that each read the whole file.
            cold: Whether what is read next is taken out of the page cache before the clock starts.

        Raises:
            ValueError: If there is no such reader, or the file doesn't fit the sums.
            NotMeasurableError: If the file can't be read, or there can't be so many threads.
            WrongResultError: If something else is read than was written.
        """
    @staticmethod
    def writes(
        path: str | PathLike[str], *, writer: str, block_bytes: int, fsync: bool, seed: int
    ) -> Arm:
        """A writer of lorem ipsum, 64 KiB an operation, read back after each sample.

        Args:
            path: A file that is there; what it holds is lost.
            writer: putc, fwrite or write.
            block_bytes: Bytes of each call, 1 for putc.
            fsync: Whether it waits after each 1 MiB until that is on the disk.
            seed: Of the text.

        Raises:
            ValueError: If there is no such writer, or a number is out of range.
            NotMeasurableError: If the file can't be written.
            WrongResultError: If the file holds something else than was written.
        """
    @staticmethod
    def frames(
        way: str,
        pattern: str,
        *,
        frame_bytes: int,
        batch: int,
        seed: int,
        far: Sequence[str],
    ) -> Arm:
        """Frames exchanged with another process, each byte of each compared where it arrives.

        The other process is started for it, and ended with it.

        Args:
            way: One of `frame_ways()`.
            pattern: "ping-pong", where each frame is answered by one, or "stream".
            frame_bytes: Length of each frame, 16 bytes to 64 MiB.
            batch: Frames handed over at once.
            seed: Of the frames, and of keys where they are sealed.
            far: The command that starts the other process: one that calls `answer_frames()`.

        Raises:
            ValueError: If there is no such way or pattern, or a number is out of range.
            NotMeasurableError: If the other process doesn't start, or the system refuses the way.
            WrongResultError: If a frame arrives that was not sent.
        """
    @staticmethod
    def offload(asked: Mapping[str, object]) -> Arm:
        """Clients that hand batches over to cores as to cards, each message compared.

        Each device is a worker that keeps to a core of its own; clients run anywhere, keep to a
        device each and have one batch in flight.

        Args:
            asked: A mapping with all of cipher ("3des-cbc", "aes-128-gcm"), way ("calling thread",
                where nothing is handed over, "sleeping", "polling"), threads, devices,
                message_bytes (a multiple of 8), batch and seed.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there are fewer cores than devices.
            WrongResultError: If a message comes back otherwise than another library gives it.
        """
    @staticmethod
    def gpu(asked: Mapping[str, object]) -> Arm:
        """Messages that lie in a GPU's memory and are worked again and again, each one compared.

        Where OpenCL speaks to a processor that is a device, too, with the role "test only".

        Args:
            asked: A mapping with all of device ("cuda" or "opencl", with a number where there are
                several, as in "opencl:0"), code ("as published" or "ours"), mode ("replicated",
                where each thread works all messages, or "partitioned"), data ("resident" or "with
                transfers"), grid (blocks, and threads of each; None for what Sealift's driver
                takes), operation ("seal", "open", "verify", "counter mode", or "mixed, verified"
                and "mixed, refused": half sealed, a quarter opened, and a quarter verified or, with
                wrong tags, refused), keys ("own keys", one for each message, or "one key"),
                key_bits (a sequence of 128, 192 and 256: as many messages have each, one length
                after the other), s_box ("tables" or "without tables", for code "ours"), messages,
                message_bytes and seed.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or it takes no such grid.
            WrongResultError: If a message comes out otherwise than this processor gives it.
        """
    @staticmethod
    def gpu_types(asked: Mapping[str, object]) -> Arm:
        """Products of small matrices of a data type in each thread of a GPU, each one compared.

        Args:
            asked: A mapping with all of device (as above), of ("int", "long", "float", "double" or
                "float with double literal") and grid (blocks, and threads of each).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or it takes no such grid or type.
            WrongResultError: If a product comes out otherwise than this processor gives it.
        """
    @staticmethod
    def gpu_units(asked: Mapping[str, object]) -> Arm:
        """Chains of one instruction in all multiprocessors of an NVIDIA GPU, each end compared.

        Args:
            asked: A mapping with all of device (as above), of ("LOP3", "PRMT", "SHF", "IMAD",
                "IMAD.WIDE", "LDS" or "BMMA") and rounds (length of a chain: odd, no multiple of 3).

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or it isn't NVIDIA's or lacks it.
            WrongResultError: If a chain ends elsewhere than on this processor.
        """
    @staticmethod
    def gpu_copies(asked: Mapping[str, object]) -> Arm:
        """Copies between pinned memory of this machine and a GPU, compared.

        Args:
            asked: A mapping with all of device (as above), direction ("to the device", "back" or
                "both at once") and size_bytes of a copy.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If there is no such device, or no memory for it.
            WrongResultError: If other bytes come back than went.
        """
    def sample(self, seconds: float) -> tuple[int, int, int, int, float, int, float | None]:
        """Runs for about `seconds`, looking for Ctrl-C ten times a second.

        Each thread keeps to a core of its own while there are enough.

        Returns:
            Wall nanoseconds, operations, bytes of payload, involuntary switches, least CPU share of
            a thread, nanoseconds stolen by the hypervisor, and the clock of the calling thread's
            core right beside the sample in GHz, or None where it isn't known.

        Raises:
            WrongResultError: If something was computed wrong.
            DeviceError: If a device failed.
        """
    @property
    def checked_against(self) -> list[str]:
        """What it was checked against before the first sample: other devices, published values.

        Empty for a device that encrypts nothing.
        """
    @property
    def detail(self) -> str:
        """What is measured, for people: an instruction set, a library with its version."""
    @property
    def role(self) -> str | None:
        """What the device that is measured may be used for, as in `DeviceInfo`.

        None when it is no device.
        """
    @property
    def cores(self) -> list[int]:
        """The cores that its threads keep to; empty when they run anywhere."""
    @property
    def counts(self) -> dict[str, int]:
        """What was checked and worked so far, by the name of each count."""
    @property
    def told(self) -> dict[str, str]:
        """What it has to tell beside times and counts, by name, for people."""

@final
class PublishedTool:
    """The published tool whole: its application's memory, its workers, and its experiments."""

    def __new__(cls, *, runs: int, threads: int) -> PublishedTool:
        """Takes the memory and starts the workers.

        Args:
            runs: How often each function copies.
            threads: Workers of the pool; 0 for none.

        Raises:
            ValueError: If a number is out of range.
            NotMeasurableError: If there is no memory for it, or there can't be the threads.
        """
    @property
    def address(self) -> int:
        """Where the application's memory lies."""
    def begin(self, asked: Mapping[str, object]) -> tuple[int, int, list[int]]:
        """Gives back the memory of the last experiment, takes this one's, and fills its source.

        Args:
            asked: A mapping with all of memory ("heap", "shm", "region"), bytes of it,
                direction ("writes", "reads", "reads what is there"), value (byte i of a source
                that is filled is i plus this), folder for files without a name, region (path,
                offset, bytes; or None).

        Returns:
            Where the memory lies; the file behind it, or -1; and of the source the last word, the
            one before it, and the third, second and first.

        Raises:
            ValueError: If something of it is wrong.
            NotMeasurableError: If this machine has no such memory.
        """
    def copy(self, size_bytes: int) -> tuple[list[int], list[int]]:
        """Copies a length by each of the tool's three functions.

        Returns:
            The nanoseconds that all runs took by each function; and of the destination the last
            word, the one before it, and the third, second and first.

        Raises:
            ValueError: If no experiment has begun, or its memory is shorter.
            NotMeasurableError: If this machine has no such function.
            WrongResultError: If something is copied wrong.
        """

@final
class Held:
    """Threads or memory that this process holds until `release`."""

    def __new__(cls, what: str) -> Held:
        """Takes them.

        Args:
            what: nothing, one idle thread, eight idle threads, a poller, a spinner, reserved
                memory, touched memory, locked memory, huge pages, a rank's runtime, our engine, or
                our engine, released.

        Raises:
            ValueError: If there is no such thing.
            NotMeasurableError: If the system refuses it.
        """
    def wake(self) -> None:
        """Lets a poller or a spinner go on; the others have nothing to do."""
    def rest(self) -> None:
        """Sends a poller or a spinner to sleep."""
    def release(self) -> None:
        """Ends the threads and gives the memory back."""

def write_reads(path: str | PathLike[str], *, reads: int, seed: int) -> list[int]:
    """Writes short reads as FASTQ; the same seed gives the same bytes.

    Args:
        path: A file that is there; what it holds is lost.
        reads: How many, a multiple of 1,000.
        seed: Of what is drawn.

    Returns:
        A sum over each 1,000 of them, to hold a reader to.

    Raises:
        ValueError: If the number of reads can't be.
        NotMeasurableError: If the file can't be written.
    """

def stream_source() -> str:
    """The C++ source of the reader `ifstream`: to be compiled to a shared library."""

def dpu_systems() -> list[DpuSystem]:
    """The systems of DPUs that are known by name."""

@final
class DpuSystem:
    """A system of DPUs: how many there are, how fast, and how far from the host."""

    @staticmethod
    def named(name: str) -> DpuSystem:
        """One of those that are known by name.

        Raises:
            InputError: If there is none of that name.
        """
    @staticmethod
    def parse(text: str) -> DpuSystem:
        """Reads a description in TOML.

        Raises:
            InputError: If something in it is missing or wrong, with line or key.
        """
    def with_hazard(self, *, on: bool) -> DpuSystem:
        """The same, registers that meet in one bank taking longer or not."""
    def rates(self, dpus: int, bytes_each: int | None = None) -> tuple[float, float]:
        """Bytes a second to so many DPUs at once, and from them.

        Args:
            dpus: How many; with 0 the rates are those of one.
            bytes_each: Bytes of each DPU, 1 or more; None for the rates of long transfers.

        Raises:
            InputError: If there are no bytes.
        """
    name: Final[str]
    """Its name."""
    summary: Final[str]
    """What it is, in a line."""
    source: Final[str]
    """Where its figures come from."""
    dpus: Final[int]
    """How many DPUs it has."""
    ranks: Final[int]
    """How many ranks they are on."""
    clock_hz: Final[float]
    """Cycles of a DPU in a second."""
    hazard: Final[bool]
    """Whether registers that meet in one bank take longer."""

@final
class DpuProgram:
    """A program for a DPU."""

    @staticmethod
    def assemble(source: str, *, names: Sequence[tuple[str, int]] = ...) -> DpuProgram:
        """Assembles a program.

        Args:
            source: Assembly as the vendor's tools spell it.
            names: Numbers that the program may name beside its own.

        Raises:
            InputError: The first thing that is wrong, with line and column.
        """
    @staticmethod
    def read_elf(file: bytes) -> DpuProgram:
        """Reads a program that was assembled, here or by the vendor's tools.

        Raises:
            InputError: The first thing that is wrong, and at which byte.
        """
    def elf(self) -> bytes:
        """The program as an ELF file."""
    def disassemble(self) -> str:
        """Its instructions as text, with numbers, words and labels."""
    instructions: Final[int]
    """How many instructions it has."""
    symbols: Final[list[tuple[str, str, int, int]]]
    """Its symbols: name, memory ("IRAM", "WRAM", "MRAM" or "atomic"), offset and size in bytes."""
    sizes: Final[list[tuple[str, int]]]
    """Bytes that it takes of a memory, by the memory's name."""

def dpu_disassemble(words: bytes) -> str:
    """Instructions that are not in an ELF file, as text: eight bytes each, as in a DPU's IRAM.

    Raises:
        InputError: If none is an instruction, they end within one or have more than its 48 bits, or
            are more than IRAM holds.
    """

@final
class DpuRun:
    """A simulated DPU that runs a program."""

    def __new__(cls, program: DpuProgram, system: DpuSystem) -> DpuRun:
        """Loads a program and starts tasklet 0 at its first instruction; `run` goes on from there.

        Args:
            program: What it runs.
            system: Whose DPU it is, for its timing.
        """
    def write(self, symbol: str, data: bytes) -> None:
        """Writes to what a symbol names, from its first byte on.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
        """
    def number_bytes(self, symbol: str) -> int:
        """Bytes of the number that a symbol names.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it names no number: it has
                not 1, 2, 4 or 8 bytes, or no size of its own and several data before the next
                symbol.
        """
    def read(self, symbol: str, length: int | None = None) -> bytes:
        """Reads what a symbol names.

        Args:
            symbol: Its name.
            length: How many bytes from its first on; None for all.

        Raises:
            InputError: If there is no such symbol in WRAM or MRAM, or it has fewer bytes.
        """
    def run(self, cycles_max: int, seconds: float) -> str:
        """Runs for a while, without the interpreter's lock.

        Args:
            cycles_max: The cycle, counted from the start, in which to stop at the latest.
            seconds: How long to run at most, in seconds of this machine.

        Returns:
            "done" when all tasklets have stopped, "fault" when one did what it can't, "limit" when
            the cycles are used up, "running" when only the seconds are.
        """
    def registers(self, tasklet: int) -> list[int]:
        """A tasklet's registers r0 to r23.

        Raises:
            InputError: If there is no such tasklet.
        """
    fault: Final[DpuFault | None]
    """What a tasklet did that it can't; None when none did."""
    counters: Final[DpuCounters]
    """What the DPU did so far."""
    cycles: Final[int]
    """Cycles so far."""
    log: Final[str]
    """What its tasklets printed, with the vendor's `printf` or with `tell`.

    Raises:
        InputError: If what lies in the buffer for that can't be read.
    """
    running: Final[list[tuple[int, int, str]]]
    """Tasklets that have not stopped: number, next instruction, and where that is by its label."""

@final
class DpuCounters:
    """What a DPU did. The times are simulated."""

    cycles: Final[int]
    """All cycles."""
    seconds: Final[float]
    """What they take at the system's clock: simulated."""
    instructions: Final[int]
    """Instructions issued."""
    mnemonics: Final[list[tuple[str, int]]]
    """Instructions by mnemonic, most frequent first."""
    idle_revolver: Final[int]
    """Cycles in which each runnable tasklet had issued an instruction too short a time before."""
    idle_dma: Final[int]
    """Cycles in which tasklets waited for transfers, too."""
    idle_hazard: Final[int]
    """Cycles lost because registers met in one bank."""
    mram_read_bytes: Final[int]
    """Bytes that went out of MRAM."""
    mram_written_bytes: Final[int]
    """Bytes that went into MRAM."""
    transfers: Final[int]
    """Transfers between MRAM and the local memories, both ways."""

@final
class DpuFault:
    """What a tasklet did that a DPU can't."""

    what: Final[str]
    """What it did."""
    pc: Final[int]
    """The number of the instruction."""
    place: Final[str]
    """The label before it and how many instructions behind that, as in "loop+3"; "" without one."""
    instruction: Final[str]
    """The instruction as text; "" where the word is none."""
    tasklet: Final[int]
    """The tasklet, from 0."""
    cycle: Final[int]
    """The cycle in which the instruction was issued."""
    registers: Final[list[int]]
    """The tasklet's registers r0 to r23."""

@final
class DpuKernel:
    """A kernel on many simulated DPUs, each with a text of its own.

    Whoever drops it while DPUs run has them stop, and waits some milliseconds for that.
    """

    def __new__(
        cls,
        cipher: str,
        system: DpuSystem,
        *,
        dpus: int,
        text_bytes: int,
        tasklets: int = 16,
        key_bytes: int = 16,
        message_bytes: int = 128,
    ) -> DpuKernel:
        """Loads the kernel and sends the texts.

        Args:
            cipher: "ecb", "ctr", "gcm" or "many".
            system: Whose DPUs they are.
            dpus: How many of them.
            text_bytes: Bytes of each one's text, a multiple of 32 up to 64 MiB.
            tasklets: Tasklets of each, 1 to 24.
            key_bytes: 16, 24 or 32.
            message_bytes: Bytes of each message of "many", which divide those of the text.

        Raises:
            InputError: If a number is out of range, or there is no such cipher.
        """
    def launch(self) -> None:
        """Starts the DPUs, on threads of this machine.

        Raises:
            RuntimeError: If they run already.
        """
    ended: Final[int]
    """How many DPUs have ended."""
    def finish(self) -> DpuTook:
        """Waits for the DPUs, and compares every byte with what this processor's kernels make.

        Raises:
            WrongResultError: If a DPU faulted, or a byte is wrong.
        """

@final
class DpuTook:
    """What a kernel took on DPUs, simulated, and what simulating it took here, measured."""

    bytes: Final[int]
    """Bytes of all texts, every one compared."""
    cycles: Final[int]
    """Cycles of the DPU that took longest."""
    instructions: Final[int]
    """Instructions of all DPUs."""
    bus_in_seconds: Final[float]
    """Texts to the DPUs on the system's bus, in seconds: simulated."""
    compute_seconds: Final[float]
    """The DPU that took longest, in seconds of the system's clock: simulated."""
    bus_out_seconds: Final[float]
    """Texts back, in seconds: simulated."""
    copy_seconds: Final[float]
    """Copying and interleaving texts on this machine, both ways, in seconds: measured."""
    simulating_seconds: Final[float]
    """Executing the DPUs' instructions on this machine, in seconds: measured."""
