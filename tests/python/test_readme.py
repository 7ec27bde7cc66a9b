"""What the README shows is run as it stands there."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import sealift
from conftest import skip

README = Path(__file__).parents[2] / "README.md"


def test_the_examples_run_and_the_batch_gives_what_the_loop_gives() -> None:
    if find_spec("cryptography") is None:
        skip("pyca", "cryptography is not installed: the README's loop is one over its class")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    keys = [bytes([i % 3]) * 16 for i in range(9)]
    nonces = [bytes([i]) * 12 for i in range(9)]
    texts = [b"text " * i for i in range(9)]
    names: dict[str, Any] = {"messages": list(zip(keys, nonces, texts, strict=True))}
    names |= {"keys": keys, "nonces": nonces, "texts": texts}
    exec(blocks[0], names)
    loop = names["sealed"]
    exec(blocks[1], names)
    assert names["sealed"] == loop
    names["session"] = names["engine"].session(sealift.AESGCM.generate_key(256))
    exec(blocks[2], names)
    assert np.array_equal(np.asarray(names["opened"].text), names["texts"])
    assert not any(names["opened"].status)
