"""How much memory is free."""

from pathlib import Path

from sealift_lab.machine.facts import cgroup_folders
from sealift_lab.model.arm import Skip


def check_memory(needed_bytes: int, root: Path = Path("/")) -> None:
    """Raises Skip for an arm that would take more than half of the free memory."""
    free = free_bytes(root)
    if free is not None and needed_bytes > free // 2:
        raise Skip(
            f"its data need {needed_bytes / 1e9:,.1f} GB and {free / 1e9:,.1f} GB are free, of "
            "which half may be used; choose fewer or smaller messages, sessions or threads",
            is_transient=True,
        )


def free_bytes(root: Path = Path("/")) -> int | None:
    """What the kernel could still give to this process, or None where that is unknown.

    The least of what the machine has available and of what every cgroup (v2) on the way up still
    allows; its cached files could be dropped, so they don't count.
    """
    amounts = []
    try:
        amounts.append(_table(root / "proc/meminfo")["MemAvailable:"] * 1_024)
        folders = cgroup_folders(root)
    except (OSError, KeyError):
        folders = []
    for folder in folders:
        try:
            limit = (folder / "memory.max").read_text(encoding="ascii").strip()
            used = int((folder / "memory.current").read_text(encoding="ascii"))
            table = _table(folder / "memory.stat")
        except OSError:
            continue
        cached = table.get("inactive_file", 0) + table.get("active_file", 0)
        if limit != "max":
            amounts.append(max(0, int(limit) - used + cached))
    return min(amounts, default=None)


def _table(path: Path) -> dict[str, int]:
    """The number behind the first word of each line."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
