"""Now `published`."""  # ruff: noqa: F401, F403

from sealift_lab.model.published import *
