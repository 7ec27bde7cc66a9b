"""What the README shows is run as it is printed."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest

from conftest import skip
from run_report import ran
from sealift import arrow

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
WORDS_MAX = 900


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def _commands() -> list[str]:
    """Every command without its comment: lines after `$ `, or all lines of a block without one."""
    commands = []
    for block in _blocks("console"):
        lines = [line for line in block.splitlines() if line]
        marked = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        commands += [line.partition("#")[0].strip() for line in marked or lines]
    return commands


def test_it_has_at_most_900_words() -> None:
    assert len(TEXT.split()) <= WORDS_MAX


def test_every_block_says_what_it_is() -> None:
    fences = re.findall(r"^```(.*)$", TEXT, re.MULTILINE)
    assert set(fences[::2]) == {"python", "rust", "console"}
    assert set(fences[1::2]) == {""}


def test_the_python_blocks_run_and_the_batch_gives_what_the_loop_gives() -> None:
    if find_spec("cryptography") is None:
        skip("pyca", "cryptography is not installed: the README's loop is one over its class")
    ran("pyca")
    loop, batch, arrays, tables = _blocks("python")
    keys = [bytes([i % 3]) * 16 for i in range(9)]
    nonces = [bytes([i]) * 12 for i in range(9)]
    texts = [b"text " * i for i in range(9)]
    names: dict[str, Any] = {"keys": keys, "nonces": nonces, "texts": texts}
    exec(loop, names)
    sealed = names["sealed"]
    exec(batch, names)
    assert names["sealed"] == sealed
    exec(arrays, names)
    assert np.array_equal(np.asarray(names["opened"].text), names["texts"])
    assert not any(names["opened"].status)
    columns = {"customer": [17, 18, 17], "payload": [b"a", b"", None]}
    names |= {"key": bytes(16), "other_key": bytes(range(16)), "polars": polars}
    names |= {"table": pyarrow.table(columns), "frame": polars.DataFrame(columns)}
    exec(tables, names)
    for sealed in (names["table"], names["frame"]):
        opened = arrow.open_column(sealed, "payload", keys=names["keys"])
        assert polars.DataFrame(opened)["payload"].to_list() == columns["payload"]


@pytest.mark.parametrize("command", [line for line in _commands() if line.startswith("sealift ")])
def test_a_command_runs(command: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ended = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=3_600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_every_other_command_is_a_target_of_make() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    others = [line for line in _commands() if not line.startswith("sealift ")]
    assert others
    for command in others:
        make, target = command.split()
        assert make == "make"
        assert f"\n{target}:" in makefile
