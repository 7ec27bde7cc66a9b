"""XAES-256-GCM and AES-GCM-SIV: one message, sessions and batches."""

import os
from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealift
from conftest import skip
from run_report import ran
from sealift import AESGCMSIV, XAES256GCM

XAES: Literal["XAES-256-GCM"] = "XAES-256-GCM"
SIV: Literal["AES-GCM-SIV"] = "AES-GCM-SIV"
KEY = bytes(range(32))
NONCE = b"ABCDEFGHIJKLMNOPQRSTUVWX"

texts = st.binary(max_size=2_048)
aads = st.none() | st.binary(max_size=100)


@pytest.fixture(scope="module")
def engine() -> sealift.Engine:
    return sealift.Engine()


def test_xaes_gives_the_vectors_of_the_specification() -> None:
    first = XAES256GCM(b"\x01" * 32).encrypt(NONCE, b"XAES-256-GCM", None)
    assert first.hex() == "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"
    second = XAES256GCM(b"\x03" * 32).encrypt(NONCE, b"XAES-256-GCM", b"c2sp.org/XAES-256-GCM")
    assert second.hex() == "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"


@given(texts, aads, st.binary(min_size=24, max_size=24))
def test_what_the_xaes_class_seals_a_session_opens(
    text: bytes, aad: bytes | None, nonce: bytes
) -> None:
    engine = sealift.Engine(["cpu"])
    session = engine.session(KEY, algorithm=XAES)
    sealed = XAES256GCM(KEY).encrypt(nonce, text, aad)
    assert engine.open_batch(session, [nonce], [sealed], aad) == [text]
    assert engine.seal_batch(session, [nonce], [text], aad) == [sealed]
    with pytest.raises(sealift.InvalidTag):
        XAES256GCM(KEY).decrypt(nonce[:23] + bytes([nonce[23] ^ 1]), sealed, aad)


@pytest.mark.parametrize("key_bytes", [16, 32])
@given(text=texts, aad=aads, nonce=st.binary(min_size=12, max_size=12))
def test_the_siv_class_is_as_that_of_pyca(
    key_bytes: int, text: bytes, aad: bytes | None, nonce: bytes
) -> None:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV as PYCA

        theirs = PYCA(KEY[:key_bytes])
    except Exception as error:  # Its OpenSSL may be older than 3.2.
        skip("pyca", f"{error}: its class is what ours is compared with")
    ran("pyca")
    ours = AESGCMSIV(KEY[:key_bytes])
    sealed = ours.encrypt(nonce, text, aad)
    # Older ones refuse an empty text.
    if text:
        assert sealed == theirs.encrypt(nonce, text, aad)
    assert ours.decrypt(nonce, sealed, aad) == text
    buf = bytearray(len(sealed))
    assert ours.encrypt_into(nonce, text, aad, buf) == len(sealed)
    assert bytes(buf) == sealed


def test_keys_and_nonces_of_other_lengths_are_refused_with_what_is_right() -> None:
    classes: list[tuple[Callable[[bytes], Any], list[int], int]] = [
        (XAES256GCM, [32], 24),
        (AESGCMSIV, [16, 32], 12),
    ]
    for make, lengths, nonce_bytes in classes:
        for key_bytes in (0, 15, 16, 24, 31, 32, 33):
            if key_bytes in lengths:
                make(bytes(key_bytes))
                continue
            with pytest.raises(ValueError, match=rf"{key_bytes} bytes.*{lengths[-1]} bytes"):
                make(bytes(key_bytes))
        for wrong in (0, 8, 12, 16, 24, 25):
            if wrong != nonce_bytes:
                with pytest.raises(ValueError, match=f"must have {nonce_bytes}"):
                    make(KEY).encrypt(bytes(wrong), b"text", None)
    assert len(XAES256GCM.generate_key()) == 32
    assert [len(AESGCMSIV.generate_key(bits)) for bits in (128, 256)] == [16, 32]
    with pytest.raises(ValueError, match="128 or 256"):
        AESGCMSIV.generate_key(192)


def test_a_session_says_its_algorithm_and_an_unknown_name_lists_all(
    engine: sealift.Engine,
) -> None:
    algorithms: list[Literal["AES-GCM", "XAES-256-GCM", "AES-GCM-SIV"]] = ["AES-GCM", XAES, SIV]
    for algorithm in algorithms:
        assert engine.session(KEY, algorithm=algorithm).algorithm == algorithm
    assert engine.session(KEY).algorithm == "AES-GCM"
    with pytest.raises(sealift.InputError, match="AES-GCM, XAES-256-GCM, AES-GCM-SIV"):
        engine.session(KEY, algorithm="AES-CBC")  # type: ignore[arg-type]
    with pytest.raises(sealift.InputError, match="an XAES-256-GCM key has 32 bytes"):
        engine.session(KEY[:16], algorithm=XAES)


