"""`sealift.AESGCM` beside the class whose interface it has."""

import array
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealift
from conftest import skip
from run_report import ran
from sealift import AESGCM

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM as PYCA
except ModuleNotFoundError as error:
    skip("pyca", f"{error}: its class is what ours is compared with")
ran("pyca")

KEY = bytes(range(16))
NONCE = b"twelve bytes"

keys = st.sampled_from([16, 24, 32]).flatmap(lambda n: st.binary(min_size=n, max_size=n))
nonces = st.binary(min_size=12, max_size=12) | st.binary(min_size=8, max_size=128)
aads = st.none() | st.binary(max_size=300)
texts = st.binary(max_size=4_096)
kinds = st.sampled_from([bytes, bytearray, memoryview, lambda data: array.array("B", data)])


def outcome(call: Callable[[], object]) -> tuple[str, object]:
    """What a call returned, or the name of the type it raised."""
    try:
        return "returned", call()
    except Exception as error:
        return "raised", type(error).__name__


@given(keys, nonces, texts, aads, kinds)
def test_both_classes_encrypt_and_decrypt_alike(
    key: bytes, nonce: bytes, text: bytes, aad: bytes | None, kind: Callable[[bytes], Any]
) -> None:
    ours, theirs = AESGCM(kind(key)), PYCA(key)
    sealed = ours.encrypt(kind(nonce), kind(text), aad if aad is None else kind(aad))
    assert type(sealed) is bytes
    assert sealed == theirs.encrypt(nonce, text, aad)
    assert ours.decrypt(kind(nonce), kind(sealed), aad) == text
    buf, opened = bytearray(len(sealed)), bytearray(len(text))
    assert ours.encrypt_into(nonce, kind(text), aad, buf) == len(sealed)
    assert ours.decrypt_into(nonce, kind(sealed), aad, opened) == len(text)
    assert (bytes(buf), bytes(opened)) == (sealed, text)


