"""Columns of pyarrow, polars, pandas and duckdb come back as they were given."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from column_cases import IDS, KEYS, KINDS, NAMED_KEYS, ORDERS, TEXTS, as_bytes, keyring, texts_of
from sealift import arrow

TABLE = pyarrow.table({"order": ORDERS, "customer": IDS, "payload": texts_of("string")})
OPENED = [None if text is None else text.encode() for text in TEXTS]


def both_ways(data: Any, column: str | None = None, **options: Any) -> tuple[Any, Any]:
    """The data sealed, and that opened again."""
    keys = keyring()
    sealed = arrow.seal_column(data, column, keys=keys, **options)
    options.pop("key_ids")
    return sealed, arrow.open_column(sealed, column, keys=keys, **options)


FORMS: dict[str, Callable[[Any], Any]] = {
    "array": lambda array: array,
    "sliced array": lambda array: array[2:9],
    "empty array": lambda array: array[:0],
    "chunked array": lambda array: pyarrow.chunked_array([array[:3], array[3:3], array[3:]]),
    "chunked array without a chunk": lambda array: pyarrow.chunked_array([], array.type),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_each_type_of_pyarrow_comes_back(form: str, kind: str) -> None:
    texts = FORMS[form](texts_of(kind))
    ids = FORMS[form](pyarrow.array(IDS))
    sealed, opened = both_ways(texts, key_ids=ids)
    is_chunked = isinstance(texts, pyarrow.ChunkedArray)
    array = pyarrow.ChunkedArray if is_chunked else pyarrow.BinaryArray
    assert type(sealed) is type(opened) is array
    assert sealed.type == opened.type == pyarrow.binary()
    assert sealed.null_count == texts.null_count
    assert as_bytes(opened) == as_bytes(texts)
    if is_chunked:
        assert [*map(len, opened.chunks)] == [*map(len, texts.chunks)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_opens_as_strings(kind: str) -> None:
    _, opened = both_ways(texts_of(kind), key_ids=1)
    keys = keyring()
    sealed = arrow.seal_column(texts_of(kind), keys=keys, key_ids=1)
    opened = arrow.open_column(sealed, keys=keys, to="string")
    assert pyarrow.types.is_string(opened.type)
    assert as_bytes(opened) == as_bytes(texts_of(kind))


@pytest.mark.parametrize("form", ["table", "record batch", "sliced table", "table without rows"])
def test_a_table_of_pyarrow_stays_one_with_its_other_columns(form: str) -> None:
    table = {
        "table": TABLE,
        "record batch": TABLE.to_batches()[0],
        "sliced table": pyarrow.concat_tables([TABLE[1:4], TABLE[5:]]),
        "table without rows": TABLE[:0],
    }[form]
    sealed, opened = both_ways(table, "payload", key_ids="customer", aad=["order", b"orders"])
    assert type(sealed) is type(opened) is type(table)
    assert sealed.schema.names == table.schema.names
    assert as_bytes(opened["payload"]) == as_bytes(table["payload"])
    for other in ("order", "customer"):
        assert opened[other].equals(table[other])


@pytest.mark.parametrize("form", ["array", "chunked array"])
def test_pyarrow_copies_nothing_of_what_comes_back(form: str) -> None:
    texts = FORMS[form](pyarrow.array([b"text" * 2**12] * 2**6))
    keys, before = keyring(), pyarrow.total_allocated_bytes()
    sealed = arrow.seal_column(texts, keys=keys, key_ids=1)
    opened = arrow.open_column(sealed, keys=keys)
    assert pyarrow.total_allocated_bytes() - before < texts.nbytes // 4
    assert opened.equals(texts)


@pytest.mark.parametrize("type_", [polars.String, polars.Binary])
@pytest.mark.parametrize("form", ["whole", "sliced", "in chunks", "empty"])
def test_a_series_of_polars_comes_back(form: str, type_: Any) -> None:
    whole = polars.Series("payload", TEXTS, polars.String).cast(type_)
    series = {
        "whole": whole,
        "sliced": whole[2:9],
        "in chunks": polars.concat([whole[:3], whole[3:]], rechunk=False),
        "empty": whole[:0],
    }[form]
    ids = polars.Series(IDS)[: len(series)]
    sealed, opened = both_ways(series, key_ids=ids)
    assert (sealed.name, sealed.dtype) == (opened.name, opened.dtype) == ("payload", polars.Binary)
    assert as_bytes(opened) == as_bytes(series)


def test_a_data_frame_of_polars_stays_one() -> None:
    frame = polars.DataFrame(polars.from_arrow(TABLE))
    sealed, opened = both_ways(frame, "payload", key_ids="customer", aad=["order", b"orders"])
    assert isinstance(sealed, polars.DataFrame)
    assert as_bytes(opened["payload"]) == OPENED
    assert opened.drop("payload").equals(frame.drop("payload"))


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_lazy_frame_of_polars_takes_the_expressions(engine: Any) -> None:
    keys = keyring()
    frame = polars.LazyFrame(polars.from_arrow(TABLE))
    bound = ["order", b"orders"]
    customer = polars.col("customer")
    sealed = frame.with_columns(
        arrow.seal_expression("payload", keys=keys, key_ids=customer, aad=bound)
    )
    opened = sealed.with_columns(
        arrow.open_expression("payload", keys=keys, aad=bound, to="string").alias("opened")
    )
    assert opened.collect_schema()["payload"] == polars.Binary
    assert opened.collect(engine=engine)["opened"].to_list() == TEXTS


@pytest.mark.parametrize("layout", ["columns", "spark"])
def test_expressions_take_ids_to_open_layouts_that_do_not_record_them(layout: str) -> None:
    options: dict[str, Any] = {"keys": keyring(), "key_ids": polars.col("customer")}
    options["layout"] = layout
    frame = polars.LazyFrame(polars.from_arrow(TABLE))
    sealed = frame.with_columns(arrow.seal_expression("payload", **options))
    schema = sealed.collect_schema()
    assert sealed.collect().schema == schema
    opened = sealed.with_columns(arrow.open_expression("payload", **options)).collect()
    assert as_bytes(opened["payload"]) == OPENED


def test_an_expression_binds_each_row_to_the_value_of_another_column() -> None:
    keys = keyring()
    frame = polars.DataFrame(polars.from_arrow(TABLE))
    sealed = frame.with_columns(
        arrow.seal_expression("payload", keys=keys, key_ids="customer", aad=polars.col("order"))
    )
    assert (
        as_bytes(arrow.open_column(sealed, "payload", keys=keys, aad="order")["payload"]) == OPENED
    )


@pytest.mark.parametrize("type_", ["string", "binary", "large_string", "large_binary"])
def test_a_series_of_pandas_with_arrow_types_comes_back_with_its_index(type_: str) -> None:
    array = pandas.arrays.ArrowExtensionArray(texts_of(type_))
    series = pandas.Series(array, index=range(50, 60), name="payload")
    sealed, opened = both_ways(series, key_ids=pandas.Series(IDS))
    assert sealed.dtype == opened.dtype == pandas.ArrowDtype(pyarrow.binary())
    assert (opened.index == series.index).all()
    assert opened.name == "payload"
    assert as_bytes(pyarrow.array(opened)) == OPENED


def test_a_data_frame_of_pandas_stays_one() -> None:
    frame = TABLE.to_pandas(types_mapper=pandas.ArrowDtype)
    before = frame.copy()
    sealed, opened = both_ways(frame, "payload", key_ids="customer", aad=["order", b"orders"])
    assert isinstance(sealed, pandas.DataFrame)
    assert as_bytes(pyarrow.array(opened["payload"])) == OPENED
    assert opened.drop(columns="payload").equals(frame.drop(columns="payload"))
    assert frame.equals(before)


def test_a_relation_of_duckdb_stays_one() -> None:
    table = TABLE
    relation = duckdb.arrow(table).filter("customer < 4")
    sealed, opened = both_ways(relation, "payload", key_ids="customer", aad=["order", b"orders"])
    assert isinstance(sealed, duckdb.DuckDBPyRelation)
    assert sealed.columns == relation.columns
    expected = [text for text, customer in zip(OPENED, IDS, strict=True) if customer < 4]
    assert [row[2] for row in opened.fetchall()] == expected


def test_what_one_library_sealed_another_opens() -> None:
    keys = keyring()
    options: dict[str, Any] = {"keys": keys, "aad": "order"}
    frame = polars.DataFrame(polars.from_arrow(TABLE))
    sealed = arrow.seal_column(frame, "payload", key_ids="customer", **options)
    others = [
        sealed.to_arrow(),
        sealed.to_pandas(use_pyarrow_extension_array=True),
        duckdb.arrow(sealed.to_arrow()),
    ]
    for other in others:
        opened = arrow.open_column(other, "payload", **options)
        assert as_bytes(pyarrow.table(opened)["payload"]) == OPENED


INTEGERS = [
    *(pyarrow.int8(), pyarrow.int16(), pyarrow.int32(), pyarrow.int64()),
    *(pyarrow.uint8(), pyarrow.uint16(), pyarrow.uint32(), pyarrow.uint64()),
]


@pytest.mark.parametrize("type_", INTEGERS, ids=str)
def test_ids_are_integers_of_any_width_or_codes_of_a_dictionary(type_: Any) -> None:
    ids = pyarrow.array(IDS, type_)
    # No row has the last one.
    values = pyarrow.array(["tenant 3", "tenant 1", "tenant 2", None])
    codes = pyarrow.array([each % 3 for each in IDS], type_)
    dictionary = pyarrow.DictionaryArray.from_arrays(codes, values)
    named = arrow.Keyring(NAMED_KEYS)
    for keys, key_ids in ((keyring(), ids), (named, dictionary)):
        sealed = arrow.seal_column(texts_of("string"), keys=keys, key_ids=key_ids)
        assert as_bytes(arrow.open_column(sealed, keys=keys)) == OPENED


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_strings_of_any_type(kind: str) -> None:
    names = [b"six %02d" % each for each in IDS]
    keys = arrow.Keyring({b"six %02d" % each: key for each, key in KEYS.items()})
    ids = pyarrow.array(names, pyarrow.binary()).cast(KINDS[kind])
    sealed = arrow.seal_column(texts_of("binary"), keys=keys, key_ids=ids)
    assert sealed[0].as_py()[4:10] == names[0]
    assert as_bytes(arrow.open_column(sealed, keys=keys)) == OPENED


def test_ids_of_polars_categories_and_pandas_strings_are_strings() -> None:
    keys, names = arrow.Keyring(NAMED_KEYS), [f"tenant {each}" for each in IDS]
    for ids in (
        polars.Series(names, dtype=polars.Categorical),
        polars.Series(names, dtype=polars.Enum(list(NAMED_KEYS))),
        pandas.Series(names),
        pandas.Series(names, dtype="category"),
    ):
        sealed = arrow.seal_column(texts_of("binary"), keys=keys, key_ids=ids)
        assert as_bytes(arrow.open_column(sealed, keys=keys)) == OPENED


def test_an_id_of_eight_bytes_makes_every_row_of_its_call_four_bytes_longer() -> None:
    wide = 2**64 - 1
    narrow, both = arrow.Keyring({1: KEYS[1]}), arrow.Keyring({1: KEYS[1], wide: KEYS[2]})
    texts = pyarrow.array([b"", b"text"])
    lengths = [
        [len(row.as_py()) for row in arrow.seal_column(texts, keys=keys, key_ids=1)]
        for keys in (narrow, both)
    ]
    assert lengths == [[36, 40], [40, 44]]
    sealed = arrow.seal_column(texts, keys=both, key_ids=wide)
    assert arrow.open_column(sealed, keys=both).equals(texts)


@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_unequal_overhead_open_together(first: int) -> None:
    keys = arrow.Keyring({1: KEYS[1]})
    narrow = arrow.seal_column(texts_of("binary"), keys=keys, key_ids=1)
    keys.rotate(2**40, KEYS[2])
    wide = arrow.seal_column(texts_of("binary"), keys=keys, key_ids=1)
    rows = [[narrow, wide], [wide, narrow]][first]
    for sealed in (pyarrow.chunked_array(rows), pyarrow.concat_arrays(rows)):
        assert as_bytes(arrow.open_column(sealed, keys=keys)) == OPENED * 2


@pytest.mark.parametrize("algorithm", ["AES-GCM", "XAES-256-GCM", "AES-GCM-SIV"])
def test_each_algorithm_comes_back(algorithm: Any) -> None:
    keys = arrow.Keyring(KEYS, algorithm=algorithm)
    sealed = arrow.seal_column(TABLE, "payload", keys=keys, key_ids="customer")
    opened = arrow.open_column(sealed, "payload", keys=keys)
    assert as_bytes(opened["payload"]) == OPENED
    overhead = len(sealed["payload"][0].as_py()) - len("first")
    assert overhead == (48 if algorithm == "XAES-256-GCM" else 36)


@pytest.mark.parametrize(
    ("algorithm", "distinct"), [("AES-GCM", 4), ("XAES-256-GCM", 4), ("AES-GCM-SIV", 1)]
)
def test_equal_rows_become_equal_under_aes_gcm_siv_alone(algorithm: Any, distinct: int) -> None:
    keys = arrow.Keyring(KEYS, algorithm=algorithm)
    sealed = arrow.seal_column(pyarrow.array([b"text"] * 4), keys=keys, key_ids=1)
    assert len(sealed.unique()) == distinct


def test_equal_rows_with_other_associated_data_differ_under_aes_gcm_siv() -> None:
    texts = pyarrow.array([b"text"] * 4)
    keys = arrow.Keyring(KEYS, algorithm="AES-GCM-SIV")
    rows = pyarrow.array([b"a", b"b", b"a", b"b"])
    assert len(arrow.seal_column(texts, keys=keys, key_ids=1, aad=rows).unique()) == 2


@pytest.mark.parametrize(
    "aad",
    [b"bound", "bound", pyarrow.array(ORDERS), [b"bound", pyarrow.array(ORDERS)], [], [b"", b""]],
    ids=["bytes", "str", "column", "list", "empty list", "empty parts"],
)
def test_associated_data_is_bytes_text_a_column_or_a_list(aad: Any) -> None:
    _, opened = both_ways(texts_of("binary"), key_ids=1, aad=aad)
    assert as_bytes(opened) == OPENED


def test_parts_of_associated_data_do_not_run_into_each_other() -> None:
    keys = keyring()
    sealed = arrow.seal_column(texts_of("binary"), keys=keys, key_ids=1, aad=[b"ab", b"c"])
    for wrong in ([b"a", b"bc"], [b"abc"], [b"ab", b"c", b""]):
        opened = arrow.open_column(sealed, keys=keys, aad=wrong, on_error="null")
        assert opened.null_count == len(TEXTS)


def test_keys_are_found_by_a_function_once_for_an_id() -> None:
    calls = []

    def find(customer: int) -> bytes:
        calls.append(customer)
        return KEYS[customer]

    keys = arrow.Keyring(find)
    sealed = arrow.seal_column(TABLE, "payload", keys=keys, key_ids="customer")
    arrow.open_column(sealed, "payload", keys=keys)
    opened = arrow.open_column(sealed, "payload", keys=arrow.Keyring(find))
    assert sorted(calls) == sorted([*IDS[:4]] * 2)
    assert as_bytes(opened["payload"]) == OPENED


def test_rotated_keys_open_old_rows_and_reseal_moves_them_to_the_newest() -> None:
    keys = arrow.Keyring({each: [key] for each, key in KEYS.items()})
    sealed = arrow.seal_column(TABLE, "payload", keys=keys, key_ids="customer", aad="order")
    assert keys.rotate(2, b"2" * 32) == 1
    old = arrow.open_column(sealed, "payload", keys=keys, aad="order")
    assert as_bytes(old["payload"]) == OPENED
    resealed = arrow.reseal_column(sealed, "payload", keys=keys, aad="order")
    every = arrow.reseal_column(sealed, "payload", keys=keys, aad="order", rows="all")
    for row, customer in enumerate(IDS):
        before, after, anew = (each["payload"][row].as_py() for each in (sealed, resealed, every))
        if before is not None:
            assert (before == after) == (customer != 2)
            assert before != anew
            assert after[2:4] == anew[2:4] == (b"\1\0" if customer == 2 else b"\0\0")
    newest = arrow.Keyring({**KEYS, 2: {1: b"2" * 32}})
    for each in (resealed, every):
        assert (
            as_bytes(arrow.open_column(each, "payload", keys=newest, aad="order")["payload"])
            == OPENED
        )


def test_no_library_of_tables_is_imported_before_it_is_used() -> None:
    libraries = "{'pyarrow', 'polars', 'pandas', 'duckdb', 'numpy'}"
    code = f"import sys, sealift.arrow; print({libraries} & {{*sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("set()\n", "")


@given(
    st.lists(
        st.lists(st.tuples(st.binary(max_size=40) | st.none(), st.integers(1, 5)), max_size=30),
        max_size=4,
    ),
    st.sampled_from(["binary", "large_binary", "binary_view"]),
    st.sampled_from(["row", "columns", "spark"]),
)
def test_random_columns_come_back(
    chunks: list[list[tuple[bytes | None, int]]], kind: str, layout: Any
) -> None:
    type_, rows = KINDS[kind], [row for chunk in chunks for row in chunk]
    texts = pyarrow.chunked_array(
        [pyarrow.array([text for text, _ in chunk], type_) for chunk in chunks], type_
    )
    ids = pyarrow.array([key for _, key in rows], pyarrow.int32())
    keys = keyring()
    sealed = arrow.seal_column(texts, keys=keys, key_ids=ids, layout=layout)
    recorded = {} if layout == "row" else {"key_ids": ids}
    opened = arrow.open_column(sealed, keys=keys, layout=layout, **recorded)
    assert as_bytes(opened) == [text for text, _ in rows]
