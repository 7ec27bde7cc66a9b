"""Now `arm`."""  # ruff: noqa: F401, F403

from sealift_lab.model.arm import *
