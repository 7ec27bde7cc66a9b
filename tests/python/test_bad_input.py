"""What bad input gets: the right exception, a message that helps, and outputs as they were."""

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sealift
import sealift_lab._lab as lab
from sealift import Engine, Fixed, InputError, Offsets

KEY = bytes(range(16))
NONCES = [bytes([i]) * 12 for i in range(3)]
TEXTS = [b"one text", b"2nd text", b"3rd text"]
SEALED = [sealift.AESGCM(KEY).encrypt(n, t, None) for n, t in zip(NONCES, TEXTS, strict=True)]
TABLE = np.frombuffer(b"".join(TEXTS), np.uint8).reshape(3, 8)


def window(rows: int = 3, width: int = 8) -> Any:
    """A writable table."""
    return np.full((rows, width), 0xA5, np.uint8)


def read_only() -> Any:
    """A table that can't be written to."""
    table = window()
    table.setflags(write=False)
    return table


def rows(count: int, width: int, stride: int = 0) -> Any:
    """So many rows in the memory of one, or far outside it: for calls that read none of them."""
    return np.lib.stride_tricks.as_strided(np.zeros(64, np.uint8), (count, width), (stride, 1))


def released() -> memoryview:
    """A view that has given its buffer back."""
    view = memoryview(bytes(8))
    view.release()
    return view


