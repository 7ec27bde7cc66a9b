"""What options, arguments and examples say: the texts of help.toml."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import typer


def option(command: str, *flags: str, metavar: str | None = None) -> Any:
    """An option; its text stands under the command and its first flag."""
    return typer.Option(*flags, help=_texts()[command][flags[0]], metavar=metavar)


def argument(command: str, metavar: str) -> Any:
    """An argument; its text stands under the command and the name that users see."""
    return typer.Argument(help=_texts()[command][metavar], metavar=metavar)


def examples(command: str) -> str:
    """What stands below the options of a command, line by line as it is written; "" for none."""
    paragraphs = _texts()[command].get("examples", "").strip().split("\n\n")
    # \b keeps the lines as they are.
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in paragraphs if paragraph)


@cache
def _texts() -> dict[str, dict[str, str]]:
    text = (files("sealift_lab.cli") / "help.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
