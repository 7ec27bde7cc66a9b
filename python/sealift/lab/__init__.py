"""The lab: what to run, how to measure it, what may be said about it.

Pure Python over plain numbers, and the timed loops are native: they reach the lab through
`bench.Sampler`. Only `native`, which has them built, and `devices` import the engine.
"""