# Arguments that differ from a right call, the exception, and what its message must say.
BAD_SEALS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("str text", {"texts": ["a", "b", "c"]}, TypeError, r"texts\[0\] is str .* encode it"),
    ("str column", {"texts": "abc"}, TypeError, "texts is str where bytes belong: encode it"),
    ("str aad", {"aad": "header"}, TypeError, "aad is str where bytes belong: encode it"),
    ("str aad in a list", {"aad": [b"", b"", "h"]}, TypeError, r"aad\[2\] is str"),
    ("str nonce", {"nonces": [*NONCES[:2], "n" * 12]}, TypeError, r"nonces\[2\] is str"),
    ("str keys", {"keys": "k" * 16}, TypeError, "keys is str where bytes belong"),
    ("one key", {"keys": b"k" * 16}, TypeError, "keys is one byte string: give engine.session"),
    ("no column", {"texts": 7}, TypeError, "texts is int where a column belongs: give a list"),
    ("a generator", {"texts": (t for t in TEXTS)}, TypeError, "texts is generator"),
    ("flat bytes", {"nonces": b"".join(NONCES)}, TypeError, r"nonces .* 36 bytes .* 2-D buffer"),
    ("three dimensions", {"texts": np.zeros((3, 2, 2), np.uint8)}, TypeError, "3 dimension"),
    ("wide items", {"texts": TABLE.astype(np.uint16)}, TypeError, "2 bytes .*give unsigned bytes"),
    ("signed items", {"texts": TABLE.view(np.int8)}, TypeError, 'format "b"'),
    (
        "wide items in a list",
        {"texts": list(TABLE.astype("u4"))},
        TypeError,
        r"texts\[0\] has .* 4",
    ),
    ("rows with gaps", {"texts": window(3, 16)[:, ::2]}, BufferError, "rows that are not contig"),
    ("falling rows", {"texts": TABLE[::-1]}, BufferError, r"falling order \(stride -8\)"),
    (
        "item with gaps",
        {"texts": [memoryview(bytes(16))[::2]] * 3},
        BufferError,
        r"texts\[0\] is not",
    ),
    ("few nonces", {"nonces": NONCES[:2]}, InputError, "nonces has 2 entries .* 3 messages"),
    ("many rows of nonces", {"nonces": window(4, 12)}, InputError, "nonces has 4 entries"),
    ("few aads", {"aad": [b""]}, InputError, "aad has 1 entries"),
    ("few keys", {"keys": [KEY]}, InputError, "keys has 1 entries"),
    ("short nonce", {"nonces": [bytes(11)] * 3}, InputError, r"nonce\[0\] has 11 bytes: .* 12"),
    ("short raw key", {"keys": [KEY, KEY, bytes(15)]}, InputError, r"key\[2\] has 15 bytes: .* 16"),
    ("long nonce", {"nonces": [bytes(129)] * 3, "hazmat_nonces": True}, InputError, "129 bytes"),
    ("tag of 11 bytes", {"tag_length": 11}, InputError, "11 bytes: a GCM tag has 4, 8, 12"),
    ("tag of -1 byte", {"tag_length": -1}, InputError, "tag_length is -1"),
    ("unknown device", {"device": "libary"}, sealift.UnknownDeviceError, 'mean "library"'),
    (
        "unknown ids",
        {"keys": np.arange(3, dtype=np.uint64)},
        sealift.SessionError,
        "message 0 names",
    ),
    ("ids of floats", {"keys": np.zeros(3)}, TypeError, 'format "d": session ids are uint64'),
    ("big-endian ids", {"keys": np.zeros(3, ">u8")}, TypeError, r"keys .* big-endian: .*'<u8'"),
    ("ids in a table", {"keys": np.zeros((3, 1), np.uint64)}, TypeError, "2 dimensions"),
    ("tags alone", {"tags": window(3, 16)}, InputError, "only `tags` has a place"),
    ("a released view", {"texts": released()}, TypeError, "buffer can't be taken: .* released"),
    ("a released item", {"nonces": [released()] * 3}, TypeError, r"nonces\[0\] .* can't be taken"),
    ("a released aad", {"aad": released()}, TypeError, "aad is memoryview .* can't be taken"),
    ("released keys", {"keys": released()}, TypeError, "keys is memoryview .* can't be taken"),
    ("a ctypes array", {"aad": (ctypes.c_ubyte * 8)()}, TypeError, "c_ubyte_Array_8 .* taken: "),
    ("rows beyond all memory", {"texts": rows(3, 8, 2**62)}, InputError, "more than all addresses"),
    (
        "rows beyond half of it",
        {"texts": rows(2, 8, 2**63 - 4)},
        InputError,
        "2 rows of 8 bytes, 9223372036854775804 bytes apart",
    ),
    (
        "more messages than a batch takes",
        {"texts": rows(2**36, 0), "nonces": rows(2**36, 12)},
        InputError,
        "texts has 68719476736 messages: a batch takes at most 4294967295, split it",
    ),
    (
        "results without memory",
        {"texts": rows(2**31, 2**30), "nonces": rows(2**31, 12)},
        MemoryError,
        "out takes 2305843009213693952 bytes, and there is no memory for them: split the batch",
    ),
    (
        "tags without memory",
        {"texts": rows(2**32 - 1, 0), "nonces": rows(2**32 - 1, 12)},
        MemoryError,
        "tags takes 68719476720 bytes",
    ),
    (
        "ids without memory",
        {"keys": np.broadcast_to(np.uint64(1), 2**56)},
        MemoryError,
        "keys takes 576460752303423488 bytes",
    ),
    (
        "repeated nonce",
        {"nonces": [NONCES[0]] * 3, "check_nonces": True},
        InputError,
        "0 and 1 are",
    ),
    ("list as place", {"out": [bytearray(8)] * 3}, TypeError, "out is list: results go to a 2-D"),
    ("bytes as place", {"out": bytes(24)}, TypeError, "out is a buffer of 1 dimension"),
    ("read-only place", {"out": read_only()}, TypeError, "out is read-only: give a bytearray"),
    ("read-only Fixed", {"out": Fixed(bytes(24), 8)}, TypeError, "out is read-only"),
    ("str as place", {"out": "out"}, TypeError, "out is str where bytes belong"),
]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [pytest.param(*case[1:], id=case[0]) for case in BAD_SEALS],
)
def test_a_bad_seal_is_refused(
    engine: Engine, changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    session: Any = engine.session(KEY)
    arguments: dict[str, Any] = {"keys": session, "nonces": NONCES, "texts": TEXTS}
    with pytest.raises(error, match=message) as raised:
        engine.seal_batch(**{**arguments, **changed})
    assert type(raised.value) is error
    assert session.sealed == 0


BAD_OUTPUTS: list[tuple[str, Callable[[Any, Any], dict[str, Any]], str]] = [
    ("short rows", lambda out, _: {"out": out[:, :7]}, r"out\[0\] has room for 7 bytes and 8"),
    ("few rows", lambda out, _: {"out": out[:2]}, "out has 2 entries and the batch 3"),
    (
        "short tags",
        lambda out, tags: {"out": out, "tags": tags[:, :15]},
        r"tag\[0\] has room for 15",
    ),
    ("few tags", lambda out, tags: {"out": out, "tags": tags[:1]}, "tags has 1 entries"),
    (
        "rows over each other",
        lambda out, _: {"out": np.lib.stride_tricks.as_strided(out, (3, 8), (4, 1))},
        "outputs would overlap, give a stride of at least 8",
    ),
    (
        "tags in out",
        lambda out, _: {"out": out, "tags": out[:, 4:]},
        r"out\[0\] and tags\[0\] share",
    ),
    (
        "texts shifted",
        lambda out, _: {"texts": out[:, 1:9], "out": out[:, :8]},
        r"out\[0\] and texts",
    ),
    (
        "texts a row on",
        lambda out, tags: {
            "nonces": NONCES[:2],
            "texts": out[1:],
            "out": out[:2],
            "tags": tags[:2],
        },
        "share bytes",
    ),
    ("nonces in out", lambda out, _: {"nonces": out[:, 6:18], "out": out[:, :8]}, "nonces"),
    ("aad in out", lambda out, _: {"aad": out.reshape(-1)[5:9], "out": out}, "and aad share"),
    (
        "a nonce of a list in out",
        lambda out, _: {"nonces": list(out[:, :12]), "out": out},
        "nonces",
    ),
    ("keys in out", lambda out, _: {"keys": out[:, 2:18], "out": out}, "keys"),
]


@pytest.mark.parametrize(
    ("change", "message"), [pytest.param(*case[1:], id=case[0]) for case in BAD_OUTPUTS]
)
def test_a_bad_place_is_refused_and_not_written_to(
    engine: Engine, change: Callable[[Any, Any], dict[str, Any]], message: str
) -> None:
    session = engine.session(KEY)
    out, tags = window(3, 20), window(3, 16)
    changed = change(out, tags)
    arguments: dict[str, Any] = {"keys": session, "nonces": NONCES, "texts": TABLE, "tags": tags}
    with pytest.raises(InputError, match=message):
        engine.seal_batch(**{**arguments, **changed})
    assert (out == 0xA5).all()
    assert (tags == 0xA5).all()
    assert session.sealed == 0


BAD_OPENS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("unknown word", {"on_error": "ignore"}, InputError, 'on_error is "ignore": give "raise"'),
    ("str sealed", {"sealed": ["a"] * 3}, TypeError, r"sealed\[0\] is str"),
    ("short tags", {"tags": [bytes(15)] * 3}, InputError, r"tag\[0\] has 15 bytes .* says 16"),
    ("few tags", {"tags": [bytes(16)]}, InputError, "tags has 1 entries"),
    ("str tags", {"tags": "t" * 16}, TypeError, "tags is str"),
    ("few sealed", {"sealed": SEALED[:1]}, InputError, "nonces has 3 entries .* 1 messages"),
    ("unknown device", {"device": "gpu"}, sealift.UnknownDeviceError, 'called "gpu": there are'),
]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [pytest.param(*case[1:], id=case[0]) for case in BAD_OPENS],
)
def test_a_bad_open_is_refused(
    engine: Engine, changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    out = window()
    arguments = {"keys": engine.session(KEY), "nonces": NONCES, "sealed": SEALED, "out": out}
    with pytest.raises(error, match=message):
        engine.open_batch(**{**arguments, **changed})
    assert (out == 0xA5).all()


BAD_FORMS: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("negative length", lambda: Fixed(b"", -1), InputError, "length is -1: give 0 or more"),
    ("negative start", lambda: Fixed(b"", 1, start=-2), InputError, "start is -2"),
    ("no stride", lambda: Fixed(b"abc", 0), InputError, "a stride of 0 bytes"),
    ("start outside", lambda: Fixed(b"abc", 1, start=4), InputError, "3 bytes .* start at 4"),
    ("a rest", lambda: Fixed(bytes(25), 12), InputError, "after 2 messages .* 1 bytes are left"),
    ("a cut row", lambda: Fixed(bytes(23), 4, stride=10), InputError, "3 bytes are left"),
    ("str", lambda: Fixed(_any("text"), 4), TypeError, "buffer is str where bytes belong"),
    ("gaps", lambda: Fixed(memoryview(bytes(8))[::2], 4), BufferError, "not contiguous"),
    ("wide items", lambda: Fixed(np.zeros(4, np.uint64), 8), TypeError, "items of 8 bytes"),
    ("messages over each other", lambda: Fixed(bytes(11), 4, stride=2), InputError, "1 bytes are"),
    ("big-endian", lambda: Offsets(b"", np.zeros(1, ">u8")), TypeError, "offsets .* big-endian"),
    ("network order", lambda: Offsets(b"", np.zeros(1, ">i4")), TypeError, r"astype\('<u8'\)"),
    (
        "released",
        lambda: Offsets(b"", _any(released())),
        TypeError,
        "offsets is memoryview .* taken",
    ),
    ("a released buffer", lambda: Fixed(released(), 1), TypeError, "its buffer can't be taken"),
    (
        "offsets without memory",
        lambda: Offsets(b"", np.broadcast_to(np.uint64(0), 2**56)),
        MemoryError,
        "offsets takes 576460752303423488 bytes",
    ),
    (
        "a sequence without memory",
        lambda: Offsets(b"", range(2**56)),
        MemoryError,
        "offsets takes 576460752303423488 bytes",
    ),
    ("falling", lambda: Offsets(b"abc", [0, 2, 1]), InputError, "fall from 2 to 1 at message 1"),
    (
        "outside",
        lambda: Offsets(b"abc", [0, 4]),
        InputError,
        r"buffer\[0\] is bytes 0\.\.4 of .* 3",
    ),
    ("none", lambda: Offsets(b"abc", []), InputError, "one more than messages"),
    ("negative", lambda: Offsets(b"", np.array([-1, 0])), InputError, "an offset is -1"),
    ("negative int", lambda: Offsets(b"", [-1, 0]), TypeError, "integers from 0"),
    ("floats", lambda: Offsets(b"abc", np.array([0.0, 1.0])), TypeError, 'format "d"'),
    ("words", lambda: Offsets(b"abc", _any("ab")), TypeError, "sequence of integers"),
]


