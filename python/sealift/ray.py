"""Sealed columns of Ray datasets (`pip install sealift[ray]`).

    import ray, sealift.ray

    ds = ray.data.read_parquet("s3://bucket/people")
    sealed = sealift.ray.seal_dataset(ds, "name", "/etc/sealift/keys", key_ids="person")
    sealed.write_parquet("s3://bucket/sealed")

The work is done by actors, one for each node, that make their keyring once. Keys never travel: each
actor makes its keyring from a reference, which is all that Ray pickles, stores and logs.
"""

import pickle
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from types import BuiltinMethodType, MethodType
from typing import Any, Literal

try:
    import pyarrow as pa
    import ray
    from ray.data import ActorPoolStrategy, Dataset
except ModuleNotFoundError as error:
    message = f'{error}: sealift.ray needs `pip install "sealift[ray]"`'
    raise ModuleNotFoundError(message, name=error.name) from error

from sealift.arrow import Keyring, Layout, open_column, seal_column
from sealift.errors import InputError

__all__ = ["KeyringReference", "open_dataset", "seal_dataset"]

KeyringReference = str | PathLike[str] | Callable[[], Keyring]
"""How each node gets its keyring: the path of a key file that every node can read, the name
"package.module:function" of a function without arguments, or such a function or object itself,
which must pickle by name (`pickle`, not `cloudpickle`) and hold no key. Partials and bound methods
are refused: they pickle with their arguments or their object."""


def seal_dataset(
    ds: Dataset,
    column: str,
    keyring: KeyringReference,
    *,
    key_ids: str,
    aad: str | bytes | list[str | bytes] | None = None,
    layout: Layout = "row",
    concurrency: int | None = None,
    num_cpus: float = 0.5,
    resources: Mapping[str, float] | None = None,
) -> Dataset:
    """Seals a column; the other columns and the number of rows stay as they are.

    A task that Ray retries draws other nonces and gives other bytes; its rows are not doubled.

    Args:
        ds: Any dataset with Arrow blocks, from `ray.data.read_parquet` for example.
        column: The name of a column of bytes or strings.
        keyring: Where each node gets its keys.
        key_ids: The name of the column that says under which key each row is sealed.
        aad: As `sealift.arrow.seal_column` takes it. It travels in the clear.
        layout: As `sealift.arrow.seal_column` takes it.
        concurrency: The number of actors; one for each node where None.
        num_cpus: What Ray reserves for an actor, which uses all cores of its node whatever this
            is. Tasks that read and write need CPUs, too, and the actor of a node that is lost needs
            room on another node: Ray waits for ever where there is none. Pass 0 where nodes have a
            single CPU.
        resources: Other resources that an actor takes; only nodes that have them get actors.

    Returns:
        The sealed dataset, which is as lazy as `ds`.

    Raises:
        InputError: If the column or reference is wrong; by Ray's errors, if a node finds it wrong.
    """
    arguments = {"key_ids": key_ids, "aad": aad, "layout": layout}
    return _map(seal_column, ds, column, keyring, arguments, concurrency, num_cpus, resources)


def open_dataset(
    ds: Dataset,
    column: str,
    keyring: KeyringReference,
    *,
    key_ids: str | None = None,
    aad: str | bytes | list[str | bytes] | None = None,
    layout: Layout = "row",
    to: Literal["binary", "string"] = "binary",
    concurrency: int | None = None,
    num_cpus: float = 0.5,
    resources: Mapping[str, float] | None = None,
) -> Dataset:
    """Opens a column that `seal_dataset` or `sealift.arrow.seal_column` sealed.

    Args:
        ds: The dataset with the sealed column.
        column: Its name.
        keyring: Where each node gets its keys.
        key_ids: As for `seal_dataset`; rows of the layout "row" hold their key's id.
        aad: What the rows were sealed with.
        layout: What the rows were sealed in.
        to: As `sealift.arrow.open_column` takes it.
        concurrency: As for `seal_dataset`.
        num_cpus: As for `seal_dataset`.
        resources: As for `seal_dataset`.

    Returns:
        The opened dataset, which is as lazy as `ds`. Where a row does not open, using it raises
        Ray's `UserCodeException`, whose text has that of `sealift.InvalidTag`.

    Raises:
        InputError: If the column or reference is wrong; by Ray's errors, if a node finds it wrong.
    """
    arguments = {"key_ids": key_ids, "aad": aad, "layout": layout, "to": to}
    return _map(open_column, ds, column, keyring, arguments, concurrency, num_cpus, resources)


