"""The tables of docs/scheduler.md that regret.csv and cores.csv are made into."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

Row = dict[str, str]


def regret_tables(rows: Sequence[Row]) -> str:
    """What the free choice costs few and many calling threads, and the worst cells of each."""
    few = [row for row in rows if int(row["threads"]) < CROWD]
    crowd = [row for row in rows if int(row["threads"]) >= CROWD]
    of_all = [
        "| calling threads | cells | median regret | within 2 % | worst, beyond its noise "
        "| 99th percentile of a call | median over the best engine with one device |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_group(name, group) for name, group in ((FEW, few), (MANY, crowd)) if group),
    ]
    worst = [
        "| worst cells | regret | noise | share of batches |",
        "|---|---:|---:|---|",
        *(_cell(row) for group in (few, crowd) for row in _by_regret(group)[:WORST]),
    ]
    return "\n".join([*of_all, "", *worst])


def cores_tables(rows: Sequence[Row]) -> str:
    """What every core gains by size, and what callers and devices cost each other."""
    gains = [row for row in rows if row["what"] in (EVERY_CORE, COPY)]
    sizes = dict.fromkeys((_batch_bytes(row), row["memory"]) for row in gains)
    of_gains = [
        "| batch | results | messages of 128 B | of 1,420 B | of 16 KiB | one message "
        "| a plain copy |",
        "|---:|---|---:|---:|---:|---:|---:|",
        *(_gain(gains, *size) for size in sorted(sizes, key=lambda size: size[0])),
    ]
    others = [
        "| what | batch | keys | found |",
        "|---|---|---:|---:|",
        *(_other(row) for row in rows if row["what"] not in (EVERY_CORE, COPY)),
    ]
    return "\n".join([*of_gains, "", *others])


def _group(name: str, rows: Sequence[Row]) -> str:
    regrets = [float(row["regret"]) for row in rows]
    within = sum(regret <= WITHIN for regret in regrets) / len(rows)
    p99 = [float(row["p99_ratio"]) for row in rows if row["p99_ratio"]]
    cells = [
        name,
        str(len(rows)),
        _percent(median(regrets)),
        f"{100 * within:.0f} %",
        _percent(max(_beyond_noise(row) for row in rows)),
        f"{median(p99):.2f} of the best device's" if p99 else "",
        _percent(median(float(row["over_alone"]) for row in rows)),
    ]
    return f"| {' | '.join(cells)} |"


def _cell(row: Row) -> str:
    low, high = (_percent(float(row[end])) for end in ("regret_low", "regret_high"))
    regret, noise = _percent(float(row["regret"])), _percent(float(row["noise"]))
    return f"| {_in_words(row)} | {regret} [{low}..{high}] | {noise} | {row['used']} |"


def _in_words(row: Row) -> str:
    threads = int(row["threads"])
    lengths = "" if row["lengths"] == "alike" else "about "
    return ", ".join(
        [
            f"{row['op']} {_grouped(row['messages'])} x {lengths}{_grouped(row['text_bytes'])} B",
            "one key" if row["keys"] == "1" else f"{_grouped(row['keys'])} keys",
            row["form"],
            f"{row['memory']} memory",
            f"{threads} thread{'s' if threads > 1 else ''}{PACES[row['pace']]}",
            f"costs {row['costs']}",
        ]
    )


def _grouped(count: str) -> str:
    return f"{int(count):,}" if count.isdigit() else count


def _by_regret(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=_beyond_noise, reverse=True)


def _beyond_noise(row: Row) -> float:
    return float(row["regret_low"]) - float(row["noise"])


def _gain(rows: Sequence[Row], batch_bytes: int, memory: str) -> str:
    here = [row for row in rows if (_batch_bytes(row), row["memory"]) == (batch_bytes, memory)]
    found = {_column(row): row for row in here}
    cells = [_interval(found[column]) if column in found else "" for column in COLUMNS]
    return f"| {_size(batch_bytes)} | {memory} | {' | '.join(cells)} |"


def _column(row: Row) -> str:
    if row["what"] == COPY:
        return COPY
    return row["text_bytes"] if row["text_bytes"] in COLUMNS else ONE_MESSAGE


def _other(row: Row) -> str:
    batch = f"{int(row['messages']):,} x {int(row['text_bytes']):,} B"
    return f"| {row['what']} | {batch} | {int(row['keys']):,} | {_interval(row)} {row['unit']} |"


def _batch_bytes(row: Row) -> int:
    """The power of two that a batch comes nearest to: 738 messages of 1,420 bytes are 1 MiB."""
    return 1 << round(math.log2(int(row["messages"]) * int(row["text_bytes"])))


def _size(size_bytes: int) -> str:
    mib = 1 << 20
    return f"{size_bytes // mib} MiB" if size_bytes >= mib else f"{size_bytes // 1024} KiB"


def _interval(row: Row) -> str:
    middle, low, high = (f"{float(row[at]):.2f}" for at in ("median", "low", "high"))
    return f"{middle} [{low}..{high}]"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


CROWD = 8
FEW, MANY = "1 and 2", "8 and 32"
WORST = 3
WITHIN = 0.02
PACES = {
    "steady": "",
    "touching": ", writing to 2 MiB between batches",
    "sleeping": ", sleeping 200 us between batches",
}
EVERY_CORE, COPY, ONE_MESSAGE = "every core", "a plain copy", "one message"
COLUMNS = ("128", "1420", "16384", ONE_MESSAGE, COPY)
