"""Kernel counters of a sample: page tables of processes, migrated and reclaimed pages, stalls."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def page_tables_kb(pid: int | None) -> int | str:
    """KiB of page tables that a process has; "" where that can't be read."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        line = next(each for each in lines.splitlines() if each.startswith("VmPTE:"))
        return int(line.split()[1])
    return ""


def counters() -> Mapping[str, int]:
    """Counts of the whole machine since it was started, by the names of `COUNTERS`.

    What this kernel doesn't count is left out.
    """
    counts: dict[str, int] = {}
    with suppress(OSError, ValueError):
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
        counts = {name: int(count) for name, count in map(str.split, lines)}
    found = {
        name: sum(counts[each] for each in of)
        for name, of in COUNTERS.items()
        if counts.keys() >= {*of}
    }
    with suppress(OSError, IndexError, ValueError):
        # `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, in microseconds.
        some = Path("/proc/pressure/memory").read_text(encoding="ascii").splitlines()[0]
        found[STALLED] = int(some.rpartition("=")[2])
    return found


STALLED = "memory_stalls_us"
COUNTERS = {
    "pages_migrated": ("pgmigrate_success",),
    "compactions": ("compact_stall", "compact_daemon_wake"),
    "pages_reclaimed": ("pgsteal_kswapd", "pgsteal_direct"),
    "huge_pages_split": ("thp_split_page",),
    "tlb_flushes_of_others": ("nr_tlb_remote_flush",),
}
NAMES = (*COUNTERS, STALLED)
