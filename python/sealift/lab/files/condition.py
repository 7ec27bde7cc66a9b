"""What a process may hold while it reads and writes: names only, which stand in cells."""

NONE = "none"
RANK = "a rank's runtime"
FREED = "a rank's runtime, freed"
LOADED = "loaded, then a rank's runtime"
REAL_RANK = "a PIM rank"
CUDA = "a CUDA context"
MEMORY = ("reserved memory", "touched memory", "locked memory", "huge pages")
CONDITIONS = (
    NONE,
    "one idle thread",
    "eight idle threads",
    "a poller",
    "a spinner",
    *MEMORY,
    RANK,
    FREED,
    LOADED,
    CUDA,
    REAL_RANK,
    "our engine",
    "our engine, released",
)
# What of them fills memory, and with how much.
FILLING = MEMORY[1:]
FILLED_BYTES = 512 << 20
