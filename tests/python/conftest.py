"""What several test files need."""

import pytest
from hypothesis import settings

import sealift

# A busy machine is no failure.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def engine() -> sealift.Engine:
    """One engine over everything that is present."""
    return sealift.Engine.detect()
