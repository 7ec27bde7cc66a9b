"""A run for a terminal: the answer in 15 lines, the findings, every row."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from sealift_lab.claim.answer import Answer, Bar
from sealift_lab.claim.replication import Pair
from sealift_lab.show.tables import Table, different_figures, summary_table


def answer_text(answer: Answer, width: int = 80) -> Group:
    """The answer in at most 15 lines and 80 words; the page has all.

    Remarks are left out from the last one on, and bars, until it fits.
    """
    console = Console(width=width, color_system=None)
    for bars, remarks in FEWER:
        group = Group(*_parts(answer, width, bars, remarks))
        with console.capture() as capture:
            console.print(group)
        text = capture.get()
        if len(text.split()) < WORDS_MOST and len(text.splitlines()) <= LINES_MOST:
            break
    return group


def table_text(table: Table) -> RichTable:
    """A table without lines around it."""
    text = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for at, title in enumerate(table.columns):
        text.add_column(title, justify="right" if at in table.numbers else "left")
    marks = table.marks or [""] * len(table.rows)
    for row, mark in zip(table.rows, marks, strict=True):
        text.add_row(*map(Text, row), style=STYLES.get(mark, ""))
    return text


def findings_text(findings: Mapping[str, str]) -> Group:
    """A line for each experiment: its name, and what was found."""
    return Group(*(Text.assemble((name, "bold"), f": {text}") for name, text in findings.items()))


def published_text(pairs: Sequence[Pair]) -> RenderableType:
    """Published figures by document, and which of them don't agree; nothing when there are none."""
    if not pairs:
        return ""
    note = JUDGED
    if others := different_figures(pairs):
        note += f" Different or contradicted: {', '.join(others)} (`sealift lab list` names them)."
    return _indented(
        Text("What the documents print, beside what was found here:"),
        table_text(summary_table(pairs)),
        Text(note, "dim"),
    )


def _parts(answer: Answer, width: int, bars: int, remarks: int) -> Iterator[RenderableType]:
    yield Text(answer.question)
    yield Text()
    one = ": ".join(filter(None, (answer.advice, answer.lead)))
    lines = [one] if len(one) <= width - INDENT else [answer.advice, answer.lead]
    first, *rest = filter(None, [*lines, answer.basis])
    yield _indented(Text(first, "bold"), *map(Text, rest))
    if answer.bars:
        yield Text()
        yield _indented(_bars(answer.bars, width, bars))
    yield Text()
    texts = [f"{each.text[:1].upper()}{each.text[1:]}." for each in answer.remarks[:remarks]]
    yield _indented(Text(" ".join(texts), "dim"))


def _bars(bars: Sequence[Bar], width: int, most: int) -> RichTable:
    """A bar for each arm; what doesn't fit is counted."""
    grid = RichTable.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    shown = bars if len(bars) <= most + 1 else bars[:most]
    fastest = max((bar.rate.value for bar in bars if bar.rate), default=1.0)
    longest = max(len(bar.claim.subject) for bar in shown)
    room = max(ROOM_LEAST, min(ROOM_MOST, width - INDENT - longest - TEXT_WIDTH))
    for bar in shown:
        if bar.rate is None:
            grid.add_row(Text(bar.claim.subject, "dim"), Text(ABSENT, "dim"))
            continue
        drawn = "█" * max(1, round(room * bar.rate.value / fastest))
        ink = "bold blue" if bar.is_winner else ""
        grid.add_row(Text(bar.claim.subject, ink), Text(drawn, ink or "dim"), Text(bar.text, ink))
    if len(shown) < len(bars):
        grid.add_row(Text(f"and {len(bars) - len(shown)} more", "dim"))
    return grid


def _indented(*parts: RenderableType) -> Padding:
    return Padding(Group(*parts), (0, 0, 0, INDENT))


INDENT = 2
# Bars and remarks.
FEWER = ((4, 5), (4, 4), (4, 3), (3, 3), (3, 2), (2, 2), (2, 1), (1, 1))
WORDS_MOST, LINES_MOST = 80, 15
ROOM_LEAST, ROOM_MOST, TEXT_WIDTH = 8, 28, 24
JUDGED = (
    "Agreed: within a tenth; points of a curve within 1.5 times, counts within their rounding, "
    "which is faster by the verdict. Not independent: fitted to the figure, or our reading of a "
    "sentence. Not judged: speeds of other machines, and what a model was given or can't reach."
)
ABSENT = "not in this machine"
STYLES = {"inconclusive": "dim", "wrong": "bold red"}