@pytest.mark.parametrize("count", [1, 2, 50])
@pytest.mark.parametrize("keys_given", ["one", "each"])
def test_xaes_batches_without_nonces_draw_them(
    engine: sealift.Engine, count: int, keys_given: str
) -> None:
    keys = [os.urandom(32) for _ in range(count)]
    sessions = [engine.session(key, algorithm=XAES) for key in keys]
    chosen = sessions[0] if keys_given == "one" else sessions
    texts = [os.urandom(100) for _ in range(count)]
    sealed = engine.seal_batch(chosen, None, texts, b"aad")
    assert sealed.nonces is not None
    nonces = [sealed.nonces[at] for at in range(count)]
    assert {len(nonce) for nonce in nonces} == {24}
    assert len(set(nonces)) == len(sealed.nonces) == count
    assert engine.open_batch(chosen, nonces, sealed.text, b"aad") == texts
    assert engine.open_batch(chosen, sealed.nonces, sealed.text, b"aad") == texts
    # Drawn and given ones go together.
    again = engine.seal_batch(chosen, nonces, texts, b"aad")
    assert again == sealed.text
    one = XAES256GCM(keys[0])
    assert one.decrypt(nonces[0], again[0], b"aad") == texts[0]


def test_submitted_xaes_batches_draw_their_nonces_too(engine: sealift.Engine) -> None:
    session = engine.session(KEY, algorithm=XAES)
    sealed = engine.submit_seal(session, None, [b"one", b"other"]).result()
    assert sealed.nonces is not None
    opened = engine.submit_open(session, sealed.nonces, sealed.text).result()
    assert opened == [b"one", b"other"]


def test_only_nonces_of_aes_gcm_are_counted(engine: sealift.Engine) -> None:
    xaes, siv = engine.session(KEY, algorithm=XAES), engine.session(KEY, algorithm=SIV)
    with pytest.raises(sealift.InputError, match="draw 24 random bytes"):
        xaes.next_nonce()
    with pytest.raises(sealift.InputError, match="draw 24 random bytes"):
        xaes.next_nonces(3)
    with pytest.raises(sealift.InputError, match="a nonce may repeat"):
        siv.next_nonce()
    with pytest.raises(sealift.InputError, match="a nonce may repeat"):
        engine.seal_batch(siv, None, [b"text"])


def test_sessions_of_two_algorithms_in_one_batch_are_refused_with_both_names(
    engine: sealift.Engine,
) -> None:
    sessions = [engine.session(KEY), engine.session(KEY, algorithm=SIV)]
    with pytest.raises(sealift.SessionError, match=r"AES-GCM-SIV.*AES-GCM"):
        engine.seal_batch(sessions, [bytes(12)] * 2, [b"one", b"other"])
    assert [session.sealed for session in sessions] == [0, 0]


def test_shortened_tags_and_odd_nonces_are_for_aes_gcm_alone(engine: sealift.Engine) -> None:
    session = engine.session(KEY, algorithm=SIV)
    with pytest.raises(sealift.InputError, match="tags of 16 bytes"):
        engine.seal_batch(session, [bytes(12)], [b"text"], tag_length=12)
    with pytest.raises(sealift.InputError, match="nonces of other lengths"):
        engine.seal_batch(session, [bytes(16)], [b"text"], hazmat_nonces=True)
    with pytest.raises(sealift.InputError, match=r"nonce\[0\] has 16 bytes"):
        engine.seal_batch(session, [bytes(16)], [b"text"])


def test_batches_go_only_to_devices_that_have_the_algorithm(engine: sealift.Engine) -> None:
    session = engine.session(KEY, algorithm=SIV)
    texts = sealift.Fixed(bytes(64 * 100), 100)
    for _ in range(50):
        sealed = engine.seal_batch(session, sealift.Fixed(bytes(64 * 12), 12), texts)
        assert sealed.device == "library"


def test_a_device_without_the_algorithm_says_so() -> None:
    engine = sealift.Engine(["cpu"])
    session = engine.session(KEY, algorithm=SIV)
    with pytest.raises(sealift.LimitError, match="cpu does not compute AES-GCM-SIV"):
        engine.seal_batch(session, [bytes(12)], [b"text"])


def test_long_xaes_messages_on_several_threads_are_as_on_one() -> None:
    engine = sealift.Engine(["cpu"], threads=2)
    session = engine.session(KEY, algorithm=XAES)
    text = os.urandom(3 << 20)
    sealed = engine.seal_batch(session, [NONCE], [text])
    assert sealed == [XAES256GCM(KEY).encrypt(NONCE, text, None)]
    assert engine.open_batch(session, [NONCE], sealed) == [text]
    wrong = bytearray(sealed[0])
    wrong[100] ^= 1
    assert engine.open_batch(session, [NONCE], [wrong], on_error="mask") == [None]


def test_an_xaes_session_seals_beyond_the_limit_of_aes_gcm(engine: sealift.Engine) -> None:
    session = engine.session(KEY, algorithm=XAES, seals_max=2**32 + 1)
    engine.seal_batch(session, None, [b"text"] * 3)
    assert session.sealed == 3
    with pytest.raises(sealift.InputError, match="2"):
        engine.session(KEY, algorithm=SIV, seals_max=2**32 + 1)
