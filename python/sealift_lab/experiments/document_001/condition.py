"""Conditions under which a process reads and writes: names, as they stand in cells."""

NONE = "none"
RANK = "a rank's runtime"
FREED = "a rank's runtime, freed"
LOADED = "loaded, then a rank's runtime"
REAL_RANK = "a PIM rank"
CUDA = "a CUDA context"
MEMORY = ("reserved memory", "touched memory", "locked memory", "huge pages")
THREADS = ("one idle thread", "eight idle threads", "a poller", "a spinner")
ENGINE = ("our engine", "our engine, released")
CONDITIONS = (NONE, *THREADS, *MEMORY, RANK, FREED, LOADED, CUDA, REAL_RANK, *ENGINE)
# Conditions that fill memory, and how much they fill.
FILLING = MEMORY[1:]
FILLED_BYTES = 512 << 20
