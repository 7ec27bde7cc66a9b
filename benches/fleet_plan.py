"""Simulates sealing 1 PB on 1,000 nodes, from rates that were measured and are kept in results/.

Usage: python benches/fleet_plan.py --out FOLDER [--price-per-core-hour PRICE]

A node works at the rate of the slowest of its cores, its network and its share of the storage:
measured on two cores, projected beyond. Stragglers, backup tasks and lost nodes are simulated event
by event. Writes fleet-plan.json, of which tools/docs.py makes the tables of docs/scale.md.
"""

import argparse
import csv
import heapq
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad  # type: ignore[import-untyped]
from scipy.optimize import brentq  # type: ignore[import-untyped]
from scipy.special import ndtr  # type: ignore[import-untyped]

from sealift_lab.judge.rows import results
from sealift_lab.measure.write_folder import write_json
from sealift_lab.model.arm import fits
from sealift_lab.run.read_folder import Run

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Work:
    """Objects of one size, the GB/s that two cores seal, and the results that say so."""

    name: str
    object_bytes: int
    two_cores_gb_per_s: float
    sources: tuple[Path, ...] = ()

    @property
    def expansion(self) -> float:
        """Sealed bytes for each byte of payload."""
        return 1 + OVERHEAD_BYTES / self.object_bytes


@dataclass(frozen=True)
class NodeType:
    """A node: cores, network in each direction at once, and what the storage gives each node."""

    cores: int
    gbit_per_s: float
    storage_gb_per_s: float | None = None

    def limits(self, work: Work) -> dict[str, float]:
        """GB of payload a second that each part of the node allows."""
        # Reads and writes go in two directions, and more is written than read.
        network = self.gbit_per_s / 8 / work.expansion
        limits = {"cores": self.cores / 2 * work.two_cores_gb_per_s, "network": network}
        if self.storage_gb_per_s:
            limits["storage"] = self.storage_gb_per_s / (1 + work.expansion)
        return limits


class Outcome(NamedTuple):
    """A simulated run: seconds to the last task, second copies begun, nodes lost meanwhile."""

    makespan_s: float
    backups: int
    lost_nodes: int