@pytest.mark.parametrize(
    ("make", "error", "message"), [pytest.param(*case[1:], id=case[0]) for case in BAD_FORMS]
)
def test_a_bad_form_is_refused(
    make: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_buffer_that_became_shorter_is_seen(engine: Engine) -> None:
    memory = bytearray(24)
    fixed, ends = Fixed(memory, 8), Offsets(memory, [0, 8, 16, 24])
    del memory[20:]
    for form in (fixed, ends):
        with pytest.raises(InputError, match="20 bytes"):
            engine.seal_batch(engine.session(KEY), NONCES, form)


def test_a_refused_buffer_names_its_cause(engine: Engine) -> None:
    with pytest.raises(TypeError, match="can't be taken") as raised:
        sealift.AESGCM(KEY).encrypt(NONCES[0], released(), None)
    assert isinstance(raised.value.__cause__, ValueError)
    with pytest.raises(TypeError, match="can't be taken") as raised:
        engine.session((ctypes.c_ubyte * 16)())
    assert isinstance(raised.value.__cause__, BufferError)


def test_a_closed_session_is_named(engine: Engine) -> None:
    session = engine.session(KEY)
    ids = np.array([session.id] * 3, np.uint64)
    session.close()
    session.close()
    for use in (
        lambda: engine.seal_batch(session, NONCES, TEXTS),
        lambda: engine.seal_batch([session] * 3, NONCES, TEXTS),
        session.next_nonce,
        lambda: session.sealed,
        lambda: session.algorithm,
    ):
        with pytest.raises(sealift.SessionError, match=r"session .* is closed: make another"):
            use()
    with pytest.raises(sealift.SessionError, match="does not have: it was dropped"):
        engine.seal_batch(ids, NONCES, TEXTS)


def test_a_session_of_another_engine_is_refused(engine: Engine) -> None:
    with pytest.raises(sealift.SessionError, match="belongs to another engine"):
        engine.seal_batch(Engine(["cpu"]).session(KEY), NONCES, TEXTS)


def test_mixed_sessions_and_keys_are_refused(engine: Engine) -> None:
    mixed: Any = [engine.session(KEY), KEY, KEY]
    with pytest.raises(TypeError, match=r"keys\[1\] is bytes among sessions"):
        engine.seal_batch(mixed, NONCES, TEXTS)


def test_a_session_stops_at_its_limit_before_anything_is_sealed(engine: Engine) -> None:
    session, out = engine.session(KEY, seals_max=5), window()
    engine.seal_batch(session, NONCES, TEXTS)
    with pytest.raises(
        sealift.SealLimitError, match=r"sealed 3 messages .* limit of 5 \(SP 800-38D"
    ):
        engine.seal_batch(session, NONCES, TABLE, out=out)
    assert (out == 0xA5).all()
    assert session.sealed == 3
    for limit, message in [(2**32 + 1, "limit of 4294967297"), (-1, "seals_max is -1")]:
        with pytest.raises(InputError, match=message):
            engine.session(KEY, seals_max=limit)


def test_a_batch_beyond_the_named_device_is_refused(engine: Engine) -> None:
    for device in engine.devices:
        if device.messages_max < 10:
            raise AssertionError(f"{device.name} takes only {device.messages_max} messages")
    with pytest.raises(sealift.DeviceError, match="name the one it wants"):
        lab.Engine(["null"]).seal_batch([KEY] * 3, NONCES, TEXTS)


def test_bad_keys_are_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="a key of 15 bytes: an AES-GCM key has 16, 24 or 32"):
        engine.session(bytes(15))
    with pytest.raises(TypeError, match="key is str where bytes belong: decode it"):
        engine.session(_any("k" * 16))


