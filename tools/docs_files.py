"""Parts of documents from files that are no run folders: CSV and JSON of benches and checks."""

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from docs_runs import Block, Column, Findings, Source, grid_table, text_table
from sealift_lab.experiments.document_003.gpus.limits import (
    BLOCK_THREADS,
    GPUS,
    Grid,
    ours,
    replicated,
)
from sealift_lab.model.arm import Cell
from sealift_lab.model.experiment import Axis, Chart
from sealift_lab.model.results import ArmReport, Estimate, Origin, Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.model.units import format_bytes, format_estimate, format_number, format_percent
from sealift_lab.show.charts import picture

Line = Mapping[str, str]
"""A line of a CSV file, by column."""
Show = Callable[[Line], str]


def console(sources: Sequence[Source]) -> str:
    """A command and its output."""
    return f"```console\n{sources[-1].path.read_text(encoding='utf-8').strip()}\n```"


def error_rates(sources: Sequence[Source]) -> str:
    """How often verdicts are wrong where the truth is known, as `sealift lab certify` says."""
    document = json.loads(sources[-1].path.read_text(encoding="utf-8"))
    rows = [
        [
            each["what"],
            *("" if each[name] is None else format_percent(each[name]) for name in RATES),
            f"{each['blocks']:.0f}",
        ]
        for each in document["rates"]
    ]
    head = ["how", *RATES.values(), "blocks"]
    many = max(each["comparisons"] for each in document["rates"])
    return f"{text_table(head, rows)}\n\n{many} comparisons of each; {sources[-1].origin}."


def dudect(sources: Sequence[Source]) -> str:
    """Welch's t of each comparison on each path; bold where it is on the wrong side."""
    document = json.loads(sources[-1].path.read_text(encoding="utf-8"))
    bound, every = document["threshold"], document["rows"]
    texts: dict[str, dict[str, str]] = {}
    for row in every:
        found = [abs(one["t"]) for one in row["found"]]
        is_planted = row["kind"] == "planted"
        shown = ", then ".join(f"{t:,.1f}" for t in found)
        of = texts.setdefault(row["what"], {"": f"{'over' if is_planted else 'under'} {bound}"})
        of[row["path"]] = shown if (min(found) >= bound) == is_planted else f"**{shown}**"
    paths = dict.fromkeys(row["path"] for row in every)
    rows = [[what, of[""], *(of[path] for path in paths)] for what, of in texts.items()]
    samples = [one["samples"] for row in every for one in row["found"]]
    return (
        f"{text_table(['compared', 'should be', *paths], rows, texts=2)}\n\n"
        f"{document['seconds']:g} s and {min(samples):,} to {max(samples):,} batches a figure; "
        f"measured {sources[-1].origin}."
    )


def wrong_frames(found: Findings) -> str:
    """How many frames arrived wrong where very many were exchanged."""
    file = found.run.path.parent / "frames.json"
    ways = json.loads(file.read_text(encoding="utf-8"))["ways"]
    texts = (f"{each['wrong']:,} of {each['frames_checked']:,} ({each['way']})" for each in ways)
    return f"With every byte of every frame compared (`make bench-frames`): {', '.join(texts)}."


def gpu_limits(_: Sequence[Source]) -> str:
    """What GPUs do at most with blocks of 128 threads, from machine code: projected."""
    rows = []
    for gpu in GPUS:
        one, whole = Grid(1, BLOCK_THREADS), Grid(gpu.multiprocessors, BLOCK_THREADS)
        speeds = (replicated(gpu, one), replicated(gpu, whole), ours(gpu, whole))
        texts = (format_number(speed / 1e6) for speed in speeds)
        rows.append([gpu.name, f"{gpu.multiprocessors}", f"{gpu.clock_hz / 1e6:,.0f}", *texts])
    return text_table(LIMITS, rows)


def sheet(columns: Mapping[str, Show], where: Callable[[Line], bool], *, texts: int) -> Block:
    """Some lines of a CSV file with where they are from."""

    def block(sources: Sequence[Source]) -> str:
        lines = filter(where, _lines(sources[-1].path))
        return _with_origin(sources[-1], _sheet(lines, columns, texts=texts))

    return block


def scale(sources: Sequence[Source]) -> str:
    """Throughput and cost of simulated pools by their size, and the pictures of them."""
    pools = _pools(sources[-1].path, POOL_SIZES)
    columns = (Column((name,), title=title) for name, title in POOL_COLUMNS.items())
    grids = (grid_table(*pools, "policy", [each], "devices") for each in columns)
    pictures = (f"![{title}]({file}.svg)\n\n*{title}.*" for file, title in POOL_PICTURES.items())
    return "\n\n".join(
        [
            *grids,
            *pictures,
            f"Throughput and utilisation simulated, nanoseconds measured {sources[-1].origin}.",
        ]
    )


