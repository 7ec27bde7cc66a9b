"""Runs: planned, carried out, and stored in a folder that can be read, resumed and replayed."""
