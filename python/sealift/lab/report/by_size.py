"""What a message takes by its size on this machine, drawn, and which device wins where."""

from collections.abc import Collection

from sealift.lab.breakeven import Line, lines, real_records
from sealift.lab.by_size import chosen
from sealift.lab.fullest import BY_SIZE
from sealift.lab.report.chart import Series, line_chart
from sealift.lab.report.markup import Html, tag
from sealift.lab.report.material import Material
from sealift.lab.result import Row
from sealift.lab.wording import short_name, work_name


def rows_by_size(material: Material) -> list[Row]:
    """The rows that are drawn: one's own messages and the sizes beside them in full batches."""
    for shown in material.shown:
        if shown.is_of_the_lab and shown.experiment.name == BY_SIZE:
            kept = {id(each) for each in real_records(material.run, shown.records)}
            both = zip(shown.found.rows, shown.records, strict=True)
            rows = [row for row, each in both if id(each) in kept]
            if material.own is None:
                return chosen(rows)
            full = {id(row) for row in material.own.found.rows}
            # Messages of many lengths stand at their mean, beside those of one.
            return chosen([row for row in rows if id(row) in full], across={"workload"})
    return []


def section(material: Material) -> Html:
    """The chart and one sentence; nothing where sizes were not varied."""
    rows = rows_by_size(material)
    if material.answer is None or not rows:
        return Html()
    _, _, work = work_name(rows[0].cell).partition(", ")
    told = f"Time per message ({work}), lower is better. {material.answer.sizes}"
    advised = {bar.device for bar in material.answer.bars if bar.is_advised}
    drawn = [_series(line, advised) for line in lines(rows, ())]
    chart = line_chart(drawn, told)
    return tag(
        "section",
        tag("h2", "By message size"),
        tag("p", told, class_="muted"),
        chart,
        class_="card",
        id="by-size",
    )


def _series(line: Line, advised: Collection[str]) -> Series:
    points = [(spot.size_bytes, spot.ns.median, spot.ns.low, spot.ns.high) for spot in line.spots]
    return Series(short_name(line.device), points, line.device in advised)