def pool_picture(figure: str) -> Callable[[Path], str]:
    """A picture of a figure of simulated pools by their number of devices."""

    def draw(path: Path) -> str:
        chart = Chart("devices", "policy", figure, "Simulated pools", log_x=True, log_y=True)
        return picture(*_pools(path), chart)

    return draw


def regret(sources: Sequence[Source]) -> str:
    """What the free choice costs few and many calling threads, and the worst cells of each."""
    lines = sorted(_lines(sources[-1].path), key=_beyond_noise, reverse=True)
    groups = {
        name: [line for line in lines if (int(line["threads"]) >= CROWD) == is_crowd]
        for name, is_crowd in (("fewer than 8", False), ("8 and more", True))
    }
    head = ["calling threads", "cells", "median regret", "within 2 %", "worst, beyond its noise"]
    head += ["99th percentile of a call, times the best device's", "median over one device alone"]
    rows = [[name, *_regrets(group)] for name, group in groups.items() if group]
    worst = [line for group in groups.values() for line in group[:WORST]]
    return _with_origin(sources[-1], text_table(head, rows), _sheet(worst, WORST_SHEET))


def cores(sources: Sequence[Source]) -> str:
    """What every core gains by size, and what callers and devices cost each other: two machines."""
    return "\n\n".join(map(_cores, sources[-2:]))


def _cores(source: Source) -> str:
    lines = _lines(source.path)
    gains = [line for line in lines if line["what"] in (EVERY_CORE, COPY)]
    by_place = {(_batch_bytes(line), line["memory"], _form(line)): line for line in gains}
    shown = dict.fromkeys(place[:2] for place in by_place if place[0] in BATCH_BYTES)
    places = sorted(shown, key=lambda place: place[0])
    rows = [
        [format_bytes(size), memory, *(_gain(by_place.get((size, memory, each))) for each in FORMS)]
        for size, memory in places
    ]
    table = text_table(["batch", "results", *FORMS.values()], rows, texts=2)
    others = [line for line in lines if line not in gains]
    return _with_origin(source, table, _sheet(others, OTHERS_SHEET, texts=2))


def _pools(path: Path, sizes: Sequence[int] = ()) -> tuple[PlannedExperiment, Results]:
    """Simulated pools, of all or of these sizes, as an experiment whose facts are computed."""
    reports = []
    for line in _lines(path):
        cell: Cell = {"policy": line["policy"], "devices": int(line["devices"])}
        if not sizes or cell["devices"] in sizes:
            facts = {name: float(text) for name, text in line.items() if name not in cell}
            reports.append(ArmReport(POOLS, cell, facts))
    axes = (Axis("policy", "policy"), Axis("devices", "devices in the pool"))
    cells = [[report.cell] for report in reports]
    origin, figures = Origin.SIMULATED, POOL_FIGURES
    planned = PlannedExperiment(
        POOLS, "policy", cells, 1, axes=axes, columns=figures, origin=origin
    )
    return planned, Results((), reports)


def _regrets(lines: Sequence[Line]) -> list[str]:
    regrets = [float(line["regret"]) for line in lines]
    p99 = [float(line["p99_ratio"]) for line in lines if line["p99_ratio"]]
    return [
        str(len(lines)),
        format_percent(median(regrets)),
        f"{100 * sum(each <= WITHIN for each in regrets) / len(lines):.0f} %",
        format_percent(_beyond_noise(lines[0])),
        format_number(median(p99)) if p99 else "",
        format_percent(median(float(line["over_alone"]) for line in lines)),
    ]


def _beyond_noise(line: Line) -> float:
    return float(line["regret_low"]) - float(line["noise"])


def _work(line: Line) -> str:
    about, keys = "" if line["lengths"] == "alike" else "about ", line["keys"]
    threads = int(line["threads"])
    parts = [
        f"{line['op']} {int(line['messages']):,} x {about}{int(line['text_bytes']):,} B",
        f"{int(keys):,} key{'s' * (keys != '1')}" if keys.isdigit() else f"{keys} keys",
        line["form"],
        f"{line['memory']} memory",
        f"{threads} thread{'s' * (threads > 1)}{PACES[line['pace']]}",
        f"costs {line['costs']}",
    ]
    return ", ".join(parts)


