"""Columns of Arrow, sealed and opened where they lie: of pyarrow, polars, pandas and duckdb.

    keys = sealift.arrow.Keyring({1: key, 2: other_key})
    sealed = sealift.arrow.seal_column(table, "payload", keys=keys, key_ids="customer")
    opened = sealift.arrow.open_column(sealed, "payload", keys=keys)

A sealed row says under which key and version it opens, so that a table stays a table and keys can be
rotated; docs/columns.md has the format and what it adds to a row. Nonces are drawn.

What is given comes back: an array for an array, a table for a table with the name of a column.
Whatever else speaks the Arrow PyCapsule interface is taken, and an object that speaks it comes back.
No library of these is imported before it is given.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

from sealift._sealift import Engine, Keyring, open_array, seal_array
from sealift.errors import InputError

__all__ = ["Keyring", "open_column", "seal_column"]

Layout = Literal["row", "spark"]


def seal_column(
    data: Any,
    column: str | None = None,
    *,
    keys: Keyring,
    key_ids: Any,
    aad: Any = None,
    layout: Layout = "row",
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """Seals each row of a column under the newest key of the row's id. Nulls stay null.

    Args:
        data: An array, a chunked array or a Series of binary or string of any kind; or with `column`
            a table, a record batch, a DataFrame or a relation of duckdb.
        column: The name of the column to seal in a table.
        keys: The keys.
        key_ids: The id of each row's key: an int, a str or bytes for all rows, or a column of
            integers, strings, binary or a dictionary of them. With `column`, a str is the name of
            another column.
        aad: What each row is bound to besides: str or bytes for all rows, a column, or a list of
            these. With `column`, a str is the name of another column; give bytes for all rows. It is
            not stored: give the same to open.
        layout: "row" is the documented format. "spark" is nonce, ciphertext and tag, as Spark's
            `aes_encrypt` writes and `aes_decrypt` reads; it records neither id nor version.
        threads: How many threads the call may use; None for those of the engine.
        engine: Works the rows; None for one that this module makes.

    Returns:
        What `data` is, sealed; a column of binary, or of large_binary where a chunk has more than
        2 GiB.

    Raises:
        TypeError: If a column is of another type.
        InputError: If an id has no key, or lengths don't fit.
        SealLimitError: If a key would seal more than 2**32 rows in this process.
    """

    def seal(values: Any, others: "_Others", name: str) -> Any:
        return seal_array(
            engine or _engine(),
            keys,
            values,
            others.get(key_ids),
            others.parts(aad),
            name=name,
            layout=layout,
            threads=threads,
        )

    return _work(data, column, seal)


def open_column(
    data: Any,
    column: str | None = None,
    *,
    keys: Keyring,
    key_ids: Any = None,
    aad: Any = None,
    layout: Layout = "row",
    on_error: Literal["raise", "null"] = "raise",
    to: Literal["binary", "string"] = "binary",
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """Opens each row of a sealed column under the key and version that it names.

    Args:
        data: As for `seal_column`, of sealed rows.
        column: The name of the column to open in a table.
        keys: The keys.
        key_ids: As for `seal_column`, for layouts that don't record ids.
        aad: What rows were bound to when they were sealed.
        layout: As they were sealed.
        on_error: "raise" raises for a row that does not open; "null" makes it null.
        to: The type of the opened column; strings are checked to be UTF-8.
        threads: How many threads the call may use; None for those of the engine.
        engine: Works the rows; None for one that this module makes.

    Returns:
        What `data` is, opened.

    Raises:
        TypeError: If a column is of another type.
        InputError: If a row is no sealed row, or names an id or a version that `keys` doesn't have.
        InvalidTag: If rows don't open; its `indices` are the first hundred of them.
    """

    def open_(values: Any, others: "_Others", name: str) -> Any:
        return open_array(
            engine or _engine(),
            keys,
            values,
            None if key_ids is None else others.get(key_ids),
            others.parts(aad),
            name=name,
            layout=layout,
            on_error=on_error,
            to=to,
            threads=threads,
        )

    return _work(data, column, open_)


_Worker = Callable[[Any, "_Others", str], Any]


def _work(data: Any, column: str | None, worker: _Worker) -> Any:
    library = type(data).__module__.partition(".")[0]
    if column is None:
        name = getattr(data, "name", None)
        made = worker(data, _Others(None), name if isinstance(name, str) and name else "the column")
        return _like(library, data, made)
    return _in_table(library, data, column, worker)


class _Others:
    """Columns beside the one that is worked: given, or by name in its table."""

    def __init__(self, find: Callable[[str], Any] | None) -> None:
        self._find = find

    def get(self, given: Any) -> Any:
        return self._find(given) if self._find and isinstance(given, str) else given

    def parts(self, aad: Any) -> list[Any]:
        if aad is None:
            return []
        parts = aad if isinstance(aad, list | tuple) else [aad]
        return [part.encode() if isinstance(part, str) else part for part in map(self.get, parts)]


def _like(library: str, data: Any, made: Any) -> Any:
    """What was made of a column, as the library of `data` has it."""
    if library == "pyarrow":
        pyarrow = sys.modules["pyarrow"]
        chunked = pyarrow.chunked_array(made)
        return chunked if isinstance(data, pyarrow.ChunkedArray) else chunked.combine_chunks()
    if library == "polars":
        return sys.modules["polars"].Series(data.name, made)
    if library == "pandas":
        import pandas
        import pyarrow

        array = pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array(made))
        return pandas.Series(array, index=data.index, name=data.name)
    return made


def _in_table(library: str, data: Any, column: str, worker: _Worker) -> Any:
    """The table with a column that was worked in its place."""
    if library in ("duckdb", "_duckdb"):
        table = data.to_arrow_table()
        made = _in_table("pyarrow", table, column, worker)
        return sys.modules["duckdb"].from_arrow(made)
    names = list(data.column_names if library == "pyarrow" else data.columns)
    if column not in names:
        msg = f"there is no column {column!r} in the table: it has {', '.join(map(repr, names))}"
        raise InputError(msg)

    def find(name: str) -> Any:
        if name not in names:
            msg = f"there is no column {name!r} in the table: give bytes for the same in all rows"
            raise InputError(msg)
        return data[name]

    made = _like(library, data[column], worker(data[column], _Others(find), column))
    if library == "pyarrow":
        return data.set_column(names.index(column), column, made)
    if library == "polars":
        return data.with_columns(made.alias(column))
    return data.assign(**{column: made})


_lock = threading.Lock()
_engines: dict[int, Engine] = {}


def _engine() -> Engine:
    """The engine of this process: a child after a fork makes its own."""
    process = os.getpid()
    with _lock:
        if process not in _engines:
            _engines.clear()
            _engines[process] = Engine()
        return _engines[process]
