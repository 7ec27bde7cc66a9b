"""Batches in every column form against `AESGCM`, message by message."""

import array
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sealift
import sealift_lab._lab as lab
from sealift import AESGCM, Engine, Fixed, Offsets

Bytes2D = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages and their right answers."""

    keys: list[bytes]
    nonces: list[bytes]
    aads: list[bytes]
    texts: list[bytes]

    def sealed(self) -> list[bytes]:
        """What `AESGCM` makes of each."""
        rows = zip(self.keys, self.nonces, self.aads, self.texts, strict=True)
        return [AESGCM(key).encrypt(nonce, text, aad) for key, nonce, aad, text in rows]


def make(count: int, length: int | None, aad_length: int | None = None) -> Messages:
    """Random messages; all of one length, or of every length from 0."""
    return Messages(
        keys=[os.urandom(16 + 8 * (i % 3)) for i in range(count)],
        nonces=[os.urandom(12) for _ in range(count)],
        aads=[os.urandom(i % 40 if aad_length is None else aad_length) for i in range(count)],
        texts=[os.urandom(i * 7 % 300 if length is None else length) for i in range(count)],
    )


def sessions(engine: Engine, keys: Sequence[bytes]) -> list[sealift.Session]:
    """A session for each key."""
    return [engine.session(key) for key in keys]


def matrix(rows: Sequence[bytes]) -> Bytes2D:
    """Rows of one length as a 2-D array."""
    width = len(rows[0]) if rows else 0
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width)


def spread(rows: Sequence[bytes]) -> Bytes2D:
    """The same as a window of a wider table."""
    values = matrix(rows)
    table = np.full((values.shape[0], values.shape[1] + 9), 0xEE, np.uint8)
    table[:, 4:-5] = values
    return table[:, 4:-5]


def offsets(rows: Sequence[bytes]) -> Offsets:
    """Rows of any length behind each other, with something before and after."""
    ends = np.cumsum([3, *map(len, rows)]).astype(np.uint32)
    return Offsets(b"..." + b"".join(rows) + b".....", ends)


FORMS: dict[str, Callable[[Sequence[bytes]], Any]] = {
    "list of bytes": list,
    "tuple of bytes": tuple,
    "list of bytearrays": lambda rows: [bytearray(row) for row in rows],
    "list of arrays": lambda rows: [np.frombuffer(row, np.uint8) for row in rows],
    "mixed list": lambda rows: [
        (bytes, memoryview, bytearray)[i % 3](r) for i, r in enumerate(rows)
    ],
    "matrix": matrix,
    "window": spread,
    "memoryview": lambda rows: memoryview(b"".join(rows)).cast("B", matrix(rows).shape),
    "fixed": lambda rows: Fixed(b"".join(rows), len(rows[0])),
    "fixed with stride": lambda rows: Fixed(
        bytearray(b"##" + b"".join(row + b"#" for row in rows)[:-1]),
        len(rows[0]),
        stride=len(rows[0]) + 1,
        start=2,
    ),
    "offsets": offsets,
}
RAGGED = [name for name in FORMS if "list" in name or name in ("tuple of bytes", "offsets")]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_seals_and_opens_as_the_single_calls_do(engine: Engine, form: str) -> None:
    messages = make(50, 77, 13)
    check(engine, messages, FORMS[form])


@pytest.mark.parametrize("form", RAGGED)
def test_messages_of_all_lengths_seal_and_open_as_the_single_calls_do(
    engine: Engine, form: str
) -> None:
    check(engine, make(60, None), FORMS[form])


def check(engine: Engine, messages: Messages, form: Callable[[Sequence[bytes]], Any]) -> None:
    """Seals and opens in one form, tags behind the texts and apart, with results of our own."""
    held = sessions(engine, messages.keys)
    expected = messages.sealed()
    ciphers, tags = [s[:-16] for s in expected], [s[-16:] for s in expected]
    nonces, aads = form(messages.nonces), form(messages.aads)
    got = engine.seal_batch(held, nonces, form(messages.texts), aads)
    if isinstance(got, list):
        assert got == expected
    else:
        assert list(got.text) == ciphers
        assert list(got.tags) == tags
        assert got.status == bytes(len(expected))
    for sealed, apart in [(expected, None), (ciphers, form(tags))]:
        opened = engine.open_batch(held, nonces, form(sealed), aads, tags=apart)
        assert list(opened if isinstance(opened, list) else opened.text) == messages.texts
        assert not isinstance(opened, sealift.BatchResult) or opened.tags is None


lengths = st.integers(0, 70) | st.sampled_from([127, 128, 129, 1_024, 4_097])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(lengths, st.integers(0, 40)), max_size=40),
    st.sampled_from(RAGGED),
    st.sampled_from([4, 8, 12, 13, 14, 15, 16]),
    st.booleans(),
)
def test_any_batch_is_sealed_as_the_single_calls_do(
    shapes: list[tuple[int, int]],
    form: str,
    tag_length: int,
    raw: bool,  # noqa: FBT001
) -> None:
    engine = ENGINE
    messages = Messages(
        keys=[os.urandom(16 + 8 * (i % 3)) for i in range(len(shapes))],
        nonces=[os.urandom(12) for _ in shapes],
        aads=[os.urandom(aad) for _, aad in shapes],
        texts=[os.urandom(text) for text, _ in shapes],
    )
    keys: Any = list(messages.keys) if raw else sessions(engine, messages.keys)
    texts, aads = FORMS[form](messages.texts), FORMS[form](messages.aads)
    cut = 16 - tag_length
    expected = [sealed[: len(sealed) - cut] for sealed in messages.sealed()]
    got = engine.seal_batch(keys, messages.nonces, texts, aads, tag_length=tag_length)
    if not isinstance(got, list):
        got = [text + tag for text, tag in zip(got.text, got.tags, strict=True)]
    assert got == expected
    opened = engine.open_batch(keys, messages.nonces, got, aads, tag_length=tag_length)
    assert opened == messages.texts


@pytest.mark.parametrize("device", ["library", "reference"])
def test_a_named_device_gives_the_same(device: str) -> None:
    engine, messages = lab.Engine(), make(20, None)
    held = sessions(engine, messages.keys)
    got = engine.seal_batch(held, messages.nonces, messages.texts, messages.aads, device=device)
    assert got == messages.sealed()
    assert engine.records()[-1].device == device


def test_keys_come_as_session_sessions_ids_or_bytes(engine: Engine) -> None:
    key = os.urandom(16)
    messages = Messages([key] * 5, [os.urandom(12) for _ in range(5)], [b"h"] * 5, [b"text"] * 5)
    expected = messages.sealed()
    session = engine.session(key)
    ids = [session.id] * 5
    for keys in (
        session,
        [session] * 5,
        (session,) * 5,
        np.array(ids, np.uint64),
        np.array(ids, np.int64),
        np.array([7, session.id] * 5, np.uint64)[1::2],
        array.array("Q", ids),
        messages.keys,
        matrix(messages.keys),
        Fixed(key * 5, 16),
        offsets(messages.keys),
    ):
        assert engine.seal_batch(keys, messages.nonces, messages.texts, b"h") == expected


def test_no_messages_are_a_batch_too(engine: Engine) -> None:
    session, empty = engine.session(bytes(16)), np.zeros((0, 12), np.uint8)
    assert engine.seal_batch([], [], []) == []
    assert engine.open_batch(session, [], []) == []
    result = engine.seal_batch(session, empty, empty)
    assert (len(result), list(result.text), np.asarray(result.text).shape) == (0, [], (0, 12))


def test_texts_without_bytes_still_have_tags(engine: Engine) -> None:
    messages = make(3, 0, 5)
    held = sessions(engine, messages.keys)
    texts = np.zeros((3, 0), np.uint8)
    result = engine.seal_batch(held, messages.nonces, texts, messages.aads)
    assert list(result.tags) == messages.sealed()
    opened = engine.open_batch(held, messages.nonces, texts, messages.aads, tags=result.tags)
    assert np.asarray(opened.text).shape == (3, 0)


def test_results_go_where_the_caller_says_without_copies(engine: Engine) -> None:
    messages = make(40, 64, 9)
    held = sessions(engine, messages.keys)
    expected = messages.sealed()
    out, tags = np.zeros((40, 80), np.uint8), np.zeros((40, 24), np.uint8)
    result = engine.seal_batch(
        held,
        messages.nonces,
        matrix(messages.texts),
        messages.aads,
        out=out[:, 8:72],
        tags=tags[:, 4:20],
    )
    assert np.shares_memory(result.text, out)
    assert np.shares_memory(result.tags, tags)
    assert [bytes(row) for row in np.hstack([result.text, result.tags])] == expected
    assert not out[:, :8].any()
    assert not out[:, 72:].any()
    assert not tags[:, :4].any()
    assert not tags[:, 20:].any()


def test_our_columns_are_seen_by_numpy_without_copies(engine: Engine) -> None:
    messages = make(10, 32)
    held = sessions(engine, messages.keys)
    result = engine.seal_batch(held, messages.nonces, matrix(messages.texts), messages.aads)
    one, other = np.asarray(result.text), np.asarray(result.text)
    assert one.__array_interface__["data"] == other.__array_interface__["data"]
    assert (one.shape, one.flags.writeable) == ((10, 32), False)
    assert bytes(result.text) == b"".join(sealed[:-16] for sealed in messages.sealed())
    assert result.text[-1] == bytes(one[-1])
    with pytest.raises(IndexError, match="message 10 of a column of 10"):
        result.text[10]


def test_ragged_columns_say_where_messages_lie(engine: Engine) -> None:
    messages = make(10, None)
    held = sessions(engine, messages.keys)
    result = engine.seal_batch(held, messages.nonces, offsets(messages.texts), messages.aads)
    ends = np.cumsum([0, *map(len, messages.texts)])
    assert np.array_equal(np.asarray(result.text.offsets), ends)
    assert np.asarray(result.text).shape == (ends[-1],)
    assert result.tags.offsets is None
    again = Offsets(result.text, result.text.offsets)
    for sealed in (result.text, again):
        opened = engine.open_batch(held, messages.nonces, sealed, messages.aads, tags=result.tags)
        assert list(opened.text) == messages.texts


def test_a_list_of_texts_may_go_into_a_table(engine: Engine) -> None:
    messages = make(30, 40)
    held = sessions(engine, messages.keys)
    out = np.zeros((30, 40), np.uint8)
    result = engine.seal_batch(held, messages.nonces, messages.texts, messages.aads, out=out)
    assert result.text is out
    assert [bytes(row) for row in np.hstack([out, result.tags])] == messages.sealed()


@pytest.mark.parametrize("aad", ["apart", "inside"])
def test_a_table_is_sealed_and_opened_in_place(engine: Engine, aad: str) -> None:
    messages = make(200, 128, 4)
    held = sessions(engine, messages.keys)
    table = np.zeros((200, 4 + 12 + 128 + 16 + 3), np.uint8)
    table[:, :4], table[:, 4:16] = matrix(messages.aads), matrix(messages.nonces)
    table[:, 16:144] = matrix(messages.texts)
    before = table.copy()
    nonces, texts, tags = table[:, 4:16], table[:, 16:144], table[:, 144:160]
    aads: Any = table[:, :4] if aad == "inside" else messages.aads
    result = engine.seal_batch(held, nonces, texts, aads, out=texts, tags=tags)
    assert result.text is texts
    assert [bytes(row) for row in table[:, 16:160]] == messages.sealed()
    assert np.array_equal(table[:, :16], before[:, :16])
    assert not table[:, 160:].any()
    table[7, 150] ^= 1
    opened = engine.open_batch(held, nonces, texts, aads, tags=tags, out=texts, on_error="mask")
    assert opened.status == bytes(i == 7 for i in range(200))
    before[7, 16:144] = 0
    assert np.array_equal(table[:, :144], before[:, :144])


def test_fixed_and_offsets_are_worked_in_place(engine: Engine) -> None:
    messages = make(20, 50)
    held = sessions(engine, messages.keys)
    for form in (lambda b: Fixed(b, 50), lambda b: Offsets(b, range(0, 1_001, 50))):
        memory = bytearray(b"".join(messages.texts))
        place = form(memory)
        result = engine.seal_batch(held, messages.nonces, place, messages.aads, out=form(memory))
        assert bytes(memory) == b"".join(sealed[:-16] for sealed in messages.sealed())
        engine.open_batch(held, messages.nonces, place, messages.aads, tags=result.tags, out=place)
        assert bytes(memory) == b"".join(messages.texts)
        memory.extend(b"no longer held")


def test_tags_behind_the_ciphertexts_stay_there_in_place(engine: Engine) -> None:
    messages = make(30, 20, 2)
    held = sessions(engine, messages.keys)
    table = matrix(messages.sealed()).copy()
    table[4, 0] ^= 1
    tags = table[:, 20:].copy()
    result = engine.open_batch(
        held, messages.nonces, table, messages.aads, out=table, on_error="mask"
    )
    assert result.status == bytes(i == 4 for i in range(30))
    texts = [bytes(20) if i == 4 else text for i, text in enumerate(messages.texts)]
    assert [bytes(row) for row in table[:, :20]] == texts
    assert np.array_equal(table[:, 20:], tags)


def test_messages_that_do_not_open_are_masked_or_raised(engine: Engine) -> None:
    messages = make(9, 20)
    held = sessions(engine, messages.keys)
    sealed = messages.sealed()
    sealed[2] = sealed[2][:-1] + bytes([sealed[2][-1] ^ 1])
    sealed[5] = sealed[5][:15]
    rest = {"keys": held, "nonces": messages.nonces, "aad": messages.aads}
    masked = engine.open_batch(sealed=sealed, on_error="mask", **rest)  # type: ignore[call-overload]
    assert masked == [None if i in (2, 5) else text for i, text in enumerate(messages.texts)]
    with pytest.raises(sealift.InvalidTag, match=r"2 of 9 messages .* indices 2, 5") as raised:
        engine.open_batch(sealed=sealed, **rest)  # type: ignore[call-overload]
    assert raised.value.indices == (2, 5)
    column = engine.open_batch(sealed=offsets(sealed), on_error="mask", **rest)  # type: ignore[call-overload]
    assert column.status == bytes([0, 0, 1, 0, 0, 1, 0, 0, 0])
    assert (column.text[2], column.text[5], column.text[0]) == (bytes(20), b"", messages.texts[0])
    out = np.full((9, 20), 9, np.uint8)
    fixed = matrix([s.ljust(36, b"\0") for s in sealed])
    with pytest.raises(sealift.InvalidTag):
        engine.open_batch(sealed=fixed, out=out, **rest)  # type: ignore[call-overload]
    assert bytes(out[2]) == bytes(20)
    assert bytes(out[8]) == messages.texts[8]


def test_other_nonce_lengths_stand_behind_their_own_door(engine: Engine) -> None:
    key, nonces = bytes(16), [os.urandom(n) for n in (8, 12, 16, 128)]
    held = [engine.session(key)] * 4
    sealed = engine.seal_batch(held, nonces, [b"text"] * 4, hazmat_nonces=True)
    assert sealed == [AESGCM(key).encrypt(nonce, b"text", None) for nonce in nonces]
    assert engine.open_batch(held, nonces, sealed, hazmat_nonces=True) == [b"text"] * 4


ENGINE = Engine.detect()
