"""Runs: scheduled, carried out, and read, resumed and replayed from their folders."""
