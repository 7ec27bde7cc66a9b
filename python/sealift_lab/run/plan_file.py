"""Reads plan.json of either schema, and checks what types can't say."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

import msgspec

from sealift_lab.model.experiment import Experiment, Scope
from sealift_lab.model.run import SCHEMA, Plan, PlannedExperiment
from sealift_lab.model.sample import Context
from sealift_lab.model.values import Cell, why_not_stored


def decode_plan(text: bytes) -> Plan:
    """The plan that a file holds, in today's form.

    Raises:
        ValueError: Naming the field, the value and what would be right.
        msgspec.MsgspecError: If it isn't JSON, or a field has another type.
    """
    plain = msgspec.json.decode(text)
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if schema == FIRST_SCHEMA:
        plain = _from_first(plain)
    elif schema != SCHEMA:
        family, _, number = str(schema).partition("/")
        if family == SCHEMA.partition("/")[0] and number.isdigit():
            raise ValueError(
                f"written as {schema}, and this Sealift reads {FIRST_SCHEMA} and {SCHEMA}; take "
                "the Sealift that wrote it, or a newer one"
            )
        raise ValueError(f"no plan of Sealift: its schema is {schema!r}, not {SCHEMA!r}")
    plan = msgspec.convert(plain, Plan)
    try:
        datetime.fromisoformat(plan.created)
    except ValueError as error:
        raise ValueError(f"created is {plan.created!r}; right would be a time in UTC") from error
    if not 0 <= plan.budget_s < math.inf:
        raise ValueError(f"budget_s is {plan.budget_s}; right would be 0 or more")
    for what, counts in (("processes", [plan.processes]), ("threads", plan.threads)):
        if counts and min(counts) < 1:
            raise ValueError(f"{what} is {min(counts)}; right would be 1 or more")
    names = [each.name for each in plan.experiments]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"the experiment {min(twice)!r} stands twice")
    for place, each in enumerate(plan.experiments):
        try:
            _check(each)
        except ValueError as error:
            raise ValueError(f"experiments[{place}]: {error}") from error
    return plan


def _check(planned: PlannedExperiment) -> None:
    """Refuses what no experiment is: its own checks do that, over the cells of the plan."""
    if planned.blocks < 1:
        raise ValueError(f"blocks is {planned.blocks}; right would be 1 or more")
    if planned.estimated_s is not None and not 0 < planned.estimated_s < math.inf:
        raise ValueError(f"estimated_s is {planned.estimated_s}; right would be above 0")
    if not all((*planned.groups, *planned.left_out)):
        raise ValueError("a group is empty; right would be one cell or more")
    wheres = [planned.preferred, *(chart.where for chart in planned.charts)]
    for name, value in (item for where in wheres for item in where.items()):
        if why := why_not_stored(value):
            raise ValueError(f"{name} is {value!r}, which {why}")
    Experiment(
        name=planned.name,
        title=planned.title,
        axes=tuple(planned.axes),
        compare=planned.compare,
        arm=_never,
        cells=lambda _: [c for group in (*planned.groups, *planned.left_out) for c in group],
        charts=tuple(planned.charts),
        origin=planned.origin,
        weight=planned.weight,
    ).groups(Scope(quick=False, cores=1, devices=()))


def _never(cell: Cell, _: Context) -> NoReturn:
    raise AssertionError(f"an arm of {cell}, which is only read")


def _from_first(plain: dict[str, Any]) -> dict[str, Any]:
    """A plan of Sealift 0.1.0: other names, and blocks of all processes together."""
    new = _renamed(plain, restarts="processes")
    processes = new.get("processes")
    for each in _dicts(new, "experiments"):
        each |= (renamed := _renamed(each, why="question", plots="charts", takes_s="estimated_s"))
        blocks = renamed.get("blocks")
        if type(blocks) is int and type(processes) is int and processes > 0:
            each["blocks"] = -(-blocks // processes)
        for chart in _dicts(each, "charts"):
            chart |= _renamed(chart, z="series", facet="panels")
            if isinstance(y := chart.get("y"), str):
                chart["y"] = FIRST_FIGURES.get(y, y)
    return new


def _renamed(plain: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in plain.items()}


def _dicts(plain: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list; what is something else stays for the types to refuse."""
    each = plain.get(name)
    return [one for one in each if isinstance(one, dict)] if isinstance(each, list) else []


FIRST_SCHEMA = "sealift-run/1"
FIRST_FIGURES: Mapping[str, str] = {
    "payload_MB_per_s": "MB/s",
    "operations_per_s": "operations/s",
    "ns_per_operation": "time",
}
