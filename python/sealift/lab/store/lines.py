"""Files of lines, each an object of JSON, as a killed process may leave them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sealift.lab.store.errors import StoreError
from sealift.lab.store.shape import Record


@dataclass(frozen=True)
class Line:
    """One whole line.

    Attributes:
        record: What it holds.
        end: Offset of the first byte behind it.
    """

    record: Record
    end: int


@dataclass(frozen=True)
class Lines:
    """The whole lines of a file.

    Attributes:
        path: Of the file.
        lines: In order.
        torn: Whether there is a last line without its end, which is left out.
    """

    path: Path
    lines: tuple[Line, ...]
    torn: bool

    @property
    def end(self) -> int:
        """Offset of the first byte behind the last whole line."""
        return self.lines[-1].end if self.lines else 0

    def __iter__(self) -> Iterator[Line]:
        """The lines, in order."""
        return iter(self.lines)


def read_lines(path: Path, *, of: str | None = None) -> Lines:
    """Reads a file of lines; one that isn't there has none.

    Args:
        path: Of the file.
        of: The experiment whose lines are read, so that what others have measured costs each
            process no time; None for all lines.

    Raises:
        StoreError: If a line with an end is no object of JSON, or the file can't be read.
    """
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        whole = b""
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}; {HINT}") from error
    *texts, rest = whole.split(b"\n")
    lines, end = [], 0
    for number, text in enumerate(texts, start=1):
        end += len(text) + 1
        if of is not None and _is_anothers(text, of):
            continue
        lines.append(Line(Record.parse(text, f"{path}, line {number}", HINT), end))
    return Lines(path, tuple(lines), torn=bool(rest))


def _is_anothers(text: bytes, name: str) -> bool:
    """Whether a line is of another experiment, as far as its beginning tells."""
    return text.startswith(BEGIN) and not text.startswith(f'{BEGIN.decode()}{name}"'.encode())


BEGIN = b'{"experiment":"'
HINT = "cut the file before this line to keep what stands above it, and resume the run"
