"""Parts of documents from files that are no run folders: CSV and JSON of benches and checks."""

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from docs_runs import Source, pivot, text_table
from sealift_lab.experiments.document_003.gpus.limits import (
    BLOCK_THREADS,
    GPUS,
    Grid,
    message_ns,
    ours,
    replicated,
)
from sealift_lab.judge.intervals import Kind, Pool
from sealift_lab.model.results import Estimate
from sealift_lab.model.units import format_bytes, format_estimate, format_number, format_percent

Line = Mapping[str, str]
"""A line of a CSV file, by column."""


def console(sources: Sequence[Source]) -> str:
    """A command and its output."""
    return f"```console\n{sources[-1].path.read_text(encoding='utf-8').strip()}\n```"


def error_rates(sources: Sequence[Source]) -> str:
    """How often verdicts are wrong where the truth is known, as `sealift lab certify` says."""
    every = json.loads(sources[-1].path.read_text(encoding="utf-8"))["rates"]
    rates = [each for each in every if not re.search(NOT_SHOWN, each["what"])]
    rows = [
        [
            each["what"],
            *("" if each[name] is None else format_percent(each[name]) for name in RATES),
            f"{each['blocks']:.0f}",
        ]
        for each in rates
    ]
    many = max(each["comparisons"] for each in rates)
    table = text_table(["how", *RATES.values(), "blocks"], rows)
    return f"{table}\n\n{many} comparisons of each; {sources[-1].origin}."


def dudect(sources: Sequence[Source]) -> str:
    """Welch's t of each comparison on each path, as the newest file that has the path says."""
    cells: dict[tuple[str, str], str] = {}
    origins: dict[str, str] = {}
    for source in sources:
        document = json.loads(source.path.read_text(encoding="utf-8"))
        found = {(row["what"], row["path"]): row["found"][0] for row in document["rows"]}
        paths = dict.fromkeys(path for _, path in found)
        cells = {place: text for place, text in cells.items() if place[1] not in paths}
        cells |= {place: f"{abs(one['t']):,.1f}" for place, one in found.items()}
        for each in document.get("sensitivity", []):
            delay = f"{each['cycles']} cycles, {each['ticks']:.1f} ticks" if each["cycles"] else ""
            cells[SENSITIVITY, each["path"]] = delay or "none"
        batches = max(one["samples"] for one in found.values())
        limits = f"{document['seconds']:g} s and {batches:,} batches a figure at most"
        threshold = f"a leak from {document['threshold']:.2f} on"
        origins |= dict.fromkeys(paths, f"{limits}, {threshold}; measured {source.origin}.")
    notes = [
        f"{', '.join(path for path in origins if origins[path] == origin)}: {origin}"
        for origin in dict.fromkeys(origins.values())
    ]
    return "\n\n".join([pivot("compared", cells), *notes])


def wrong_frames(sources: Sequence[Source]) -> str:
    """How many frames arrived wrong where very many were exchanged."""
    ways = json.loads(sources[-1].path.read_text(encoding="utf-8"))["ways"]
    wrong, checked = (sum(each[name] for each in ways) for name in ("wrong", "frames_checked"))
    return (
        f"Of {checked:,} frames compared byte by byte (`make bench-frames`), {wrong:,} were wrong: "
        f"{sources[-1].origin}."
    )


def ray_nodes(sources: Sequence[Source]) -> str:
    """Seconds of each way for few and many rows, and what that means for a row."""
    document = json.loads(sources[-1].path.read_text(encoding="utf-8"))
    rounds = document["rounds"]
    few, many = sorted(map(int, rounds[0]))
    rows = []
    for way in rounds[0][str(many)]:
        few_s, many_s = (median(each[str(size)][way] for each in rounds) for size in (few, many))
        rate = (many - few) / (many_s - few_s) / 1e6
        ratio = median(each[str(many)][way] / each[str(many)]["one process"] for each in rounds)
        rows.append([way, *map(format_number, (few_s, many_s, rate, ratio))])
    head = ["way", *(f"{size:,} rows, s" for size in (few, many)), *RAY_COLUMNS]
    return (
        f"{text_table(head, rows)}\n\n{document['text_bytes']} B under {document['keys']:,} keys, "
        f"Parquet to Parquet; medians of {len(rounds)} rounds (`make bench-ray`). Measured "
        f"{sources[-1].origin}."
    )


