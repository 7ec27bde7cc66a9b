"""Rows of a made-up run, for tests of what is said about rows."""

from dataclasses import replace

from sealift.lab.result import Found, Row, Verified
from sealift.lab.stats import Interval, Verdict
from sealift.lab.values import Value

BY_SIZE = "aes-gcm-by-size"


def pair(
    ratio: float,
    verdict: Verdict,
    *,
    size_bytes: float = 128,
    keys: str = "one",
    workload: str = "AES-128",
    threads: int = 1,
    noise_floor: float = 0.01,
    machine_busy: bool = False,
    clean_share: float = 1.0,
    steady: bool = True,
    experiment: str = BY_SIZE,
    library_ns: float = 100.0,
) -> list[Row]:
    """Two rows: library, and cpu that is `ratio` times as fast."""
    winners = {
        Verdict.FASTER: ("cpu",),
        Verdict.SLOWER: ("library",),
    }.get(verdict, ("cpu", "library"))

    def row(device: str, ns: float) -> Row:
        cell: dict[str, Value] = {
            "workload": workload,
            "size_bytes": size_bytes,
            "keys": keys,
            "mix": "100/0/0",
            "threads": threads,
            "batch": 1_024,
            "device": device,
        }
        against = Interval(ratio, ratio * 0.98, ratio * 1.02, 0.95, 30)
        return Row(
            experiment=experiment,
            cell=cell,
            compare="device",
            ns_per_operation=Interval(ns, ns * 0.99, ns * 1.02, 0.95, 30),
            payload_bytes=size_bytes,
            reference="library",
            ratio=None if device == "library" else against,
            verdict=None if device == "library" else verdict,
            winner=device in winners,
            noise_floor=noise_floor,
            clean_share=clean_share,
            machine_busy=machine_busy,
            steady=steady,
            blocks=30,
        )

    return [row("library", library_ns), row("cpu", library_ns / ratio)]


def found(rows: list[Row], **roles: str) -> dict[str, Found]:
    """What the experiments of these rows found; a device's role is "real" unless given."""
    experiments = dict.fromkeys(row.experiment for row in rows)
    return {
        name: Found(
            rows=[row for row in rows if row.experiment == name],
            verified=[
                Verified(name, row.cell, {"role": roles.get(str(row.subject), "real")})
                for row in rows
                if row.experiment == name
            ],
        )
        for name in experiments
    }


def another(row: Row, device: str, **changes: object) -> Row:
    """The same row of another device."""
    changed = {"cell": {**row.cell, "device": device}, **changes}
    return replace(row, **changed)  # type: ignore[arg-type]
