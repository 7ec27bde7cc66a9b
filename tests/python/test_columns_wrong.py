"""Nothing opens that was not sealed, and what is wrong is named."""

from collections.abc import Callable
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sealift
from column_cases import KEYS, NAMED_KEYS, keyring
from sealift import arrow

TEXTS = pyarrow.array([b"first", b"second", b"", b"fourth"])
IDS = pyarrow.array([1, 2, 1, 2])
ORDERS = pyarrow.array(["a", "b", "c", "d"])
TABLE = pyarrow.table({"order": ORDERS, "customer": IDS, "payload": TEXTS, "price": [1.5] * 4})


def sealed_rows(**options: Any) -> list[bytes]:
    column = arrow.seal_column(TEXTS, **{"keys": keyring(), "key_ids": IDS, **options})
    rows: list[bytes] = column.to_pylist()
    return rows


def opens(rows: list[bytes], **options: Any) -> list[bytes | None]:
    """What opens of some rows; None stands for a row that does not."""
    opened = arrow.open_column(
        pyarrow.array(rows, pyarrow.binary()), keys=keyring(), on_error="null", **options
    )
    values: list[bytes | None] = opened.to_pylist()
    return values


def test_no_bit_of_a_row_can_be_changed() -> None:
    row = sealed_rows()[0]
    changed = [
        row[:at] + bytes([row[at] ^ 1 << bit]) + row[at + 1 :]
        for at in range(len(row))
        for bit in range(8)
    ]
    assert opens([row]) == [b"first"]
    assert opens(changed) == [None] * len(changed)


def test_no_row_opens_that_is_shorter_or_longer() -> None:
    row = sealed_rows()[0]
    others = [row[:length] for length in range(len(row))] + [row + b"\0", b"\0" + row, row * 2]
    assert opens(others) == [None] * len(others)


def test_a_row_opens_under_no_other_id_even_where_two_have_one_key() -> None:
    keys = arrow.Keyring({1: KEYS[1], 2: KEYS[1]})
    row = arrow.seal_column(TEXTS, keys=keys, key_ids=1)[0].as_py()
    moved = pyarrow.array([row[:4] + b"\2\0\0\0" + row[8:]])
    with pytest.raises(sealift.InvalidTag):
        arrow.open_column(moved, keys=keys)


def test_a_row_opens_under_no_other_version_even_where_two_have_one_key() -> None:
    keys = arrow.Keyring({1: [KEYS[1], KEYS[1]]})
    row = arrow.seal_column(TEXTS, keys=keys, key_ids=1)[0].as_py()
    moved = pyarrow.array([row[:2] + b"\0\0" + row[4:]])
    with pytest.raises(sealift.InvalidTag):
        arrow.open_column(moved, keys=keys)


def test_rows_that_change_places_do_not_open_where_their_row_is_bound() -> None:
    rows = sealed_rows(aad=[b"orders", ORDERS])
    swapped = [rows[1], rows[0], *rows[2:]]
    assert opens(swapped, aad=[b"orders", ORDERS]) == [None, None, b"", b"fourth"]
    assert opens(rows, aad=[b"orders", ORDERS]) == TEXTS.to_pylist()


@pytest.mark.parametrize("aad", [None, b"", b"others", [b"orders", b""], ORDERS])
def test_other_associated_data_opens_nothing(aad: Any) -> None:
    assert opens(sealed_rows(aad=b"orders"), aad=aad) == [None] * 4


@given(st.data())
def test_a_row_that_is_made_of_others_does_not_open(data: st.DataObject) -> None:
    rows = sealed_rows()
    (one, other), at = (
        data.draw(st.permutations(rows)).__getitem__(slice(2)),
        data.draw(st.integers(0, 60)),
    )
    made = one[:at] + other[at:]
    assume(made not in rows)
    assert opens([made]) == [None]


@given(st.lists(st.binary(max_size=80), max_size=20))
def test_random_bytes_do_not_open(rows: list[bytes]) -> None:
    assert opens(rows) == [None] * len(rows)


@pytest.mark.parametrize("layout", ["columns", "spark"])
def test_other_layouts_notice_changed_bits_wrong_ids_and_wrong_data(layout: Any) -> None:
    sealed = arrow.seal_column(TEXTS, keys=keyring(), key_ids=IDS, aad=b"bound", layout=layout)
    same: dict[str, Any] = {"key_ids": IDS, "aad": b"bound", "layout": layout, "on_error": "null"}
    assert arrow.open_column(sealed, keys=keyring(), **same).equals(TEXTS)
    for wrong in ({"key_ids": 3}, {"aad": b"other"}):
        opened = arrow.open_column(sealed, keys=keyring(), **{**same, **wrong})
        assert opened.null_count == 4
    swapped = sealed.take(pyarrow.array([1, 0, 3, 2]))
    assert arrow.open_column(swapped, keys=keyring(), **same).null_count == 4


