"""The tables of the documents, as they stand in `data/published/`."""

import csv
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files


def table_row(name: str, **wanted: str) -> Mapping[str, str]:
    """The one row of a published table whose columns have these values.

    Raises:
        LookupError: If there is none, or several.
    """
    fitting = [row for row in table(name) if wanted.items() <= row.items()]
    if len(fitting) != 1:
        raise LookupError(f"{len(fitting)} rows of {name} have {wanted}; right would be one")
    return fitting[0]


@lru_cache(maxsize=32)
def table(name: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a published table, as `003-T4-cpu-generations`.

    Raises:
        FileNotFoundError: If there is no such table.
    """
    place = files("sealift.lab") / "data" / "published" / f"{name}.csv"
    return tuple(csv.DictReader(place.read_text(encoding="utf-8").splitlines()))
