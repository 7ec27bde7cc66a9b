"""The lab: what to run, how to measure it, what may be said about it.

Everything here is pure Python over plain numbers. The timed loops are native and reach the
lab through `bench.Sampler`; nothing in this folder imports the engine.
"""