def _gain(line: Line | None) -> str:
    return format_estimate(_estimate(line)) if line else ""


def _form(line: Line) -> str:
    if line["what"] == COPY:
        return COPY
    return line["text_bytes"] if line["text_bytes"] in FORMS else ONE_MESSAGE


def _batch_bytes(line: Line) -> int:
    """The power of two that a batch comes nearest to: 738 messages of 1,420 bytes are 1 MiB."""
    return 1 << round(math.log2(int(line["messages"]) * int(line["text_bytes"])))


def _estimate(line: Line, name: str = "", factor: float = 1.0) -> Estimate:
    columns = (name, f"{name}_low", f"{name}_high") if name else ("median", "low", "high")
    value, low, high = (max(0.0, factor * float(line[column])) for column in columns)
    return Estimate(value, low, high)


def _lines(path: Path) -> list[Line]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _sheet(lines: Iterable[Line], columns: Mapping[str, Show], *, texts: int = 1) -> str:
    return text_table(
        [*columns], ([show(line) for show in columns.values()] for line in lines), texts
    )


def _with_origin(source: Source, *tables: str) -> str:
    return "\n\n".join([*tables, f"Measured {source.origin}."])


RATES = {
    "false": "equal, called different",
    "same": "equal, called the same",
    "covered": "99 % interval holds",
    "found": "5 % slower, found",
    "missed": "5 % slower, called the same",
}
FRAMEWORK, EVERY_CORE = "framework price", "every core"
COPY, ONE_MESSAGE = "a plain copy", "one message"
FRAMEWORK_SHEET: Mapping[str, Show] = {
    "messages in a batch": lambda line: f"{int(line['messages']):,}",
    "ns a batch": lambda line: format_estimate(_estimate(line)),
    "ns a message": lambda line: format_number(float(line["median"]) / int(line["messages"])),
}
DEVICES_SHEET: Mapping[str, Show] = {
    "devices": lambda line: line["what"],
    "batch": lambda line: f"{int(line['messages']):,} x {int(line['message_bytes']):,} B",
    "queued": lambda line: line["queued"],
    "of the sum of both alone": lambda line: format_estimate(_estimate(line)),
}
framework = sheet(FRAMEWORK_SHEET, lambda line: line["what"] == FRAMEWORK, texts=0)
two_devices = sheet(DEVICES_SHEET, lambda line: line["what"] != FRAMEWORK, texts=2)
WORST_SHEET: Mapping[str, Show] = {
    "worst cells": _work,
    "regret, %": lambda line: format_estimate(_estimate(line, "regret", 100)),
    "noise": lambda line: format_percent(float(line["noise"])),
    "share of batches": lambda line: line["used"],
}
OTHERS_SHEET: Mapping[str, Show] = {
    "what": lambda line: line["what"],
    "batch": lambda line: f"{int(line['messages']):,} x {int(line['text_bytes']):,} B",
    "keys": lambda line: f"{int(line['keys']):,}",
    "found": lambda line: f"{format_estimate(_estimate(line))} {line['unit']}",
}
BATCH_BYTES = {1 << at for at in (16, 18, 20, 21, 24, 28)}
FORMS = {
    "128": "messages of 128 B",
    "1420": "of 1,420 B",
    "16384": "of 16 KiB",
    ONE_MESSAGE: ONE_MESSAGE,
    COPY: COPY,
}
LIMITS = (
    "projected, at most",
    "multiprocessors",
    "boost clock, MHz",
    "as published, replicated, one block, MB/s",
    "a block for each multiprocessor, MB/s",
    "Sealift's kernel, as many blocks, MB/s",
)
POOLS = "pool-scale"
POOL_SIZES = (10, 100, 1_000, 10_000)
POOL_COLUMNS = {
    "throughput_share": "share of all speed",
    "engine_ns_per_batch": "ns a batch",
}
POOL_FIGURES = {
    "batches_per_s": "batches/s",
    "utilisation_mean": "share of the time that devices work",
    "engine_ns_per_batch": "ns of the engine for a batch",
}
POOL_PICTURES = {
    "pool-throughput": "Batches a second by devices in the pool",
    "pool-utilisation": "Share of the time that devices work, by devices in the pool",
    "pool-cost": "Nanoseconds of the engine for a batch, by devices in the pool",
}
CROWD, WORST, WITHIN = 8, 3, 0.02
PACES = {
    "steady": "",
    "touching": ", writing to 2 MiB between batches",
    "sleeping": ", sleeping 200 us between batches",
}
