"""Sealed columns of Ray datasets, on two nodes. The tests of this file run in order."""

import base64
import functools
import os
import secrets
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray
from ray import cloudpickle
from ray.data import DataContext, Dataset

import sealift.ray
from clusters_page import code
from key_file import write_keys
from ray_keys import GatedActor, GatedKeys
from ray_nodes import ADDRESSES, WARNINGS, RayNodes, ray_nodes
from sealift.arrow import Keyring, open_column, seal_column
from sealift.errors import InputError

pytestmark = [pytest.mark.filterwarnings(each) for each in WARNINGS]
ROWS, FILES, KEYS = 4_000, 8, 80
SIGNAL_TIMEOUT_S = 300
HEADER_OF_SHORT_IDS = b"\x11\x04"
MARKER = secrets.token_bytes(9)
"""All keys of this run begin with it, so that one search finds any of them."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    with ray_nodes() as nodes:
        ray.init(address=nodes.address, _node_ip_address=ADDRESSES[0], log_to_driver=False)
        context = DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = 20_000  # so that these few rows are several blocks
        yield nodes


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "people"
    folder.mkdir()
    for file in range(FILES):
        rows = range(file * ROWS // FILES, (file + 1) * ROWS // FILES)
        columns = {
            "row": pa.array(rows, pa.int64()),
            "person": pa.array([row * KEYS // ROWS for row in rows], pa.uint32()),
            "name": pa.array([f"name {row} " * (row % 7) for row in rows]),
            "score": pa.array(map(float, rows), pa.float64()),
        }
        pq.write_table(pa.table(columns), folder / f"{file}.parquet")
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    write_keys(path, {number: MARKER + secrets.token_bytes(23) for number in range(KEYS)})
    return path


@pytest.mark.usefixtures("nodes")
def test_a_sealed_dataset_opens_to_what_it_was(people: Path, keys: Path) -> None:
    names: dict[str, Any] = {}
    exec(code("Ray", people.parent, keys), names)
    assert names["people"].materialize().num_blocks() > 1
    original, opened = pq.read_table(people), _table(names["opened"])
    assert opened == original
    sealed = pq.read_table(people.parent / "sealed").sort_by("row")
    assert sealed.schema.field("name").type == pa.binary()
    assert sealed.drop_columns("name") == original.drop_columns("name")
    assert not {*sealed["name"].to_pylist()} & {*original["name"].cast(pa.binary()).to_pylist()}


@pytest.mark.usefixtures("nodes")
def test_blocks_without_rows_seal_to_none(people: Path, keys: Path) -> None:
    table = pq.read_table(people)
    ds = ray.data.from_arrow([table.slice(0, 0), table.slice(0, 3), table.slice(3, 0)])
    sealed = sealift.ray.seal_dataset(ds, "name", keys, key_ids="person", concurrency=1)
    assert [row["row"] for row in sealed.take_all()] == [0, 1, 2]


@pytest.mark.usefixtures("nodes")
def test_a_reference_that_would_carry_keys_is_refused(people: Path) -> None:
    ds = ray.data.read_parquet(str(people))
    ring = Keyring({0: bytes(32)})
    sources: dict[str, Any] = {
        "Keyring": ring,
        "dict": {0: bytes(32)},
        "<lambda>": lambda: ring,
        "__main__": _of_main(),
        "partial": functools.partial(Keyring, {0: bytes(32)}),
        "method": Vault(bytes(32)).keyring,
        "builtin_function_or_method": {0: bytes(32)}.copy,
    }
    for name, source in sources.items():
        with pytest.raises(InputError, match=f"keyring .*{name}"):
            sealift.ray.seal_dataset(ds, "name", source, key_ids="person")


@pytest.mark.usefixtures("nodes")
def test_wrong_columns_are_refused_before_any_work(people: Path, keys: Path) -> None:
    ds = ray.data.read_parquet(str(people))
    wrong = (("nobody", "person"), ("name", "nobody"), ("row", "person"), ("name", "score"))
    for column, key_ids in wrong:
        with pytest.raises((InputError, TypeError), match=r"'nobody'|Int64|Float64"):
            sealift.ray.seal_dataset(ds, column, keys, key_ids=key_ids)
    with pytest.raises(InputError, match="concurrency is 0"):
        sealift.ray.seal_dataset(ds, "name", keys, key_ids="person", concurrency=0)


@pytest.mark.usefixtures("nodes")
def test_a_node_that_finds_no_keys_says_so(people: Path, tmp_path: Path) -> None:
    ds = ray.data.read_parquet(str(people))
    sealed = sealift.ray.seal_dataset(ds, "name", tmp_path / "none.toml", key_ids="person")
    with pytest.raises(ray.exceptions.RayError, match=r"none\.toml"):
        sealed.materialize()


@pytest.mark.usefixtures("nodes")
def test_rows_of_another_table_do_not_open(people: Path, keys: Path) -> None:
    table, ring = pq.read_table(people).slice(0, 100), Keyring.from_file(keys)
    sealed = seal_column(table, "name", keys=ring, key_ids="person", aad=b"others")
    ds = ray.data.from_arrow(sealed)
    opened = sealift.ray.open_dataset(ds, "name", keys, aad=b"people", concurrency=1)
    with pytest.raises(ray.exceptions.RayError, match="InvalidTag"):
        opened.materialize()


def test_a_search_finds_no_key_but_one_that_is_planted(
    nodes: RayNodes, people: Path, keys: Path
) -> None:
    planted = secrets.token_bytes(9)
    reference = ray.put(planted * 100_000)
    actor = _started(ray.remote(Idle), planted.hex())
    found = _places_with(planted, nodes)
    assert {"gcs_server", "raylet", "logs"} <= found
    assert _places_with(MARKER, nodes) == set()
    del reference, actor

    ds = ray.data.read_parquet(str(people))
    sealed = sealift.ray.seal_dataset(ds, "name", keys, key_ids="person")
    leaking = ds.map_batches(lambda table: {planted: table})
    assert planted in cloudpickle.dumps(leaking)  # type: ignore[no-untyped-call]
    assert MARKER not in cloudpickle.dumps(sealed)  # type: ignore[no-untyped-call]


def test_a_node_lost_in_the_middle_loses_doubles_and_repeats_nothing(
    nodes: RayNodes, people: Path, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signal, gate, attempts = (tmp_path / name for name in ("signal", "gate", "attempts"))
    os.mkfifo(signal)
    os.mkfifo(gate)
    attempts.mkdir()

    # Each node has room for two actors. One that does nothing takes half of the head's, so that
    # the two that seal are on different nodes, until the other's has to come to the head.
    resources = {"room": 1, f"node:{ADDRESSES[0]}": 0.01}
    idle = _started(ray.remote(Idle).options(resources=resources), "idle")
    ds = ray.data.read_parquet(str(people))
    source = GatedKeys(keys, attempts, signal, gate)
    monkeypatch.setattr(sealift.ray, "ColumnActor", GatedActor)
    sealed = sealift.ray.seal_dataset(ds, "name", source, key_ids="person", resources={"room": 1})
    killer = Killer(signal, gate, nodes, idle)
    killer.start()
    sealed.write_parquet(str(tmp_path / "sealed"))
    killer.join()
    assert killer.was_signalled
    alive = [node["Alive"] for node in ray.nodes()]  # type: ignore[no-untyped-call]
    assert alive == [True, False]

    found = pq.read_table(tmp_path / "sealed").sort_by("row")
    opened = open_column(found, "name", keys=Keyring.from_file(keys), to="string")
    assert opened == pq.read_table(people).sort_by("row")

    # More rows than there are, as some were sealed twice; and a nonce of its own for each of them.
    rows = pq.read_table(attempts)["name"].to_pylist()
    assert len(rows) > ROWS
    assert {row[:2] for row in rows} == {HEADER_OF_SHORT_IDS}
    assert len({row[8:20] for row in rows}) == len(rows)
    assert _places_with(MARKER, nodes) == set()


def test_without_ray_the_import_says_what_to_install() -> None:
    program = "import sys; sys.modules['ray'] = None; import sealift.ray"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert 'pip install "sealift[ray]"' in ended.stderr


class Vault:
    """An object whose method would take its key along."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def keyring(self) -> Keyring:
        return Keyring({0: self._key})


