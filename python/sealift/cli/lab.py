"""The package sealift-lab, where it is installed: its commands, its devices and its cards.

Nothing else of `sealift` imports it, and it is imported only when a command needs it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import typer

from sealift.cli.devices import INSTALL, absences
from sealift.cli.output import eprint, fail, parsed
from sealift.exit_code import ExitCode

Document = dict[str, Any]
"""The JSON of a command, or a part of it."""


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
    return command_of(module, name, getattr(module, "EXAMPLES", ""))


def command_of(module: ModuleType, name: str, epilog: str) -> Any:
    """The command of this name in a module; a module of several has a group `app`."""
    # A parent of its own, from which typer makes the command as it makes those of a group.
    parent = typer.Typer(rich_markup_mode=None)
    if hasattr(module, "app"):
        parent.add_typer(module.app, name=name)
    else:
        parent.command(name, epilog=epilog)(getattr(module, name))
    return typer.main.get_group(parent).commands[name]


def not_loaded() -> None:
    """Stands for a command in lists of commands and among names that are near."""


def extension() -> ModuleType:
    """The extension with the most devices: the lab's where it is built, or else the library's."""
    return import_module("sealift_lab._lab" if is_installed() else "sealift._sealift")


def present_devices(specs: Sequence[str]) -> list[str]:
    """Those that are present; prints why others are not, and ends the program where none is."""
    absent = parsed("--devices", lambda each: absences(extension(), each), specs)
    eprint(*absent.values())
    left = [spec for spec in specs if spec not in absent]
    if not left:
        fail(ExitCode.NOTHING_RAN, "no device is left; `sealift devices` shows them all")
    return left


def parse_cards(texts: Sequence[str]) -> list[Callable[[Document], Document]]:
    """Cards, by names or files: functions that project them beside an explanation, as JSON."""
    if not texts:
        return []
    if not is_installed():
        raise ValueError(f"cards are projected by the package sealift-lab: {INSTALL}")
    hardware = import_module("sealift_lab.cli.hardware")
    return [partial(hardware.project, card) for card in hardware.parse_cards(texts)]


COMMANDS = {
    "advise": "Measure where to encrypt.",
    "lab": "Experiments: run them, look at them, compare them.",
    "dpu": "Assemble, run and time DPU programs, simulated.",
}
# Of every group of commands.
GROUP: dict[str, Any] = {
    "no_args_is_help": True,
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "rich_markup_mode": None,
}