def fleet_bounds(sources: Sequence[Source]) -> str:
    """What bounds a node of a fleet, and what 1 PB takes and costs where nothing goes wrong."""
    plan = json.loads(sources[-1].path.read_text(encoding="utf-8"))
    rows = []
    for each in plan["bounds"]:
        limits, storage = each["limits_gb_per_s"], each["storage_gb_per_s"]
        share = f", {storage:g} GB/s of storage" if storage else ""
        node = f"{each['cores']} cores, {each['gbit_per_s']:g} Gbit/s{share}"
        figures = (
            *(limits["cores"], limits["network"], each["cores_for_network"]),
            *(each["minutes"], each["storage_tb_per_s"], each["node_hours"], each["price"]),
        )
        texts = [format_number(figure) for figure in figures]
        rows.append([each["work"], node, *texts[:3], each["bound"], *texts[3:]])
    table = text_table(FLEET_BOUNDS, rows, texts=2)
    measured = "; ".join(
        f"{work} {', '.join(f'[{each}](../{each})' for each in paths)}"
        for work, paths in plan["sources"].items()
    )
    return (
        f"{table}\n\nCost: at {plan['price_per_core_hour']:g} a core-hour, a parameter. Rates of "
        f"two cores are measured ({measured}), the rest is projected: {sources[-1].origin}."
    )


def fleet_runs(sources: Sequence[Source]) -> str:
    """How much longer simulated runs take than the work over the rate, by the size of tasks."""
    plan = json.loads(sources[-1].path.read_text(encoding="utf-8"))
    cells, lost = {}, 0.0
    for each in plan["simulated"]:
        tasks = f"{each['work']}, {each['tasks_per_node']:,} tasks a node"
        task = f"{tasks} of {format_number(each['task_s'])} s"
        cells[task, each["scenario"]] = format_number(each["times_ideal"])
        lost = max(lost, each["lost_nodes"])
    return (
        f"{pivot('times as long', cells)}\n\nSimulated, means of {plan['runs']} runs of "
        f"{plan['nodes']:,} nodes with 8 cores and 25 Gbit/s; lognormal tasks with sigma "
        f"{plan['sigma']:.2f}; MTBF of a node {plan['mtbf_hours']:,.0f} h; in the last column up "
        f"to {lost:.1f} nodes a run are lost, noticed after {plan['noticed_s']:g} s: "
        f"{sources[-1].origin}."
    )


def gpu_limits(_: Sequence[Source]) -> str:
    """What GPUs do at most with blocks of 128 threads, from machine code: projected."""
    rows = []
    for gpu in GPUS:
        one, whole = Grid(1, BLOCK_THREADS), Grid(gpu.multiprocessors, BLOCK_THREADS)
        speeds = (replicated(gpu, one), replicated(gpu, whole), ours(gpu, whole))
        texts = (format_number(speed / 1e6) for speed in speeds)
        rows.append([gpu.name, f"{gpu.multiprocessors}", f"{gpu.clock_hz / 1e6:,.0f}", *texts])
    return text_table(LIMITS, rows)


def gpu_times(_: Sequence[Source]) -> str:
    """What a message takes GPUs at least, from the host's memory and back: projected."""
    rows = [
        [f"{batch:,}", *(format_number(message_ns(gpu, batch) / 1e3) for gpu in GPUS)]
        for batch in (1, 256, 1_024, 4_096)
    ]
    return text_table(["messages at once, projected", *(f"{gpu.name}, µs" for gpu in GPUS)], rows)


def framework(sources: Sequence[Source]) -> str:
    """What the engine takes for a batch, on a device that does nothing."""
    lines = [line for line in _lines(sources[-1].path) if line["what"] == FRAMEWORK]
    by_messages = [(int(line["messages"]), _estimate(line)) for line in lines]
    rows = [[f"{n:,}", format_estimate(e), format_number(e.value / n)] for n, e in by_messages]
    head = ["messages in a batch", "ns a batch", "ns a message"]
    return _with_origin(sources[-1], text_table(head, rows, texts=0))


