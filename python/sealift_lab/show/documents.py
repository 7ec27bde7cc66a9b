"""Parts of the documents' pages as Markdown: charts as tables, published figures, where from."""

from sealift_lab.claim.answer import command_text, machine_text
from sealift_lab.claim.words import axis_title
from sealift_lab.model.experiment import Chart
from sealift_lab.model.results import Results
from sealift_lab.model.run import PlannedExperiment
from sealift_lab.run.folder import Run
from sealift_lab.show.charts import points, unit_of
from sealift_lab.show.tables import markdown, pivot_table


def chart_markdown(planned: PlannedExperiment, results: Results, chart: Chart) -> str:
    """A chart as a table: a line for each place, a column for each series, with intervals."""
    found = [
        (", ".join(filter(None, (point.panel, point.label))), point.series, point.figure)
        for point in points(planned, results, chart)
    ]
    return markdown(pivot_table(found, axis_title(planned, chart.x), unit_of(planned, chart)))


def source_markdown(run: Run, link: str) -> str:
    """Where and when figures were measured, and by which command.

    Args:
        run: The run folder.
        link: To it, from the page.
    """
    machine = machine_text(run.machine)
    command = command_text(run)
    return (
        f"Measured {run.plan.created[:10]}, {machine}; medians with 95 % intervals: `{command}`, "
        f"[all rows]({link})."
    )
