"""A throughput model of GPUs: upper limits from machine code, projected and never measured."""