def scale(sources: Sequence[Source]) -> str:
    """The share of their speed that simulated pools reach, and the cost of a batch, by size."""
    cells = {}
    for line in _lines(sources[-1].path):
        devices, ns = int(line["devices"]), format_number(float(line["engine_ns_per_batch"]))
        if devices in POOL_SIZES:
            share = format_number(float(line["throughput_share"]))
            cells[line["policy"], f"{devices:,} devices"] = f"{share}, {ns} ns"
    return (
        f"{pivot('policy', cells)}\n\n"
        f"Shares of all speed are simulated, nanoseconds a batch measured {sources[-1].origin}."
    )


def regret(sources: Sequence[Source]) -> str:
    """What the free choice costs few and many calling threads, and the worst cells."""
    lines = sorted(_lines(sources[-1].path), key=_beyond_noise, reverse=True)
    groups = {
        name: [line for line in lines if (int(line["threads"]) >= CROWD) == is_crowd]
        for name, is_crowd in (("fewer than 8", False), ("8 and more", True))
    }
    rows = [[name, *_regrets(group)] for name, group in groups.items() if group]
    worst = [
        [_work(line), f"{format_estimate(_estimate(line, 'regret', 100))} %"]
        for line in lines[:WORST]
    ]
    tables = (text_table(REGRETS, rows), text_table(["worst cells", "regret"], worst))
    return _with_origin(sources[-1], *tables)


def cores(sources: Sequence[Source]) -> str:
    """What every core gains by size, and what callers and devices cost each other: two machines."""
    gains, others = dict[tuple[str, str], str](), dict[tuple[str, str], str]()
    for source in sources[-2:]:
        lines = _lines(source.path)
        for line in sorted(lines, key=_batch_bytes):
            size_bytes, form = _batch_bytes(line), _form(line)
            is_shown = line["memory"] in MEMORY and size_bytes in BATCH_BYTES
            if form and line["what"] == EVERY_CORE and is_shown:
                place = f"{format_bytes(size_bytes)}, {line['memory']}"
                gains[place, f"{form}, {source.machine}"] = format_estimate(_estimate(line))
        for line in lines:
            if line["what"] not in (EVERY_CORE, COPY) and line["messages"] not in ("16", "256"):
                others[_other(line), source.machine] = format_estimate(_estimate(line))
    origins = ", ".join(source.origin for source in sources[-2:])
    tables = (pivot("batch, results", gains), pivot("times as fast", others))
    return "\n\n".join([*tables, f"Measured {origins}."])


def column_speeds(sources: Sequence[Source]) -> str:
    """Nanoseconds a row of each implementation of columns, and how many times Sealift's."""
    arms = dict[str, list[Line]]()
    for line in _lines(sources[-1].path / "samples.csv"):
        arms.setdefault(line["arm"], []).append(line)
    first = next(iter(arms.values()))
    rows = []
    for arm, lines in arms.items():
        times = (_a_row(lines, "seal_ns"), _a_row(lines, "open_ns"), _both_ns(lines))
        estimates = [_over_rounds(each, "median") for each in times]
        if lines is not first:
            estimates.append(_over_rounds(times[-1] / _both_ns(first), "hodges-lehmann"))
        texts = [*map(format_estimate, estimates), ""]
        rows.append([arm, f"{int(lines[0]['rows']):,}", *texts[: len(COLUMN_SPEEDS) - 2]])
    return (
        f"{text_table(COLUMN_SPEEDS, rows)}\n\n"
        f"{len(first)} rounds in turn, 99 % intervals; measured {sources[-1].origin}."
    )


def column_memory(sources: Sequence[Source]) -> str:
    """The most memory of sealing and opening a column, beside its input and output."""
    parts = []
    for line in _lines(sources[-1].path / "memory.csv"):
        given, made, peak = (int(line[f"{name}_bytes"]) for name in ("input", "output", "peak"))
        mib = " + ".join(f"{each / 2**20:,.0f}" for each in (given, made, peak - given - made))
        parts.append(f"{line['what'].split()[-1]} {mib} MiB")
    rows = int(line["rows"])
    return (
        f"Peak memory of a fresh process beyond its imports = input + output + rest, {rows:,} "
        f"rows: {', '.join(parts)}.\n\nMeasured {sources[-1].origin}."
    )


def _both_ns(lines: Sequence[Line]) -> NDArray[np.float64]:
    return _a_row(lines, "seal_ns") + _a_row(lines, "open_ns")


def _a_row(lines: Sequence[Line], name: str) -> NDArray[np.float64]:
    return np.asarray([int(line[name]) / int(line["rows"]) for line in lines])