def _map(
    function: Callable[..., pa.Table],
    ds: Dataset,
    column: str,
    keyring: KeyringReference,
    arguments: Mapping[str, object],
    concurrency: int | None,
    num_cpus: float,
    resources: Mapping[str, float] | None,
) -> Dataset:
    reference = _pickled(keyring)
    if concurrency is not None and concurrency < 1:
        raise InputError(f"concurrency is {concurrency}; it must be at least 1")
    schema = ds.schema(fetch_if_missing=False)
    if schema is not None and isinstance(schema.base_schema, pa.Schema):
        # Names and types, before any work: a row of nulls has these, and needs no key.
        nulls = pa.RecordBatch.from_pylist([{}], schema=schema.base_schema)
        function(nulls, column, keys=Keyring({}), **arguments)
    actors = concurrency or _nodes_with({"CPU": num_cpus, **(resources or {})})
    return ds.map_batches(
        ColumnActor,
        fn_constructor_args=(function, column, reference, dict(arguments)),
        batch_format="pyarrow",
        batch_size=None,
        compute=ActorPoolStrategy(min_size=1, max_size=actors, initial_size=actors),
        num_cpus=num_cpus,
        resources=dict(resources or {}),
        udf_modifying_row_count=False,
    )


class ColumnActor:
    """Works the blocks that come to a node; the keyring is made once."""

    def __init__(
        self,
        function: Callable[..., pa.Table],
        column: str,
        reference: bytes,
        arguments: dict[str, Any],
    ) -> None:
        """Makes the keyring."""
        self._function, self._column = function, column
        self._arguments = arguments | {"keys": _keyring(reference)}

    def __call__(self, table: pa.Table) -> pa.Table:
        """Seals or opens the column of one block."""
        return self._function(table, self._column, **self._arguments)


def _pickled(keyring: KeyringReference) -> bytes:
    """The reference, by `pickle`: Ray's `cloudpickle` would take closures and the keys in them."""
    if isinstance(keyring, str) and (path := re.fullmatch(r"([\w.]+):(\w+)", keyring)):
        return pickle.dumps((path[1], path[2]))
    if isinstance(keyring, str | PathLike):
        return pickle.dumps(Path(keyring).absolute())
    # Partials and methods pickle by name, and with them the arguments or the object they hold.
    if isinstance(keyring, partial | MethodType | BuiltinMethodType) or not callable(keyring):
        raise InputError(
            f"keyring is a {type(keyring).__name__}, whose keys would travel to the nodes; pass "
            'the path of a key file that every node can read, or "package.module:function"'
        )
    name = getattr(keyring, "__qualname__", type(keyring).__name__)
    try:
        if keyring.__module__ == "__main__":
            raise pickle.PicklingError("nodes have another __main__")
        return pickle.dumps(keyring)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"keyring {name} does not pickle by name: {error}; pass a function of a module that "
            "every node can import"
        ) from None


def _keyring(reference: bytes) -> Keyring:
    source = pickle.loads(reference)
    if isinstance(source, Path):
        return Keyring.from_file(source)
    if isinstance(source, tuple):
        source = getattr(import_module(source[0]), source[1])
    keyring = source()
    if not isinstance(keyring, Keyring):
        raise TypeError(f"{source!r} returned a {type(keyring).__name__}; it must be a Keyring")
    return keyring


def _nodes_with(resources: Mapping[str, float]) -> int:
    """The number of nodes that have these resources."""
    alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    nodes = [node["Resources"] for node in alive]
    fit = [all(node.get(name, 0) >= each for name, each in resources.items()) for node in nodes]
    if not any(fit):
        raise InputError(f"none of the {len(nodes)} nodes has {dict(resources)}")
    return sum(fit)
