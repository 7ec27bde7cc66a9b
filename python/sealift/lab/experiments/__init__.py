"""One file an experiment, each with its `EXPERIMENT`; `sealift.lab.registry` finds them."""