@given(nonces, texts, aads, st.data())
def test_a_flipped_bit_opens_nothing(
    nonce: bytes, text: bytes, aad: bytes | None, data: st.DataObject
) -> None:
    sealed = bytearray(AESGCM(KEY).encrypt(nonce, text, aad))
    bit = data.draw(st.integers(0, 8 * len(sealed) - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(sealift.InvalidTag):
        AESGCM(KEY).decrypt(nonce, bytes(sealed), aad)
    with pytest.raises(InvalidTag):
        PYCA(KEY).decrypt(nonce, bytes(sealed), aad)
    out = bytearray(b"x" * len(text))
    with pytest.raises(sealift.InvalidTag) as raised:
        AESGCM(KEY).decrypt_into(nonce, sealed, aad, out)
    assert out == bytes(len(text))
    assert raised.value.indices == (0,)


WRONG: list[Any] = [
    "text of 16 bytes",
    None,
    3,
    1.5,
    [1] * 16,
    object(),
    b"",
    b"1234567",
    bytes(17),
    bytes(129),
    array.array("I", [1, 2, 3, 4]),
    array.array("b", bytes(16)),
    memoryview(bytes(32))[::2],
    memoryview(bytes(32)).cast("B", (2, 16)),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_both_classes_refuse_alike(wrong: Any) -> None:
    assert refusals(AESGCM, wrong) == refusals(PYCA, wrong)


def refusals(cipher_class: Any, wrong: Any) -> list[object]:
    """What happens with one strange value in every place where an argument goes."""
    cipher = cipher_class(KEY)
    sealed = cipher.encrypt(NONCE, b"text", None)
    calls: list[Callable[[], object]] = [
        lambda: type(cipher_class(wrong)) is cipher_class,
        lambda: cipher.encrypt(wrong, b"text", None),
        lambda: cipher.encrypt(NONCE, wrong, None),
        lambda: cipher.encrypt(NONCE, b"text", wrong),
        lambda: cipher.decrypt(wrong, sealed, None),
        lambda: cipher.decrypt(NONCE, wrong, None),
        lambda: cipher.decrypt(NONCE, sealed, wrong),
        lambda: cipher.encrypt_into(wrong, b"text", None, bytearray(20)),
        lambda: cipher.encrypt_into(NONCE, b"text", None, wrong),
        lambda: cipher.decrypt_into(wrong, sealed, None, bytearray(4)),
        lambda: cipher.decrypt_into(NONCE, sealed, None, wrong),
    ]
    return [outcome(call) for call in calls]


@pytest.mark.parametrize("method", ["encrypt", "decrypt", "encrypt_into", "decrypt_into"])
def test_both_classes_take_the_same_arguments(method: str) -> None:
    ours, theirs = getattr(AESGCM(KEY), method), getattr(PYCA(KEY), method)
    assert ours.__text_signature__ == theirs.__text_signature__
    for count in range(6):
        arguments = [NONCE, bytes(20), None, bytearray(36), b""][:count]
        assert outcome(partial(ours, *arguments)) == outcome(partial(theirs, *arguments))
    named: dict[str, Any] = {"nonce": NONCE, "data": bytes(4), "associated_data": None, "aad": None}
    assert outcome(lambda: ours(**named)) == outcome(lambda: theirs(**named))


@pytest.mark.parametrize("room", [0, 3, 5, 15, 19, 21, 40])
def test_both_classes_want_a_buffer_of_exactly_the_right_length(room: int) -> None:
    sealed = PYCA(KEY).encrypt(NONCE, b"text", None)
    for cipher in (AESGCM(KEY), PYCA(KEY)):
        buf = bytearray(b"x" * room)
        for call in (cipher.encrypt_into, cipher.decrypt_into):
            with pytest.raises(ValueError, match=r"must (be|have)"):
                call(NONCE, sealed if call == cipher.decrypt_into else b"text", None, buf)
        assert buf == b"x" * room


@pytest.mark.parametrize("bits", [128, 192, 256, 0, 127, -1, 2**40, True, 128.0, "128", None])
def test_both_classes_make_keys_alike(bits: Any) -> None:
    def shape(cipher_class: Any) -> tuple[str, object]:
        return outcome(lambda: (type(key := cipher_class.generate_key(bits)), len(key)))

    assert shape(AESGCM) == shape(PYCA)
    assert AESGCM.generate_key(128) != AESGCM.generate_key(bit_length=128)


def test_buffers_that_cannot_be_written_to_are_refused() -> None:
    for cipher in (AESGCM(KEY), PYCA(KEY)):
        for buf in (bytes(20), memoryview(bytes(20))):
            with pytest.raises(TypeError):
                cipher.encrypt_into(NONCE, b"text", None, buf)
        with pytest.raises(BufferError):
            cipher.encrypt_into(NONCE, b"text", None, memoryview(bytearray(40))[::2])


@given(st.integers(0, 300), st.integers(-40, 40), st.booleans())
def test_data_may_lie_in_the_buffer_in_any_way(length: int, shift: int, open_it: bool) -> None:  # noqa: FBT001
    cipher, text = AESGCM(KEY), os.urandom(length)
    sealed = PYCA(KEY).encrypt(NONCE, text, None)
    given, wanted = (sealed, text) if open_it else (text, sealed)
    memory = bytearray(400 + 80)
    at = 40
    memory[at + shift : at + shift + len(given)] = given
    data = memoryview(memory)[at + shift : at + shift + len(given)]
    buf = memoryview(memory)[at : at + len(wanted)]
    work = cipher.decrypt_into if open_it else cipher.encrypt_into
    assert work(NONCE, data, None, buf) == len(wanted)
    assert bytes(buf) == wanted


def test_nonce_and_associated_data_may_lie_in_the_buffer_too() -> None:
    memory = bytearray(os.urandom(60))
    view = memoryview(memory)
    nonce, aad, text = bytes(view[4:16]), bytes(view[10:30]), bytes(view[2:46])
    AESGCM(KEY).encrypt_into(view[4:16], view[2:46], view[10:30], view)
    assert bytes(memory) == PYCA(KEY).encrypt(nonce, text, aad)


def test_a_failed_decryption_in_place_leaves_zeros() -> None:
    memory = bytearray(AESGCM(KEY).encrypt(NONCE, b"secret text", None))
    memory[-1] ^= 1
    tag = bytes(memory[-16:])
    with pytest.raises(sealift.InvalidTag):
        AESGCM(KEY).decrypt_into(NONCE, memory, None, memoryview(memory)[:-16])
    assert bytes(memory) == bytes(11) + tag


def test_errors_name_the_argument_and_what_would_be_right() -> None:
    cipher, anything = AESGCM(KEY), cipher_of_any(AESGCM(KEY))
    with pytest.raises(TypeError, match="data is str where bytes belong: encode it"):
        anything.encrypt(NONCE, "text", None)
    with pytest.raises(ValueError, match="nonce has 7 bytes: it must have 8 to 128"):
        cipher.encrypt(bytes(7), b"", None)
    with pytest.raises(ValueError, match="key of 15 bytes: an AES-GCM key has 16, 24 or 32"):
        AESGCM(bytes(15))
    with pytest.raises(ValueError, match="buf has 3 bytes: it must have exactly 20"):
        cipher.encrypt_into(NONCE, b"text", None, bytearray(3))
    with pytest.raises(sealift.InvalidTag, match="tag does not belong"):
        cipher.decrypt(NONCE, b"short", None)


def cipher_of_any(cipher: AESGCM) -> Any:
    """For calls that no type checker would allow."""
    return cipher


def test_it_is_as_closed_as_the_other() -> None:
    for cipher in (AESGCM(KEY), PYCA(KEY)):
        with pytest.raises(AttributeError):
            cipher.other = 1  # type: ignore[union-attr]
    with pytest.raises(TypeError):
        type("Mine", (AESGCM,), {})
    assert KEY.hex() not in repr(AESGCM(KEY))


def test_long_messages_leave_the_gil_and_stay_right() -> None:
    text = os.urandom(1 << 20)
    sealed = AESGCM(KEY).encrypt(NONCE, text, b"aad")
    assert sealed == PYCA(KEY).encrypt(NONCE, text, b"aad")
    assert AESGCM(KEY).decrypt(NONCE, bytearray(sealed), b"aad") == text