def test_the_error_counts_what_did_not_open_and_names_the_first_rows() -> None:
    rows = sealed_rows()
    rows[1], rows[3] = rows[1][:-1] + b"\0", rows[3][:-1] + b"\1"
    column = pyarrow.chunked_array([pyarrow.array(rows[:2]), pyarrow.array(rows[2:])])
    with pytest.raises(sealift.InvalidTag) as caught:
        arrow.open_column(column, keys=keyring())
    assert caught.value.indices == (1, 3)


def seal(**options: Any) -> Callable[[], Any]:
    defaults = {"keys": keyring(), "key_ids": "customer"}
    return lambda: arrow.seal_column(TABLE, "payload", **{**defaults, **options})


class ReadStream:
    def __arrow_c_stream__(self, _: Any = None) -> Any:
        capsule = pyarrow.chunked_array([TEXTS]).__arrow_c_stream__()
        pyarrow.ChunkedArray._import_from_c_capsule(capsule)
        return capsule


class TakenArray:
    def __arrow_c_array__(self, _: Any = None) -> Any:
        capsules = TEXTS.__arrow_c_array__()
        pyarrow.Array._import_from_c_capsule(*capsules)
        return TEXTS.__arrow_c_array__()[0], capsules[1]


class TakenSchema:
    def __arrow_c_array__(self, _: Any = None) -> Any:
        capsules = TEXTS.__arrow_c_array__()
        pyarrow.DataType._import_from_c_capsule(capsules[0])
        return capsules


def failing_stream() -> Any:
    schema = pyarrow.schema({"payload": pyarrow.binary()})

    def batches() -> Any:
        yield pyarrow.record_batch([TEXTS], schema=schema)
        raise LookupError("no more rows")

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def dictionary_of(values: list[Any], codes: list[int]) -> Any:
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes), pyarrow.array(values))


def rows_without(id_: int, version: int = 0) -> Callable[[], Any]:
    """Opens rows under a keyring without this version of an id."""
    keys = {key: {0: value, 1: value} for key, value in KEYS.items()}
    sealed = arrow.seal_column(TABLE, "payload", keys=arrow.Keyring(keys), key_ids="customer")
    del keys[id_][version]
    if not version:
        del keys[id_]
    return lambda: arrow.open_column(sealed, "payload", keys=arrow.Keyring(keys))


