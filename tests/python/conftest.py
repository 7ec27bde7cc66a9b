"""What several test files need."""

import pytest

import sealift


@pytest.fixture(scope="session")
def engine() -> sealift.Engine:
    """One engine over everything that is present."""
    return sealift.Engine.detect()