def test_a_key_in_hex_is_told_from_text(engine: Engine) -> None:
    for use in (engine.session, sealift.AESGCM):
        with pytest.raises(TypeError, match=r"it looks like hex, of which bytes\.fromhex"):
            use(_any("00ff" * 8))
    with pytest.raises(TypeError, match=r"texts\[0\] is str where bytes belong: encode it"):
        engine.seal_batch(engine.session(KEY), None, _any(["some text"]))


def test_tags_that_were_forgotten_are_asked_for(engine: Engine) -> None:
    session = engine.session(KEY)
    result = engine.seal_batch(session, None, np.zeros((10, 40), np.uint8))
    with pytest.raises(sealift.InvalidTag, match="give it as tags="):
        engine.open_batch(session, _any(result.nonces), result.text)
    wrong = np.array(result.tags)
    wrong[3] ^= 1
    with pytest.raises(sealift.InvalidTag) as raised:
        engine.open_batch(session, _any(result.nonces), result.text, tags=wrong)
    assert "tags=" not in str(raised.value)


def test_nonces_come_from_one_source(engine: Engine) -> None:
    given, counting = engine.session(KEY), engine.session(KEY)
    engine.seal_batch(given, NONCES[:1], TEXTS[:1])
    engine.seal_batch(counting, None, TEXTS[:1])
    with pytest.raises(sealift.SessionError, match="nonces that were given"):
        engine.seal_batch(given, None, TEXTS[:1])
    with pytest.raises(sealift.SessionError, match="that it counts itself"):
        engine.seal_batch(counting, NONCES[:1], TEXTS[:1])
    with pytest.raises(InputError, match="raw keys have no counter"):
        engine.seal_batch([KEY], None, TEXTS[:1])
    for wrong, message in (
        (-1, "count is -1"),
        (2**33, "give 0 to 4294967296"),
        ("1", "whole number"),
    ):
        with pytest.raises((InputError, TypeError), match=message):
            given.next_nonces(_any(wrong))


