"""Keyrings: where their keys come from, and where they don't go."""

import pickle
import re
import threading
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


@pytest.mark.parametrize("keys", [[], {}, {3: KEYS[1], 70_000: KEYS[2]}, {-1: KEYS[1]}])
def test_versions_are_at_least_one_and_from_0_to_65535(keys: Any) -> None:
    with pytest.raises(sealift.InputError, match="key 7: version"):
        arrow.Keyring({7: keys})
