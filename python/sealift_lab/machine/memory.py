"""How much memory pieces of work need, and how much is free."""

from pathlib import Path

from sealift_lab.machine.facts import cgroup_folders
from sealift_lab.model.sample import Skip
from sealift_lab.model.workload import Keys, Workload


def check_memory(needed_bytes: int, root: Path = Path("/")) -> None:
    """Skips an arm that would take more than half of the free memory; called before it is made.

    Args:
        needed_bytes: What the arm takes.
        root: Where proc and sys are found; tests give a folder of their own.

    Raises:
        Skip: With both figures.
    """
    free = free_bytes(root)
    if free is not None and needed_bytes > free // 2:
        raise Skip(
            f"its data need {needed_bytes / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free, of "
            "which half may be used; choose fewer or smaller messages, sessions or threads",
            is_transient=True,
        )


def gcm_bytes(workload: Workload, *, threads: int, batch: int) -> int:
    """Messages, results and sessions of an arm while it is checked.

    A text stands three times: as it is read, as it is written, and as it must be written, which the
    timed results are compared with.
    """
    copy = int(workload.messages * (3 * workload.text_len_mean + BYTES_BESIDE_TEXT))
    # A batch of none is refused with what would be right when the arm is made.
    batches = -(-workload.messages // max(batch, 1))
    sessions = workload.regime.sessions if workload.regime.keys is Keys.SESSIONS else 0
    # While a batch is made its texts stand two times more, which a further copy has room for; and
    # while sessions are renewed they stand twice.
    return (threads + 1) * copy + threads * batches * BYTES_A_BATCH + 2 * sessions * BYTES_A_SESSION


def grid_bytes(message_bytes: int, *, messages: int) -> int:
    """Host memory beside messages on a device: inputs, outputs, and what must come out."""
    return messages * (3 * message_bytes + GRID_BYTES_BESIDE_TEXT)


def primitive_bytes(message_bytes: int, *, threads: int) -> int:
    """Messages of a primitive."""
    return threads * max(message_bytes, PRIMITIVE_BYTES_A_THREAD)


def copy_bytes(size_bytes: int, *, threads: int, is_cold: bool, is_shared: bool = False) -> int:
    """Sources and destinations of a copy, where no other arm has them already.

    Args:
        size_bytes: Length of a copy.
        threads: That copy.
        is_cold: Whether each copy goes to memory that none of the last ones went to.
        is_shared: Whether all threads copy between the same two buffers.
    """
    # What is out of range is refused with what would be right when the arm is made.
    places, stride = 1, max(1, -(-size_bytes // LINE_BYTES)) * LINE_BYTES
    if is_cold:
        spread = max(COLD_BYTES // max(1, threads), COLD_BYTES_A_THREAD)
        places = _power_of_two(max(2, spread // stride))
    side = _power_of_two((places - 1) * stride + size_bytes) + COPY_BYTES_BESIDE
    return 2 * (1 if is_shared else threads) * side


def contended_bytes(text_bytes: int, stream_bytes: int, *, threads: int, streamers: int) -> int:
    """Texts and ciphertexts beside streams, or the buffers that the ceiling is measured with."""
    ceiling = (threads + streamers) * stream_bytes if streamers else 0
    texts = threads * (2 * text_bytes + CHUNK_BYTES)
    return max(texts + streamers * stream_bytes, ceiling)


def frames_bytes(frame_bytes: int, *, batch: int) -> int:
    """Regions, texts and patterns of both processes that exchange frames."""
    hand_bytes = frame_bytes * batch
    return FRAMES_PROCESS_BYTES + 2 * (max(FRAMES_RING_BYTES, 4 * hand_bytes) + 4 * hand_bytes)


def offload_bytes(message_bytes: int, *, threads: int, batch: int) -> int:
    """Texts of clients, what must come of them, and results."""
    return threads * batch * 4 * (message_bytes + BYTES_BESIDE_TEXT)


def free_bytes(root: Path = Path("/")) -> int | None:
    """What the kernel could still give to this process, or None where that is unknown.

    The least of what the machine has available and of what every cgroup (v2) on the way up still
    allows.
    """
    amounts = [_available(root), *map(_cgroup_free, _cgroups(root))]
    return min((free for free in amounts if free is not None), default=None)


def _power_of_two(number: int) -> int:
    """The least that is not below."""
    return 1 << (number - 1).bit_length()


def _cgroups(root: Path) -> list[Path]:
    try:
        return cgroup_folders(root)
    except OSError:
        return []


def _available(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    available = values.get("MemAvailable")
    return int(available.split()[0]) * 1_024 if available else None


def _cgroup_free(folder: Path) -> int | None:
    """What a cgroup still allows; its cached files could be dropped, so they don't count."""
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    values = dict(line.split() for line in lines)
    cached = sum(int(values.get(name, 0)) for name in ("inactive_file", "active_file"))
    return None if limit == "max" else max(0, int(limit) - used + cached)


# A nonce, a key, three tags, two statuses, a session id, a place and three offsets, roundly.
BYTES_BESIDE_TEXT = 160
# Columns and places of a batch, each in an allocation of its own: 900 bytes were measured on
# x86-64, by the growth of a process with 300,000 batches of one message of 16 bytes, all included.
BYTES_A_BATCH = 1_024
# The key, its place in the engine, and its schedules on the device and on the one that checks it:
# 290 to 470 bytes were measured on x86-64, by the growth of a process with 500,000 of them.
BYTES_A_SESSION = 512
# What native code spreads cold copies over, on one side of them, and how it rounds: places begin at
# lines, are a power of two, lie in a power of two of bytes, and have two pages for an offset.
COLD_BYTES, COLD_BYTES_A_THREAD = 64 << 20, 1 << 20
LINE_BYTES, COPY_BYTES_BESIDE = 64, 8_192
# Native code makes up to 64 messages a thread, of a mebibyte together when that is more than one.
PRIMITIVE_BYTES_A_THREAD = 1 << 20
# What is compared at a time.
CHUNK_BYTES = 1 << 20
# An interpreter with the engine, and half a mebibyte of frames each way, or four hands of them.
FRAMES_PROCESS_BYTES, FRAMES_RING_BYTES = 32 << 20, 1 << 19
# Key, nonce, tags and what describes a message, twice.
GRID_BYTES_BESIDE_TEXT = 400
