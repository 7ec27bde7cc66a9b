"""What docs/columns.md shows is run as it stands there."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow

from sealift import arrow

TEXT = (Path(__file__).parents[2] / "docs/columns.md").read_text(encoding="utf-8")
WORDS_MAX = 900
TABLE = pyarrow.table({"customer": [17, 18, 17], "payload": ["first", None, "third"]})


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_it_has_at_most_900_words_beside_its_figures() -> None:
    written = re.sub(r"<!-- generated.*?<!-- end -->", "", TEXT, flags=re.DOTALL)
    assert len(written.split()) <= WORDS_MAX


def test_the_code_runs_with_each_library_and_rotates_keys(tmp_path: Path, monkeypatch: Any) -> None:
    use, keyrings = _blocks("python")
    key, other_key, new_key = (bytes([each]) * 16 for each in range(3))
    names: dict[str, Any] = {
        "key": key,
        "other_key": other_key,
        "table": TABLE,
        "frame": polars.LazyFrame(polars.from_arrow(TABLE)),
        "df": TABLE.to_pandas(types_mapper=pandas.ArrowDtype),
        "relation": duckdb.arrow(TABLE),
    }
    exec(use, names)
    made = [names["table"], names["frame"].collect(), names["df"], names["relation"]]
    for each in made:
        opened = arrow.open_column(each, "payload", keys=names["keys"], to="string")
        assert pyarrow.table(opened)["payload"].to_pylist() == TABLE["payload"].to_pylist()

    (toml,) = _blocks("toml")
    (tmp_path / "keys.toml").write_text(toml)
    (tmp_path / "keys.toml").chmod(0o600)
    monkeypatch.chdir(tmp_path)
    before = names["table"]
    names |= {"old_key": other_key, "new_key": new_key, "find_key": lambda _: key}
    exec(keyrings, names)
    versions = [row and row[2] for row in names["table"]["payload"].to_pylist()]
    assert versions == [1, None, 1]
    assert before["payload"] != names["table"]["payload"]
    assert arrow.Keyring.from_file("keys.toml").rotate(19, new_key) == 5


def test_a_row_grows_by_the_overhead_that_is_documented() -> None:
    overheads: dict[Any, int] = {"row": int(re.findall(r"\*\*(\d+) bytes\*\*", TEXT)[0])}
    for layout, overhead in re.findall(r'\| `"(\w+)"` \|.*\| (\d+) B \|', TEXT):
        overheads[layout] = int(overhead)
    keys = arrow.Keyring({17: bytes(16)})
    for layout, overhead in overheads.items():
        sealed = arrow.seal_column(pyarrow.array([b"text"]), keys=keys, key_ids=17, layout=layout)
        row = sealed[0].as_py()
        parts = row.values() if isinstance(row, dict) else [row]
        assert sum(map(len, parts)) == len(b"text") + overhead
    assert [*overheads] == ["row", "columns", "spark"]
