"""HTML from parts: text is escaped, markup is not, and nothing but these functions makes markup."""

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is markup already; what `+` and f-strings make of it is plain text again."""

    __slots__ = ()


def tag(name: str, *inside: str, **attributes: str | bool) -> Html:
    """An element.

    Args:
        name: Of the element.
        inside: What stands in it; a `str` is escaped, an `Html` is not.
        attributes: Underscores become hyphens, one at the end is dropped (`class_`); False leaves
            the attribute out, True writes it without a value.
    """
    written = "".join(_attribute(each) for each in attributes.items())
    return Html(f"<{name}{written}>{join(inside)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Parts one after the other; a `str` is escaped, an `Html` is not."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    numbers: Iterable[str] = (),
    class_: str = "",
) -> Html:
    """A table that scrolls by itself where it is wider than the page, and can be reached by key.

    Args:
        header: Names of the columns.
        rows: Cells; the first of each names its row.
        label: What the table holds, for those who can't see it.
        numbers: Columns whose cells are numbers.
        class_: Class of the table; rows of `CARDS` become cards where the page is narrow.
    """
    right = set(numbers)
    head = tag("tr", *(_head(name, right) for name in header))
    # Only cards need the column's name in every cell, and it is most of a large table.
    labels = header if class_ == CARDS else [""] * len(header)
    body = join(_row(list(zip(header, labels, row, strict=True)), right) for row in rows)
    inside = tag("table", tag("thead", head), tag("tbody", body), class_=class_ or False)
    return tag("div", inside, class_="wide", role="region", aria_label=label, tabindex="0")


def folded(summary: str, *inside: str, is_open: bool = False, class_: str = "") -> Html:
    """Content that is shown on demand."""
    return tag("details", tag("summary", summary), *inside, open=is_open, class_=class_ or False)


def _head(name: str, right: set[str]) -> Html:
    return tag("th", name, scope="col", class_="number" if name in right else False)


def _row(cells: Sequence[tuple[str, str, str]], right: set[str]) -> Html:
    (_, first_label, first), *others = cells
    return tag(
        "tr",
        tag("th", first, scope="row", data_label=first_label or False),
        *(
            tag("td", cell, data_label=label or False, class_="number" if name in right else False)
            for name, label, cell in others
        ),
    )


def _attribute(attribute: tuple[str, str | bool]) -> str:
    name, value = attribute
    if value is False:
        return ""
    written = name.removesuffix("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(value)}"'


CARDS = "cards"
