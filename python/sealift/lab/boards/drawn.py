"""The tables as figures: throughput by size for each number of threads, and all errors."""

from collections.abc import Sequence

from sealift.lab.boards.board import Board
from sealift.lab.boards.columns import (
    ERROR,
    LINES,
    ORIGINS,
    SIZE,
    Known,
    error,
    threads_text,
)
from sealift.lab.vega import Chart, Labels, Point, Scales


def charts(board: Board, known: Known) -> Sequence[Chart]:
    """For each number of threads the table by buffer size, and the errors of all of them."""
    threads = dict.fromkeys(spot.threads for spot in known)
    throughputs = [_throughput(board, count, known) for count in threads]
    errors = [_errors(board, name, known) for name in ORIGINS]
    return [*throughputs, *errors] if known else []


def _throughput(board: Board, threads: int, known: Known) -> Chart:
    points = [
        Point(spot.buffer_bytes, float(facts[name]), None, None, series, origin)
        for series, (name, origin) in LINES.items()
        for spot, facts in known.items()
        if spot.threads == threads
    ]
    title = f"{board.named}, {threads_text(threads)}"
    labels = Labels(title, SIZE.title, "Mbit/s", "", x_is_size=True)
    return Chart(points, labels, Scales(log_x=True, log_y=True))


def _errors(board: Board, name: str, known: Known) -> Chart:
    points = [
        Point(
            spot.buffer_bytes,
            error(facts, name),
            None,
            None,
            threads_text(spot.threads),
            ORIGINS[name],
        )
        for spot, facts in known.items()
    ]
    title = f"{board.named}: how far the {name.partition(',')[0]} is off"
    labels = Labels(title, SIZE.title, ERROR, "threads", x_is_size=True)
    return Chart(points, labels, Scales(log_x=True))