def test_unknown_devices_are_named_with_the_nearest(engine: Engine) -> None:
    with pytest.raises(
        sealift.UnknownDeviceError, match=r'no driver is called "cp": .* mean "cpu"'
    ):
        Engine(["cp"])
    with pytest.raises(sealift.UnknownDeviceError, match="ist"):
        Engine(["cpu:ist=vaes256"])
    with pytest.raises(sealift.UnknownDeviceError, match="is no device"):
        Engine(["cpu(("])
    with pytest.raises(sealift.UnknownDeviceError, match=r'"libary": .* did you mean "library"'):
        engine.counters("libary")
    for name in ("GPU", "h200", "NVIDIA-A100", "rtx4090", "Radeon", "mi300x"):
        gpus = rf'no driver is called "{name}": .*; did you mean "cuda" or "opencl"\?$'
        with pytest.raises(sealift.UnknownDeviceError, match=gpus):
            Engine([name])
    with pytest.raises(sealift.UnknownDeviceError, match=r'did you mean "cuda"\?$'):
        Engine(["CUDA:0"])
    with pytest.raises(sealift.UnknownDeviceError, match=r'called "gpu": there are cpu$'):
        Engine(["cpu"]).state("gpu")
    with pytest.raises(sealift.DeviceError, match="an engine needs a device"):
        Engine([])
    with pytest.raises(TypeError, match=r"devices is a str: give a list, \['cpu'\]"):
        Engine(_any("cpu"))
    with pytest.raises(TypeError, match="sequence of str"):
        Engine(_any([1]))
    with pytest.raises(TypeError, match="sequence of str"):
        Engine(_any(range(2**60)))


def test_what_cannot_be_made_by_hand_says_so() -> None:
    for name in ("Session", "Column", "BatchResult", "DeviceInfo", "Record", "Counters"):
        with pytest.raises(TypeError, match=r"No constructor|cannot create"):
            getattr(sealift, name)()


def test_no_message_shows_a_key(engine: Engine) -> None:
    secret = os.urandom(16)
    session = engine.session(secret)
    shown = f"{engine!r} {session!r} {sealift.AESGCM(secret)!r}"
    with pytest.raises(InputError) as raised:
        engine.seal_batch(session, [NONCES[0]] * 3, TEXTS, check_nonces=True)
    assert secret.hex() not in shown + str(raised.value)


def _any(value: object) -> Any:
    """For calls that no type checker would allow."""
    return value
