"""How much memory pieces of work need, and how much there is."""

from pathlib import Path

from sealift.lab.machine import cgroup_folders
from sealift.lab.spec import Skip
from sealift.lab.workload import Keys, Workload


def check_memory(needed_bytes: int, root: Path = Path("/")) -> None:
    """Skips an arm that would not leave the machine room to breathe; to be asked before it is made.

    Arms that stand already count, for what they hold is no longer free.

    Args:
        needed_bytes: What the arm takes.
        root: Where proc and sys are found; tests give a folder of their own.

    Raises:
        Skip: If it is more than half of what is free; with both figures.
    """
    free = free_bytes(root)
    if free is not None and needed_bytes > free // 2:
        raise Skip(
            f"its data need {needed_bytes / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free, of "
            "which half may be used; ask for fewer or smaller messages, sessions or threads",
            may_pass=True,
        )


def gcm_bytes(workload: Workload, *, threads: int, batch: int) -> int:
    """What messages, results and sessions of an arm take, while it is checked.

    A text stands three times: as it is read, as it is written, and as it must be written, which the
    timed results are compared with.
    """
    copy = int(workload.messages * (3 * workload.text_len_mean + BYTES_BESIDE_TEXT))
    # A batch of none is refused with what would be right when the arm is made.
    batches = -(-workload.messages // max(batch, 1))
    many = workload.regime.keys is Keys.SESSIONS
    sessions = workload.regime.sessions * BYTES_A_SESSION if many else 0
    # While a batch is made its texts stand two times more, which a further copy has room for; and
    # while sessions are renewed they stand twice.
    return (threads + 1) * copy + threads * batches * BYTES_A_BATCH + 2 * sessions


def grid_bytes(message_bytes: int, *, messages: int) -> int:
    """What messages of a GPU take here: inputs, outputs, and what must come out."""
    return messages * (3 * message_bytes + GRID_BYTES_BESIDE_TEXT)


def primitive_bytes(message_bytes: int, *, threads: int) -> int:
    """What the messages of a primitive take."""
    return threads * max(message_bytes, PRIMITIVE_BYTES_A_THREAD)


def copy_bytes(size_bytes: int, *, threads: int, is_cold: bool, is_shared: bool = False) -> int:
    """What sources and destinations of a copy take, where no other arm has them already.

    Args:
        size_bytes: Length of a copy.
        threads: That copy.
        is_cold: Whether each copy has a place that no other has just had.
        is_shared: Whether all threads copy between the same two places.
    """
    # What is out of range is refused with what would be right when the arm is made.
    places, stride = 1, max(1, -(-size_bytes // LINE_BYTES)) * LINE_BYTES
    if is_cold:
        spread = max(COLD_BYTES // max(1, threads), COLD_BYTES_A_THREAD)
        places = _power_of_two(max(2, spread // stride))
    side = _power_of_two((places - 1) * stride + size_bytes) + COPY_BYTES_BESIDE
    return 2 * (1 if is_shared else threads) * side


def contended_bytes(text_bytes: int, stream_bytes: int, *, threads: int, streamers: int) -> int:
    """What texts beside streams take: texts, ciphertexts and what is streamed, or the ceiling's."""
    streams = streamers * stream_bytes
    ceiling = (threads + streamers) * stream_bytes if streamers else 0
    return max(threads * (2 * text_bytes + CHUNK_BYTES) + streams, ceiling)


def frames_bytes(frame_bytes: int, *, batch: int) -> int:
    """What exchanging frames takes: both processes' regions, texts and patterns."""
    hand_bytes = frame_bytes * batch
    return FRAMES_PROCESS_BYTES + 2 * (max(FRAMES_RING_BYTES, 4 * hand_bytes) + 4 * hand_bytes)


def offload_bytes(message_bytes: int, *, threads: int, batch: int) -> int:
    """What clients hold: texts, what must come of them, and results."""
    return threads * batch * 4 * (message_bytes + BYTES_BESIDE_TEXT)


def free_bytes(root: Path = Path("/")) -> int | None:
    """What the kernel could still give to this process, or None where it doesn't tell.

    The least of what the machine has available and of what every cgroup (v2) on the way up still
    allows.
    """
    found = [_available(root), *map(_left, _cgroups(root))]
    return min((free for free in found if free is not None), default=None)


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
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1_024
    return None


def _left(folder: Path) -> int | None:
    """What a cgroup still allows; its cached files could be dropped, so they don't count."""
    try:
        most = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        cached = _cached(folder)
    except OSError:
        return None
    return None if most == "max" else max(0, int(most) - used + cached)


def _cached(folder: Path) -> int:
    lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    values = dict(line.split() for line in lines)
    return int(values.get("inactive_file", 0)) + int(values.get("active_file", 0))


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