def main() -> None:
    """Computes the tables and writes them."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="an existing folder")
    parser.add_argument("--price-per-core-hour", type=float, default=0.05, help="in any currency")
    options = parser.parse_args()
    if not 0 < options.price_per_core_hour < math.inf or not options.out.is_dir():
        parser.error("--price-per-core-hour takes a number above 0, --out a folder that is there")
    works = measured_works()
    sigma = straggler_sigma(STRAGGLER_TIMES, NODES)
    plan = {
        "nodes": NODES,
        "sources": {
            work.name: [each.relative_to(ROOT).as_posix() for each in work.sources]
            for work in works
        },
        "price_per_core_hour": options.price_per_core_hour,
        "sigma": sigma,
        "mtbf_hours": MTBF_S / 3_600,
        "noticed_s": NOTICED_S,
        "runs": RUNS,
        "bounds": [bound(work, t, options.price_per_core_hour) for work in works for t in TYPES],
        "simulated": [each for work in works[:2] for each in scenarios(work, sigma)],
    }
    write_json(options.out / "fleet-plan.json", plan)


def measured_works() -> list[Work]:
    """What is planned, each at the rate of the newest results of one machine.

    Rows are sealed as columns, objects by `Engine::run`: these may be results of two machines.
    """
    (columns,) = _newest("columns")
    peers, cores = _newest("peers", "cores.csv")
    objects = _engine_rate(peers) * _gain(cores)
    # Processes of the loop share nothing, so that all cores count.
    loop = 2 * _column_rate(columns, LOOP)
    return [
        Work("128 B rows", 128, _column_rate(columns, OURS), (columns,)),
        Work("1 MiB objects", MIB, objects, (peers, cores)),
        Work("128 B rows, loop over pyca", 128, loop, (columns,)),
    ]


def bound(work: Work, node: NodeType, price: float) -> dict[str, Any]:
    """What bounds a type of node, and what 1 PB takes where nothing goes wrong."""
    limits = node.limits(work)
    name = min(limits, key=limits.__getitem__)
    hours = PETABYTE / (NODES * limits[name] * 1e9) / 3_600
    return {
        "work": work.name,
        **asdict(node),
        "limits_gb_per_s": limits,
        "bound": name,
        "minutes": 60 * hours,
        "node_hours": NODES * hours,
        "price": NODES * hours * node.cores * price,
        "cores_for_network": node.cores * limits["network"] / limits["cores"],
        "storage_tb_per_s": NODES * limits[name] * (1 + work.expansion) / 1e3,
    }


def scenarios(work: Work, sigma: float) -> Iterator[dict[str, Any]]:
    """The middle type of node, with tasks of different sizes, and more and more going wrong."""
    ideal_s = PETABYTE / (NODES * min(TYPES[1].limits(work).values()) * 1e9)
    for each in TASKS_PER_NODE:
        for name, mtbf_s, has_backups in (
            ("stragglers", math.inf, False),
            ("and backup tasks", math.inf, True),
            ("and lost nodes", MTBF_S, True),
            ("and 100 times as many", MTBF_S / 100, True),
        ):
            of = (NODES, NODES * each, ideal_s / each, sigma, mtbf_s)
            runs = [draw_run(*of, seed, has_backups=has_backups) for seed in range(RUNS)]
            makespan_s, _, lost = np.mean(runs, axis=0).tolist()
            yield {
                "work": work.name,
                "tasks_per_node": each,
                "task_s": ideal_s / each,
                "scenario": name,
                "times_ideal": makespan_s / ideal_s,
                "lost_nodes": lost,
            }


def draw_run(
    nodes: int, tasks: int, task_s: float, sigma: float, mtbf_s: float, seed: int, **how: bool
) -> Outcome:
    """A run whose tasks take lognormal times of median `task_s`, and whose nodes die at random."""
    rng = np.random.default_rng(seed)
    deaths_s = (mtbf_s * rng.exponential(size=nodes)).tolist()
    return simulate(tasks, deaths_s, lambda: task_s * rng.lognormal(0, sigma), **how)


def simulate(
    tasks: int, deaths_s: Sequence[float], duration_s: Callable[[], float], *, has_backups: bool
) -> Outcome:
    """Nodes take tasks from one queue; that of a lost node is queued again once it is noticed.

    With backups a node that finds the queue empty begins a second copy of the task that runs
    longest; the copy that ends first counts, and the other one is ended.
    A node is lost for good at its time of `deaths_s`; `duration_s` draws what a copy takes.
    """
    queue = deque(range(tasks))
    events: list[tuple[float, int, bool, int]] = []
    # When each copy of a task ends, by its node; and the tasks with one copy, the oldest first.
    copies: dict[int, dict[int, float]] = {}
    single: dict[int, None] = {}
    idle: list[int] = []
    left, backups, now = tasks, 0, 0.0

    def begin(node: int) -> None:
        nonlocal backups
        if now >= deaths_s[node]:
            return
        if queue:
            single[task := queue.popleft()] = None
        elif has_backups and single:
            del single[task := next(iter(single))]
            backups += 1
        else:
            idle.append(node)
            return
        end_s = now + duration_s()
        is_lost = end_s > deaths_s[node]
        end_s = deaths_s[node] + NOTICED_S if is_lost else end_s
        copies.setdefault(task, {})[node] = end_s
        heapq.heappush(events, (end_s, node, is_lost, task))

    for node in range(len(deaths_s)):
        begin(node)
    while left:
        if not events:
            raise ValueError(f"all {len(deaths_s):,} nodes were lost with {left:,} tasks to do")
        now, node, is_lost, task = heapq.heappop(events)
        if copies.get(task, {}).get(node) != now:
            # Another copy ended first.
            continue
        if not is_lost:
            left -= 1
            single.pop(task, None)
            for each in copies.pop(task):
                begin(each)
            continue
        del copies[task][node]
        if copies[task]:
            single[task] = None
        else:
            single.pop(task, None)
            queue.appendleft(task)
        # An idle node that was lost meanwhile takes nothing: the next one does.
        while idle and (queue or (has_backups and single)):
            begin(idle.pop())
    return Outcome(now, backups, sum(death_s < now for death_s in deaths_s))


def straggler_sigma(times: float, tasks: int) -> float:
    """Of lognormal tasks whose slowest of so many takes on average `times` their median."""
    return float(brentq(lambda sigma: expected_slowest(sigma, tasks) - times, 0.01, 3))


def expected_slowest(sigma: float, tasks: int) -> float:
    """The mean of the slowest of so many lognormal tasks of median 1, by integration."""

    def exceeds(x: float) -> float:
        return 1 - float(ndtr(math.log(x) / sigma)) ** tasks if x else 1.0

    points = [math.exp(sigma * each) for each in (0, 2, 3, 4, 6, 8)]
    return float(quad(exceeds, 0, math.exp(12 * sigma), points=points, limit=200)[0])


def _newest(*names: str) -> list[Path]:
    """Results of these names from one machine: of those that have all, the one measured last."""
    of_machines = defaultdict[str, list[Path]](list)
    for name in names:
        newest = {found.parent.name: found for found in sorted(ROOT.glob(f"results/*/*/{name}"))}
        for machine, found in newest.items():
            of_machines[machine].append(found)
    whole = [found for found in of_machines.values() if len(found) == len(names)]
    if not whole:
        raise FileNotFoundError(
            f"nothing was measured yet: no machine under results/ has {' and '.join(names)}"
        )
    return max(whole)


def _column_rate(folder: Path, arm: str) -> float:
    """GB/s of an implementation that seals a column."""
    lines = [line for line in _lines(folder / "samples.csv") if line["arm"] == arm]
    return COLUMN_ROW_BYTES / median(int(line["seal_ns"]) / int(line["rows"]) for line in lines)


def _engine_rate(folder: Path) -> float:
    """GB/s of one core that seals objects."""
    cell = {"work": OBJECTS, "implementation": "engine"}
    rows = (row for found in results(Run(folder)).values() for row in found.rows)
    (rate,) = (row.payload_mb_per_s for row in rows if fits(row.cell, cell))
    assert rate, "what is sealed has a payload"
    return rate.value / 1e3


def _gain(file: Path) -> float:
    """Times as fast two cores seal an object as one, into memory that was used before."""
    cell = {"what": "every core", "messages": "1", "text_bytes": f"{MIB}"}
    wanted = {**cell, "keys": "1", "memory": "used"}.items()
    (line,) = (line for line in _lines(file) if wanted <= line.items())
    return float(line["median"])


def _lines(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [*csv.DictReader(lines)]


NODES, PETABYTE, MIB = 1_000, 10**15, 2**20
# Of a row: header of 8 bytes, nonce of 12, tag of 16.
OVERHEAD_BYTES = 36
# Rows that `make bench-columns` seals have 100 to 140 bytes, each length as often.
COLUMN_ROW_BYTES = 120
OURS, LOOP, OBJECTS = "sealift.arrow", "pyca loop, lists", "1 MiB, one key, AES-128"
TYPES = (NodeType(2, 10), NodeType(8, 25), NodeType(32, 100), NodeType(8, 25, 1.0))
TASKS_PER_NODE, RUNS = (10, 100, 1_000), 3
# "Effective Straggler Mitigation" (2013): stragglers are on average 8 times the median task.
STRAGGLER_TIMES = 8.0
# Dean (2009): a server crashes at least twice a year.
MTBF_S = 365 * 86_400 / 2
# Assumed: until a cluster takes a silent node for lost.
NOTICED_S = 30.0

if __name__ == "__main__":
    main()
