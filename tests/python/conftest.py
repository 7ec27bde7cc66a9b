"""What several test files need."""

import os
from typing import NoReturn

import pytest
from hypothesis import settings

import run_report
import sealift

# A busy machine is no failure. A machine that gates changes draws the same examples each time, so
# that it judges the change and not the draw; everywhere else each run draws others.
settings.register_profile("any machine", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("any machine")


def pytest_configure() -> None:
    """No test begins where SEALIFT_REQUIRE names what no test knows."""
    try:
        run_report.required()
    except run_report.UnknownNameError as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture(scope="session")
def engine() -> sealift.Engine:
    """One engine over everything that is present."""
    return sealift.Engine.detect()


def skip(what: str, reason: str) -> NoReturn:
    """Skips a test or a module for what is lacking here; fails where SEALIFT_REQUIRE names it.

    Where it is not lacking, `run_report.ran` says so.
    """
    run_report.skipped(what, reason)
    if what in run_report.required():
        pytest.fail(f"SEALIFT_REQUIRE names {what}, but {reason}")
    pytest.skip(reason, allow_module_level=True)