class Idle:
    """An actor that takes resources."""

    def __init__(self, message: str) -> None:
        print(message)


def _started(actor_class: Any, message: str) -> Any:
    actor = actor_class.remote(message)
    ray.get(actor.__ray_ready__.remote())
    return actor


class Killer(threading.Thread):
    """Waits for the signal, kills the node, makes room on the head and opens the gate."""

    was_signalled = False

    def __init__(self, signal: Path, gate: Path, nodes: RayNodes, idle: Any) -> None:
        super().__init__(daemon=True)
        self._signal, self._gate = (os.open(fifo, os.O_RDWR) for fifo in (signal, gate))
        self._nodes, self._idle = nodes, idle

    def run(self) -> None:
        self.was_signalled = bool(select.select([self._signal], [], [], SIGNAL_TIMEOUT_S)[0])
        self._nodes.kill(1)
        ray.kill(self._idle)
        os.write(self._gate, bytes(100))  # a byte for each actor, and more


def _places_with(secret: bytes, nodes: RayNodes) -> set[str]:
    """Where a secret is found, raw, in hex, in base64 or escaped.

    Logs and what else lies in the nodes' folder, and memory: that of `raylet` has the object store,
    that of `gcs_server` the pickled functions, classes and arguments of actors.
    """
    forms = (secret, secret.hex().encode(), base64.b64encode(secret), repr(secret)[2:-1].encode())
    places = {
        path.parent.name
        for path in nodes.folder.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    }
    for name in ("gcs_server", "raylet"):
        parts = (part for process in nodes.processes(name) for part in _memory(process))
        if any(form in part for part in parts for form in forms):
            places.add(name)
    return places


def _memory(process: int) -> Iterator[bytes]:
    """The writable memory of a process, region by region."""
    regions = Path(f"/proc/{process}/maps").read_text(encoding="utf-8").splitlines()
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for region in regions:
            extent, access, *_ = region.split()
            if access.startswith("rw"):
                first, last = (int(each, 16) for each in extent.split("-"))
                with suppress(OSError):
                    yield os.pread(memory.fileno(), last - first, first)


def _of_main() -> Callable[[], Keyring]:
    def main() -> Keyring:
        return Keyring({})

    main.__module__ = main.__qualname__ = "__main__"
    return main


def _table(ds: Dataset) -> pa.Table:
    return pa.concat_tables(ray.get(ds.to_arrow_refs())).sort_by("row").combine_chunks()
