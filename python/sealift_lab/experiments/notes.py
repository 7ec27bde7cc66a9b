"""Markdown beside the experiments."""

from importlib.resources import files


def read_notes(package: str, *names: str) -> str:
    """The files `NAME.md` of a package, one below the other.

    Args:
        package: The caller's `__package__`.
        names: Without `.md`.
    """
    texts = ((files(package) / f"{name}.md").read_text(encoding="utf-8") for name in names)
    return "\n".join(texts).strip()
