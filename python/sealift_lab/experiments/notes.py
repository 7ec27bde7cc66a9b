"""Markdown beside the experiments: in each package a file `notes.md` with sections."""

from functools import cache
from importlib.resources import files


def read_notes(package: str, *names: str) -> str:
    """Sections by their headings, one below the other; `package` is the caller's `__package__`."""
    return "\n\n".join(_sections(package)[name] for name in names)


@cache
def _sections(package: str) -> dict[str, str]:
    _, *sections = f"\n{(files(package) / 'notes.md').read_text('utf-8')}".split("\n# ")
    return {name: text.strip() for name, _, text in (each.partition("\n") for each in sections)}
