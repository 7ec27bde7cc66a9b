"""The loop in Python against one call: every way seals to the same bytes, or isn't timed."""

from pathlib import Path

import pytest

import python_loop
from sealift_lab import Context, Scope, WrongResultError

CONTEXT = Context(seed=3, folder=Path())


def test_every_way_is_checked_and_can_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_loop, "MESSAGES", 2_048)
    python_loop.messages.cache_clear()
    for group in python_loop.EXPERIMENT.groups(Scope(quick=False, cores=1, devices=("cpu",))):
        for cell in group:
            sample = python_loop.EXPERIMENT.arm(cell, CONTEXT).sample(0.001)
            assert sample.bytes == 128 * sample.operations


def test_a_way_that_seals_to_other_bytes_is_never_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_loop, "MESSAGES", 2_048)
    python_loop.messages.cache_clear()
    monkeypatch.setattr(python_loop, "loop", lambda *_, **__: lambda: [b"other bytes"])
    cell = {"work": python_loop.MANY, "caller": "sealift loop, kept AESGCM"}
    with pytest.raises(WrongResultError, match="other bytes"):
        python_loop.EXPERIMENT.arm(cell, CONTEXT)
