"""Counter mode by itself, against pyca's and with what it refuses."""

import os

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sealift import hazmat

KEY_BYTES = (16, 24, 32)


@pytest.mark.parametrize("key_bytes", KEY_BYTES)
def test_every_short_length_is_as_pyca_has_it(key_bytes: int) -> None:
    key, counter, text = os.urandom(key_bytes), os.urandom(16), os.urandom(1_100)
    for length in [*range(201), 511, 512, 513, 1_100]:
        expected = _pyca(key, counter, text[:length])
        assert hazmat.aes_ctr(key, counter, text[:length]) == expected, length
        assert hazmat.aes_ctr(key, counter, expected) == text[:length], length


@pytest.mark.parametrize(
    "counter", ["f" * 32, "0" * 24 + "f" * 8, "12" * 8 + "f" * 16, "f" * 31 + "0"]
)
def test_the_counter_carries_as_pyca_has_it(counter: str) -> None:
    key, first, text = os.urandom(32), bytes.fromhex(counter), os.urandom(700)
    assert hazmat.aes_ctr(key, first, text) == _pyca(key, first, text)


def test_any_bytes_like_object_will_do() -> None:
    key, counter, text = os.urandom(16), os.urandom(16), os.urandom(40_000)
    views = (bytearray(key), memoryview(counter), memoryview(text))
    assert hazmat.aes_ctr(*views) == hazmat.aes_ctr(key, counter, text)


def test_wrong_lengths_are_named() -> None:
    with pytest.raises(ValueError, match=r"15 bytes.*16, 24 or 32"):
        hazmat.aes_ctr(bytes(15), bytes(16), b"")
    for length in (0, 12, 17):
        with pytest.raises(ValueError, match=f"counter has {length} bytes: it must have 16"):
            hazmat.aes_ctr(bytes(16), bytes(length), b"")
    with pytest.raises(TypeError, match="data is str"):
        hazmat.aes_ctr(bytes(16), bytes(16), "text")  # type: ignore[arg-type]


def _pyca(key: bytes, counter: bytes, text: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    return encryptor.update(text) + encryptor.finalize()