TEXT: Any = "0" * 32
LIST: Any = [KEYS[1]]
CBC: Any = "AES-CBC"
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a column of another type": (
        lambda: arrow.seal_column(TABLE, "price", keys=keyring(), key_ids="customer"),
        *(TypeError, "price is a column of .*[Ff]loat.*: give binary or string"),
    ),
    "a list": (
        lambda: arrow.seal_column([b"text"], keys=keyring(), key_ids=1),
        *(TypeError, "the column is (a )?list: give an Arrow array"),
    ),
    "a truth value as id": (
        lambda: arrow.seal_column(TEXTS, keys=keyring(), key_ids=True),
        *(TypeError, "key_ids is (a )?bool: give an int, a str or bytes for all rows, or an Arrow"),
    ),
    "a series of another type": (
        lambda: arrow.seal_column(polars.Series("price", [1]), keys=keyring(), key_ids=1),
        *(TypeError, "price is a column of .*64.*: give binary or string"),
    ),
    "a series of numbers of pandas": (
        lambda: arrow.seal_column(pandas.Series([1], name="price"), keys=keyring(), key_ids=1),
        *(TypeError, "price is a column of .*64.*: give binary or string"),
    ),
    "a table without a column": (
        lambda: arrow.seal_column(TABLE, keys=keyring(), key_ids="customer"),
        *(TypeError, "data is Table and column is None: name the column of a Table"),
    ),
    "an array with a column": (
        lambda: arrow.seal_column(TEXTS, "payload", keys=keyring(), key_ids=1),
        *(TypeError, "data is BinaryArray and column is 'payload': .* none of an array"),
    ),
    "a lazy frame": (
        lambda: arrow.seal_column(polars.LazyFrame(), "payload", keys=keyring(), key_ids=1),
        *(TypeError, "data is LazyFrame .*; a LazyFrame takes seal_expression"),
    ),
    "keys that are no keyring": (
        seal(keys=KEYS),
        *(TypeError, "keys is dict: give a Keyring"),
    ),
    "an unknown column": (
        lambda: arrow.seal_column(TABLE, "paylod", keys=keyring(), key_ids="customer"),
        *(sealift.InputError, "there is no column 'paylod' in the table: it has 'order'"),
    ),
    "an unknown column of ids": (
        seal(key_ids="tenant"),
        *(sealift.InputError, "there is no column 'tenant'"),
    ),
    "an unknown column of associated data": (
        seal(aad="orders"),
        *(
            sealift.InputError,
            "there is no column 'orders' in the table: it has 'order', .*; bytes",
        ),
    ),
    "ids of another type": (
        seal(key_ids="price"),
        *(TypeError, "key_ids of payload is a column of .*[Ff]loat.*: give integers, strings"),
    ),
    "associated data of another type": (
        seal(aad="price"),
        *(TypeError, "aad is a column of .*[Ff]loat.*: give binary or string"),
    ),
    "an int as associated data": (
        seal(aad=7),
        *(TypeError, "aad is int: give a str or bytes for all rows"),
    ),
    "an id that has no key": (
        seal(key_ids=9),
        *(sealift.InputError, "payload: row 0 has key id 9, which the keyring does not have"),
    ),
    "a stream that was read": (
        lambda: arrow.seal_column(ReadStream(), keys=keyring(), key_ids=1),
        *(sealift.InputError, "the column: its Arrow data was taken before: give"),
    ),
    "an array that was taken": (
        lambda: arrow.seal_column(TakenArray(), keys=keyring(), key_ids=1),
        *(sealift.InputError, "the column: its Arrow data was taken before: give"),
    ),
    "a schema that was taken": (
        lambda: arrow.seal_column(TakenSchema(), keys=keyring(), key_ids=1),
        *(sealift.InputError, "the column: its Arrow data was taken before: give"),
    ),
    "a column of numbers without rows": (
        lambda: arrow.seal_column(
            pyarrow.chunked_array([], pyarrow.int64()), keys=keyring(), key_ids=1
        ),
        *(TypeError, "the column is a column of Int64: give binary or string"),
    ),
    "ids of another type without rows": (
        lambda: arrow.seal_column(
            TEXTS[:0], keys=keyring(), key_ids=pyarrow.array([], pyarrow.float64())
        ),
        *(TypeError, "key_ids of the column is a column of Float64: give integers"),
    ),
    "an engine by its name": (
        seal(engine="cpu"),
        *(TypeError, r"engine is builtins.str: give a sealift.Engine"),
    ),
    "a stream that fails": (
        lambda: arrow.seal_column(failing_stream(), keys=keyring(), key_ids=1),
        *(sealift.InputError, "the column: its Arrow stream ended with an error: .*no more rows"),
    ),
    "a null among the values of a dictionary": (
        seal(key_ids=dictionary_of([1, None, 2], [0, 2, 1, 0])),
        *(sealift.InputError, "payload: row 2 has .*null.* as its key id"),
    ),
    "a negative id in a dictionary": (
        seal(key_ids=dictionary_of([1, -5], [0, 1, 1, 0])),
        *(sealift.InputError, "payload: row 1 has -5 as its key id"),
    ),
    "numbers in a dictionary": (
        seal(key_ids=dictionary_of([1.5], [0, 0, 0, 0])),
        *(TypeError, "key_ids of payload is a column of Dictionary.*: give integers"),
    ),
    "a negative id": (
        seal(key_ids=pyarrow.array([1, 2, -3, 1])),
        *(sealift.InputError, "payload: row 2 has -3 as its key id"),
    ),
    "a null as an id": (
        seal(key_ids=pyarrow.array([1, 2, None, 1])),
        *(sealift.InputError, "payload: row 2 has .*null.* as its key id"),
    ),
    "a null in associated data": (
        seal(aad=pyarrow.array(["a", "b", None, "d"])),
        *(sealift.InputError, "payload: row 2 has a null among its associated data"),
    ),
    "too few ids": (
        seal(key_ids=pyarrow.array([1, 2])),
        *(sealift.InputError, "key_ids has 2 rows and the column has 4"),
    ),
    "too many rows of associated data": (
        seal(aad=pyarrow.array(["a"] * 5)),
        *(sealift.InputError, "aad has 5 rows and the column has 4"),
    ),
    "another layout": (
        seal(layout="rows"),
        *(sealift.InputError, "layout is .rows.: give"),
    ),
    "an id that is gone": (
        rows_without(2),
        *(sealift.InputError, "payload: row 1 has key id 2, which the keyring does not have"),
    ),
    "a version that is gone": (
        rows_without(2, 1),
        *(sealift.InputError, "payload: row 1 was sealed under version 1 of key 2"),
    ),
    "a column that was never sealed": (
        lambda: arrow.open_column(TABLE, "payload", keys=keyring()),
        *(sealift.InputError, "payload: row 0 is no sealed row: its first byte is 0x66"),
    ),
    "a row that is too short": (
        lambda: arrow.open_column(pyarrow.array([b"\x11\4"]), keys=keyring()),
        *(sealift.InputError, "row 0 is no sealed row: it has 2 bytes"),
    ),
    "ids that rows have": (
        lambda: arrow.open_column(TABLE, "payload", keys=keyring(), key_ids="customer"),
        *(sealift.InputError, 'layout "row" records ids: leave key_ids out'),
    ),
    "versions where rows record none": (
        seal(keys=arrow.Keyring({1: KEYS[1], 2: [KEYS[2], KEYS[3]]}), layout="columns"),
        *(sealift.InputError, "payload: columns records no version: give a keyring with one"),
    ),
    "another algorithm than Spark's": (
        seal(keys=arrow.Keyring(KEYS, algorithm="XAES-256-GCM"), layout="spark"),
        *(sealift.InputError, "payload: spark is AES-GCM"),
    ),
    "two parts of associated data for Spark": (
        seal(aad=["order", b"orders"], layout="spark"),
        *(sealift.InputError, "payload: spark .*"),
    ),
    "no ids where rows have none": (
        lambda: arrow.open_column(TABLE, "payload", keys=keyring(), layout="spark"),
        *(sealift.InputError, "key_ids"),
    ),
    "no string": (
        lambda: arrow.open_column(
            arrow.seal_column(pyarrow.array([b"a", b"\xff"]), keys=keyring(), key_ids=1),
            keys=keyring(),
            to="string",
        ),
        *(sealift.InputError, "row 1 is not UTF-8: open it as binary"),
    ),
    "a key of a wrong length": (
        lambda: arrow.Keyring({1: b"short"}),
        *(sealift.InputError, "key 1: .*5 bytes.*16, 24 or 32"),
    ),
    "ids of two kinds": (
        lambda: arrow.Keyring({**KEYS, **NAMED_KEYS}),
        *(sealift.InputError, "tenant 1"),
    ),
    "a key that is no bytes": (
        lambda: arrow.Keyring({1: TEXT}),
        *(TypeError, "key"),
    ),
    "keys that are no mapping": (
        lambda: arrow.Keyring(LIST),
        *(TypeError, "keys is (a )?list: give a mapping"),
    ),
    "another algorithm": (
        lambda: arrow.Keyring(KEYS, algorithm=CBC),
        *(sealift.InputError, "AES-CBC.*AES-GCM"),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_column_and_what_would_be_right(case: str) -> None:
    act, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        act()


def test_a_function_that_fails_to_find_a_key_fails_the_call_before_a_row_is_sealed() -> None:
    def find(customer: int) -> bytes:
        raise LookupError(f"no key for customer {customer}")

    with pytest.raises(LookupError, match="no key for customer 1"):
        arrow.seal_column(TABLE, "payload", keys=arrow.Keyring(find), key_ids="customer")


def test_a_struct_without_a_ciphertext_opens_to_a_null_and_not_to_an_empty_text() -> None:
    sealed = arrow.seal_column(TEXTS, keys=keyring(), key_ids=1, layout="columns")
    nonces, ciphertexts, tags = (sealed.field(name) for name in ("nonce", "ciphertext", "tag"))
    without = pyarrow.array([None, *ciphertexts.to_pylist()[1:]], pyarrow.binary())
    put_together = pyarrow.StructArray.from_arrays([nonces, without, tags], fields=sealed.type)
    opened = arrow.open_column(put_together, keys=keyring(), key_ids=1, layout="columns")
    assert opened.to_pylist() == [None, *TEXTS.to_pylist()[1:]]


@pytest.mark.parametrize("keys", [{}, lambda _: bytes(16)], ids=["none yet", "a function"])
def test_rows_without_values_are_sealed_in_three_columns_before_there_is_a_key(keys: Any) -> None:
    nothing = pyarrow.nulls(3, pyarrow.binary())
    ring = arrow.Keyring(keys)
    sealed = arrow.seal_column(nothing, keys=ring, key_ids=1, layout="columns")
    assert sealed.to_pylist() == [None] * 3


def test_a_row_that_names_another_algorithm_than_its_key_is_a_null_alone() -> None:
    rows = arrow.seal_column(TEXTS, keys=keyring(), key_ids=1).to_pylist()
    rows[1] = b"\x12" + rows[1][1:] + bytes(12)
    opened = arrow.open_column(pyarrow.array(rows), keys=keyring(), on_error="null")
    assert opened.to_pylist() == [TEXTS[0].as_py(), None, *TEXTS.to_pylist()[2:]]
