"""Texts: names of devices and keys, and a `notes.md` a package, with a section an experiment."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TypedDict

from sealift_lab.model.arm import Value


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
    head, _, notes = read_notes(package, name).partition("\n\n")
    title, *question = (line.lstrip("#> ") for line in head.splitlines())
    notes = re.sub(r"(?m)^\{(.+)\}$", lambda match: read_notes(package, match[1]), notes)
    return Texts(name=name, title=title, question=" ".join(question), notes=notes)


def read_notes(package: str, *names: str) -> str:
    """Sections by their headings, one below the other; `package` is the caller's `__package__`."""
    return "\n\n".join(_sections(package)[name] for name in names)


def read_legend(package: str, name: str) -> dict[str, str]:
    """A section whose paragraphs say what each of several names stands for: `**NAME**: text`."""
    entries = (" ".join(each.split()) for each in read_notes(package, name).split("\n\n"))
    return dict(each.removeprefix("**").split("**: ", 1) for each in entries)


@cache
def _sections(package: str) -> dict[str, str]:
    _, *sections = f"\n{(files(package) / 'notes.md').read_text('utf-8')}".split("\n# ")
    return {name: text.strip() for name, _, text in (each.partition("\n") for each in sections)}


NAMES: Mapping[Value, str] = {
    "cpu": "Sealift's kernels",
    "library": "AWS-LC",
    "table": "table code",
    "ipp": "Intel IPP",
    "cpu:isa=aesni": "AES-NI",
    "cpu:isa=vaes256": "VAES, 256 bits",
    "cpu:isa=vaes512": "VAES, 512 bits",
    "cuda": "GPU (CUDA)",
    "opencl": "GPU (OpenCL)",
    "one": "one key",
    "sessions:1024": "1,024 keys",
    "fresh": "a fresh key each",
}
ADVICE: Mapping[Value, str] = {
    "cpu": "On your CPU, with Sealift's kernels",
    "library": "On your CPU, with AWS-LC",
    "ipp": "On your CPU, with Intel IPP",
    "cuda": "On your GPU, through CUDA",
    "opencl": "On your GPU, through OpenCL",
}
