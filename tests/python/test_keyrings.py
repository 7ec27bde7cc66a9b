"""Keyrings: where their keys come from, and where they don't go."""

import gc
import pickle
import re
import threading
import weakref
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import sealift
from column_cases import KEYS, keyring
from sealift import arrow

TEXTS = pyarrow.array([b"text"])


def test_a_keyring_is_not_pickled_and_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"path for Keyring\.from_file or a function"):
        pickle.dumps(keyring())


def test_keys_of_a_file_are_those_of_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(f'algorithm = "AES-GCM-SIV"\n[keys]\n1 = "{KEYS[1].hex()}"\n')
    path.chmod(0o600)
    keys = arrow.Keyring.from_file(path)
    keys.rotate(2, KEYS[2])
    for key_id in (1, 2):
        sealed = arrow.seal_column(TEXTS, keys=keys, key_ids=key_id)
        same = arrow.Keyring(KEYS, algorithm="AES-GCM-SIV")
        assert arrow.open_column(sealed, keys=same).equals(TEXTS)


def test_a_file_of_keys_is_read_only_where_nobody_else_can(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('[keys]\n1 = "00"\n')
    path.chmod(0o644)
    with pytest.raises(sealift.InputError, match=r"keys.toml: its mode is 644.*chmod 600"):
        arrow.Keyring.from_file(path)
    path.chmod(0o600)
    with pytest.raises(sealift.InputError, match=rf"{re.escape(str(path))}:2: .*1.*bytes"):
        arrow.Keyring.from_file(path)
    path.write_text(f'[keys]\n1 = "{KEYS[1].hex()}"\n01 = "{KEYS[2].hex()}"\n')
    with pytest.raises(sealift.InputError, match=":3: 01 is no id"):
        arrow.Keyring.from_file(path)
    path.write_text('algorithm = "XAES-256-GCM"\n')
    with pytest.raises(sealift.InputError, match=r"it has no keys: give a table \[keys\]"):
        arrow.Keyring.from_file(path)


def test_calls_that_find_the_same_id_at_once_both_seal() -> None:
    both = threading.Barrier(2)

    def find(_: int) -> bytes:
        both.wait(timeout=60)
        return KEYS[1]

    keys, sealed = arrow.Keyring(find), []
    calls = [
        threading.Thread(
            target=lambda: sealed.append(arrow.seal_column(TEXTS, keys=keys, key_ids=1))
        )
        for _ in range(2)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert [arrow.open_column(each, keys=keyring()) for each in sealed] == [TEXTS] * 2


def test_an_id_that_is_there_twice_is_refused() -> None:
    with pytest.raises(sealift.InputError, match='key id "one" is there twice'):
        arrow.Keyring({"one": KEYS[1], b"one": KEYS[2]})


def test_a_function_that_has_no_key_of_an_id_gives_none() -> None:
    keys = arrow.Keyring(KEYS.get)
    with pytest.raises(sealift.InputError, match="row 0 has key id 9, which the keyring does not"):
        arrow.seal_column(TEXTS, keys=keys, key_ids=9)
    row = arrow.seal_column(TEXTS, keys=keys, key_ids=1)[0].as_py()
    changed = row[:5] + b"\1" + row[6:]
    opened = arrow.open_column(pyarrow.array([row, changed]), keys=keys, on_error="null")
    assert opened.to_pylist() == [b"text", None]


def test_a_function_is_asked_again_for_a_version_that_is_missing() -> None:
    versions = [KEYS[1]]
    here, elsewhere = arrow.Keyring(lambda _: versions), arrow.Keyring({1: [KEYS[1], KEYS[2]]})
    old = arrow.seal_column(TEXTS, keys=here, key_ids=1)
    versions.append(KEYS[2])
    new = arrow.seal_column(TEXTS, keys=elsewhere, key_ids=1)
    for sealed in (old, new):
        assert arrow.open_column(sealed, keys=here).equals(TEXTS)


def test_a_key_at_the_place_of_an_id_is_not_shown() -> None:
    key = "SUPERSECRETKEY16"
    wrong: list[Any] = [{key: 7}, {key: b"short"}, {key.encode(): "x"}, {1: {key: KEYS[1]}}]
    for keys in wrong:
        with pytest.raises((TypeError, sealift.InputError)) as caught:
            arrow.Keyring(keys)
        assert "SUPER" not in str(caught.value)


def test_a_keyring_of_an_object_that_finds_its_keys_goes_with_it() -> None:
    class Service:
        def __init__(self) -> None:
            self.keys = arrow.Keyring(self.find)

        def find(self, key_id: int) -> bytes:
            return KEYS[key_id]

    service = weakref.ref(Service())
    gc.collect()
    assert service() is None


@pytest.mark.parametrize("keys", [[], {}, {3: KEYS[1], 70_000: KEYS[2]}, {-1: KEYS[1]}])
def test_versions_are_at_least_one_and_from_0_to_65535(keys: Any) -> None:
    with pytest.raises(sealift.InputError, match="key 7: version"):
        arrow.Keyring({7: keys})
