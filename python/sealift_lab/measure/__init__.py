"""Measuring: arms, the one block loop, its process, and `python -m sealift_lab.measure`."""
