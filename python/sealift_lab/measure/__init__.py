"""Measuring: arms, the one block loop, its process and folder, `python -m sealift_lab.measure`."""
