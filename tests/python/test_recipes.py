"""The code in docs/clusters.md is run as it stands there, with other paths."""

import secrets
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clusters_page import code
from conftest import skip
from key_file import write_keys
from run_report import ran
from sealift.arrow import Keyring, open_column


@pytest.mark.filterwarnings("ignore")  # what Spark and Dask warn of is theirs
@pytest.mark.parametrize("section", ["Spark", "Dask"])
def test_a_recipe_seals_what_opens_again(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = {"Spark": "pyspark", "Dask": "dask"}[section]
    if find_spec(library) is None:
        skip(library, f"{library} is not installed: `make recipes` installs and tests it")
    # Spark's workers run the first python3 of PATH otherwise, which has no Sealift.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    people = pa.table(
        {
            "row": pa.array(range(1_000), pa.int64()),
            "person": pa.array([row % 7 for row in range(1_000)], pa.int64()),
            "name": [f"name {row}" for row in range(1_000)],
        }
    )
    (tmp_path / "people").mkdir()
    pq.write_table(people.slice(0, 600), tmp_path / "people/0.parquet")
    pq.write_table(people.slice(600), tmp_path / "people/1.parquet")
    keys = tmp_path / "keys.toml"
    write_keys(keys, {number: secrets.token_bytes(32) for number in range(7)})

    exec(code(section, tmp_path, keys), {"__name__": "recipe"})

    sealed = pq.read_table(tmp_path / "sealed").select(people.column_names).sort_by("row")
    assert sealed["name"].type in (pa.binary(), pa.large_binary())
    opened = open_column(sealed, "name", keys=Keyring.from_file(keys), to="string")
    assert opened.to_pylist() == people.to_pylist()
    ran(library)