def _over_rounds(values: NDArray[np.float64], kind: Kind) -> Estimate:
    """With the interval over rounds, where they are enough to carry it."""
    logarithms = np.log(values)
    pool = Pool.from_blocks(logarithms, np.zeros(len(values), np.int64), kind)
    ends = pool.over_blocks(CONFIDENCE)
    low, high = map(math.exp, ends) if ends else (None, None)
    return Estimate(math.exp(pool.value), low, high)


def _regrets(lines: Sequence[Line]) -> list[str]:
    regrets = [float(line["regret"]) for line in lines]
    p99 = [float(line["p99_ratio"]) for line in lines if line["p99_ratio"]]
    return [
        str(len(lines)),
        format_percent(median(regrets)),
        f"{100 * sum(each <= WITHIN for each in regrets) / len(lines):.0f} %",
        format_percent(max(map(_beyond_noise, lines))),
        format_number(median(p99)) if p99 else "",
    ]


def _beyond_noise(line: Line) -> float:
    return float(line["regret_low"]) - float(line["noise"])


def _work(line: Line) -> str:
    parts = [line["op"], _batch(line), f"{line['lengths']} lengths", f"keys: {line['keys']}"]
    parts += [line["form"], f"{line['memory']} memory", f"threads: {line['threads']}"]
    return ", ".join([*parts, line["pace"], f"costs {line['costs']}"])


def _other(line: Line) -> str:
    unit = "" if line["unit"] == "times as fast" else f", {line['unit']}"
    return f"{line['what']}, {_batch(line)}, keys: {int(line['keys']):,}{unit}"


def _batch(line: Line) -> str:
    each_bytes = line.get("text_bytes") or line["message_bytes"]
    return f"{int(line['messages']):,} x {int(each_bytes):,} B"


def _form(line: Line) -> str:
    return "one message" if line["messages"] == "1" else FORMS.get(line["text_bytes"], "")


def _batch_bytes(line: Line) -> int:
    """The power of two that a batch comes nearest to."""
    return 1 << round(math.log2(int(line["messages"]) * int(line["text_bytes"])))


def _estimate(line: Line, name: str = "", factor: float = 1.0) -> Estimate:
    columns = (name, f"{name}_low", f"{name}_high") if name else ("median", "low", "high")
    value, low, high = (max(0.0, factor * float(line[column])) for column in columns)
    return Estimate(value, low, high)


def _lines(path: Path) -> list[Line]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _with_origin(source: Source, *tables: str) -> str:
    return "\n\n".join([*tables, f"Measured {source.origin}."])


RATES = {
    "false": "equal, called different",
    "same": "equal, called the same",
    "covered": "99 % interval holds",
    "found": "5 % slower, found",
    "missed": "5 % slower, called the same",
}
RAY_COLUMNS = ("million rows a second beyond the first", "times as long as one process")
SENSITIVITY = "smallest delay of a batch that 95 of 100 runs find"
NOT_SHOWN = "^5 processes|differ by 0.0 %"
FLEET_BOUNDS = (
    *("1 PB of", "1,000 nodes of", "cores, GB/s", "network, GB/s", "cores that fill the network"),
    *("bound by", "minutes", "storage gives, TB/s", "node-hours", "cost"),
)
FRAMEWORK, EVERY_CORE, COPY = "framework price", "every core", "a plain copy"
REGRETS = (
    "calling threads",
    "cells",
    "median regret",
    "within 2 %",
    "worst, beyond its noise",
    "p99 of a call, times the best device's",
)
CROWD, WORST, WITHIN = 8, 3, 0.02
BATCH_BYTES = {1 << at for at in (16, 18, 20, 24, 28)}
MEMORY = ("used", "fresh")
FORMS = {"128": "128 B", "16384": "16 KiB"}
LIMITS = (
    "projected, at most",
    "multiprocessors",
    "boost clock, MHz",
    "as published, replicated, one block, MB/s",
    "a block for each multiprocessor, MB/s",
    "Sealift's kernel, as many blocks, MB/s",
)
POOL_SIZES = (10, 1_000, 10_000)
CONFIDENCE = 0.99
COLUMN_SPEEDS = (
    "implementation",
    "rows",
    "sealed, ns a row",
    "opened, ns a row",
    "both, ns a row",
    "times Sealift's",
)
