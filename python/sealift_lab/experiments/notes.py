"""The texts of experiments: a `notes.md` a package, with a section an experiment."""

import re
from functools import cache
from importlib.resources import files
from typing import TypedDict


class Texts(TypedDict):
    """Of an experiment, as its keyword arguments."""

    name: str
    title: str
    question: str
    notes: str


def texts(package: str, name: str) -> Texts:
    """The section of an experiment: its title, its question quoted, and behind them its notes.

    A line `{NAME}` of the notes stands for another section; `package` is the caller's.
    """
    head, _, notes = _sections(package)[name].partition("\n\n")
    title, *question = (line.lstrip("#> ") for line in head.splitlines())
    notes = re.sub(r"(?m)^\{(.+)\}$", lambda match: _sections(package)[match[1]], notes)
    return Texts(name=name, title=title, question=" ".join(question), notes=notes)


def read_legend(package: str, name: str) -> dict[str, str]:
    """A section whose paragraphs say what each of several names stands for: `**NAME**: text`.

    `package` is the caller's `__package__`.
    """
    entries = (" ".join(each.split()) for each in _sections(package)[name].split("\n\n"))
    return dict(each.removeprefix("**").split("**: ", 1) for each in entries)


@cache
def _sections(package: str) -> dict[str, str]:
    _, *sections = f"\n{(files(package) / 'notes.md').read_text('utf-8')}".split("\n# ")
    return {name: text.strip() for name, _, text in (each.partition("\n") for each in sections)}
