"""In which forms commands show and write what they have."""

from enum import StrEnum

from sealift.cli.said import fail
from sealift.exit_code import ExitCode


class Shown(StrEnum):
    """What goes to standard output."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Written(StrEnum):
    """What kind of file; the lab's export has a writer for each."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def shown(*, as_csv: bool, as_json: bool) -> Shown:
    """The form that `--csv` and `--json` ask for; both end the program."""
    if as_csv and as_json:
        fail(ExitCode.USAGE, "--csv and --json both want standard output; give one")
    return Shown.CSV if as_csv else Shown.JSON if as_json else Shown.TABLE
