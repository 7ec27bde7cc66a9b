"""The package sealift-lab, where it is installed: its commands, its devices and its cards.

Nothing else of `sealift` imports it, and it is imported only when a command needs it.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol

import typer

from sealift.cli.output import fail
from sealift.exit_code import ExitCode


class Projection(Protocol):
    """A device that is not on this machine, as `sealift explain` shows it."""

    name: str

    def entry(self, messages: int, message_bytes: int, best_ns: float) -> dict[str, object]:
        """The JSON of a batch that takes `best_ns` on the device that gets it."""

    def row(self, entry: dict[str, object]) -> tuple[str, ...]:
        """The row of the table."""

    def remark(self, entry: dict[str, object], device: str, policy: str) -> str:
        """Whether it would get the batch instead of that device, and by how much."""

    def sources(self) -> str:
        """Where its constants come from."""


def is_installed() -> bool:
    """Whether the package is there with its extension; it is not imported."""
    spec = find_spec("sealift_lab")
    if spec is None or not spec.submodule_search_locations:
        return False
    return PathFinder.find_spec("sealift_lab._lab", spec.submodule_search_locations) is not None


def load_command(name: str) -> Any:
    """A command of the lab; ends the program where the package is not installed."""
    if not is_installed():
        fail(ExitCode.USAGE, f"`sealift {name}` comes with the package sealift-lab: {INSTALL}")
    module = import_module(f"sealift_lab.cli.{name}")
    # A parent of its own, from which typer makes the command as it makes those of the root.
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name)
    else:
        parent.command(name, epilog=getattr(module, "EXAMPLES", None))(getattr(module, name))
    return typer.main.get_group(parent).commands[name]


def extension() -> ModuleType:
    """The extension with the most devices: the lab's where it is built, or else the library's."""
    return import_module("sealift_lab._lab" if is_installed() else "sealift._sealift")


def parse_cards(texts: Sequence[str]) -> Sequence[Projection]:
    """Cards by their names, or by the files that describe them.

    Raises:
        ValueError: If one is unknown or its file is wrong, or the package is not installed.
    """
    if texts and not is_installed():
        raise ValueError(f"cards are projected by the package sealift-lab: {INSTALL}")
    return import_module("sealift_lab.cli.projection").parse_cards(texts) if texts else ()


INSTALL = "python -m pip install sealift-lab"
COMMANDS = {
    "advise": "Measure where to encrypt.",
    "lab": "Experiments: run them, look at them, compare them.",
    "dpu": "Assemble, run and time DPU programs, simulated.",
}
# Drivers that only the lab's extension has.
DRIVERS = frozenset({"cards", "fault", "null", "pim", "reference"})
