"""Columns of Arrow, sealed and opened where they lie: of pyarrow, polars, pandas and duckdb.

    keys = sealift.arrow.Keyring({1: key, 2: other_key})
    sealed = sealift.arrow.seal_column(table, "payload", keys=keys, key_ids="customer")
    opened = sealift.arrow.open_column(sealed, "payload", keys=keys)

A sealed row records its key id and version, so a table stays a table and keys can be rotated.
Nonces are drawn. docs/columns.md has the format and its overhead.

Results are of the library of the input: an array for an array, a table for a table and a column's
name. For other objects with the Arrow PyCapsule interface an object with that interface comes back.
No library of these is imported before an object of it is given.
"""

import functools
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, Literal

from sealift._sealift import Engine, Keyring, open_array, reseal_array, seal_array
from sealift.errors import InputError

__all__ = [
    "Keyring",
    "open_column",
    "open_expression",
    "reseal_column",
    "seal_column",
    "seal_expression",
]

Layout = Literal["row", "columns", "spark"]


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
        data: An array, a chunked array or a Series of binary or string of any kind; or, with
            `column`, a table, a record batch, a DataFrame or a relation of duckdb.
        column: The name of the column to seal in a table.
        keys: The keys.
        key_ids: The id of each row's key: an int, a str or bytes for all rows, or a column of
            integers, strings, binary or a dictionary of them. With `column`, a str is the name of
            another column.
        aad: What each row is bound to besides: str or bytes for all rows, a column, or a list of
            these. With `column`, a str is the name of another column; give bytes for all rows. It
            is not stored: give the same to open.
        layout: "row" is the documented format. "columns" makes structs of nonce, ciphertext and
            tag. "spark" is these one behind the other, as Spark's `aes_encrypt` writes and
            `aes_decrypt` reads. These two record neither id nor version.
        threads: How many threads the call may use; None for those of the engine.
        engine: Works the rows; None for one that this module makes.

    Returns:
        What `data` is, sealed; a column of binary, or of large_binary where a chunk has more than
        2 GiB; of structs in the layout "columns".

    Raises:
        TypeError: If a column is of another type.
        InputError: If an id has no key, or lengths don't fit.
        SealLimitError: If a key would seal more than 2**32 rows in this process.
    """

    def seal(values: Any, others: "_Others", name: str) -> Any:
        return seal_array(
            _engine_or(engine),
            keys,
            values,
            others.get(key_ids),
            others.parts(aad),
            name=name,
            layout=layout,
            threads=threads,
        )

    return _work(data, column, keys, seal)


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
        InputError: If a row is no sealed row, or names an id or a version that `keys` doesn't have;
            if `key_ids` are given for rows that record theirs.
        InvalidTag: If rows don't open; its `indices` are the first hundred of them.
    """
    if layout == "row" and key_ids is not None:
        raise InputError('layout "row" records ids: leave key_ids out')

    def open_(values: Any, others: "_Others", name: str) -> Any:
        return open_array(
            _engine_or(engine),
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

    return _work(data, column, keys, open_)


def reseal_column(
    data: Any,
    column: str | None = None,
    *,
    keys: Keyring,
    aad: Any = None,
    rows: Literal["outdated", "all"] = "outdated",
    threads: int | None = None,
    engine: Engine | None = None,
) -> Any:
    """Seals rows again under the newest key of their id: after a rotation, before the old key goes.

    Args:
        data: As for `open_column`, in the layout "row".
        column: The name of the column in a table.
        keys: The keys, old and new.
        aad: What rows are bound to.
        rows: "outdated" leaves rows as they are that the newest key sealed; "all" seals those,
            too, with new nonces.
        threads: How many threads the call may use; None for those of the engine.
        engine: Works the rows; None for one that this module makes.

    Returns:
        What `data` is, sealed under the newest keys.

    Raises:
        InputError: As `open_column` does.
        InvalidTag: If rows don't open.
        SealLimitError: If a key would seal more than 2**32 rows in this process.
    """

    def reseal(values: Any, others: "_Others", name: str) -> Any:
        return reseal_array(
            _engine_or(engine),
            keys,
            values,
            others.parts(aad),
            name=name,
            is_all=_one_of("rows", rows, "outdated", "all") == "all",
            threads=threads,
        )

    return _work(data, column, keys, reseal)


def seal_expression(
    expression: Any, *, keys: Keyring, key_ids: Any, aad: Any = None, **options: Any
) -> Any:
    """`seal_column` as an expression of polars, for `with_columns` and lazy frames.

    Args:
        expression: The column to seal, or its name.
        keys: The keys.
        key_ids: As for `seal_column`, a str the name of a column; also an expression.
        aad: As for `seal_column`, a str the name of a column; also an expression, or a list with
            some.
        **options: Others of `seal_column`.
    """
    return _expression(seal_column, expression, key_ids, aad, {"keys": keys, **options})


def open_expression(
    expression: Any, *, keys: Keyring, key_ids: Any = None, aad: Any = None, **options: Any
) -> Any:
    """`open_column` as an expression of polars, for `with_columns` and lazy frames.

    Args:
        expression: The column to open, or its name.
        keys: The keys.
        key_ids: As for `open_column`, a str the name of a column; also an expression.
        aad: As for `open_column`, a str the name of a column; also an expression, or a list with
            some.
        **options: Others of `open_column`.
    """
    return _expression(open_column, expression, key_ids, aad, {"keys": keys, **options})


def _expression(
    work: Callable[..., Any], expression: Any, key_ids: Any, aad: Any, options: dict[str, Any]
) -> Any:
    import polars

    def named(part: Any) -> Any:
        return polars.col(part) if isinstance(part, str) else part

    expression, key_ids = named(expression), named(key_ids)
    given = aad if isinstance(aad, list | tuple) else [] if aad is None else [aad]
    parts = [named(part) for part in given]
    inputs = [part for part in [key_ids, *parts] if isinstance(part, polars.Expr)]
    data_type: Any = polars.String if options.get("to") == "string" else polars.Binary
    if work is seal_column and options.get("layout") == "columns":
        data_type = polars.Struct(dict.fromkeys(("nonce", "ciphertext", "tag"), polars.Binary))

    def batch(columns: Any) -> Any:
        values, *rest = columns
        others_of_batch = iter(rest)

        def take(part: Any) -> Any:
            return next(others_of_batch) if isinstance(part, polars.Expr) else part

        ids = take(key_ids)
        others = [take(part) for part in parts]
        return work(values, key_ids=ids, aad=others or None, **options)

    return polars.map_batches([expression, *inputs], batch, return_dtype=data_type)


def _one_of(name: str, given: str, *known: str) -> str:
    if given not in known:
        msg = f"{name} is {given!r}: give {' or '.join(map(repr, known))}"
        raise InputError(msg)
    return given


_Worker = Callable[[Any, "_Others", str], Any]


def _work(data: Any, column: str | None, keys: Keyring, worker: _Worker) -> Any:
    if not isinstance(keys, Keyring):
        raise TypeError(f"keys is {type(keys).__name__}: give a Keyring, for example of a mapping")
    kinds = [base.__name__ for base in type(data).__mro__]
    library = _library(data)
    if (column is None) == any(kind in _TABLES for kind in kinds):
        raise TypeError(f"data is {kinds[0]} and column is {column!r}: {_TABLE_HINT}")
    if column is None:
        name = getattr(data, "name", None)
        made = worker(data, _Others(None), name if isinstance(name, str) and name else "the column")
        return _like(library, data, made)
    return _in_table(library, data, column, worker)


def _library(data: Any) -> str:
    """The package that the class of `data`, or one that it inherits from, is of."""
    packages = [base.__module__.partition(".")[0] for base in type(data).__mro__]
    known = ("pyarrow", "polars", "pandas", "duckdb", "_duckdb")
    return next((package for package in packages if package in known), "")


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
        # `combine_chunks` would copy: an array becomes one chunk.
        return chunked if isinstance(data, pyarrow.ChunkedArray) else chunked.chunk(0)
    if library == "polars":
        return sys.modules["polars"].Series(made).alias(data.name)
    if library == "pandas":
        pandas, pyarrow = sys.modules["pandas"], importlib.import_module("pyarrow")
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
            there = ", ".join(map(repr, names))
            msg = f"there is no column {name!r} in the table: it has {there}; bytes are one value"
            raise InputError(msg)
        return data[name]

    made = _like(library, data[column], worker(data[column], _Others(find), column))
    if library == "pyarrow":
        return data.set_column(names.index(column), column, made)
    if library == "polars":
        return data.with_columns(made.alias(column))
    return data.assign(**{column: made})


_TABLES = ("Table", "RecordBatch", "DataFrame", "DuckDBPyRelation")
_TABLE_HINT = (
    "name the column of a Table, RecordBatch, DataFrame or relation of duckdb, "
    "and none of an array; a LazyFrame takes seal_expression and open_expression, and of a reader "
    "or dataset give one batch after the other"
)


def _engine_or(given: Any) -> Engine:
    if given is None:
        return _engine()
    if not isinstance(given, Engine):
        found = f"{type(given).__module__}.{type(given).__name__}"
        raise TypeError(f"engine is {found}: give a sealift.Engine, or leave it out")
    return given


@functools.cache
def _engine() -> Engine:
    return Engine()


# A child after a fork makes its own.
os.register_at_fork(after_in_child=_engine.cache_clear)
