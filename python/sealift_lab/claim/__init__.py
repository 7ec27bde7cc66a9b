"""What may be said of a run, as data, and the few templates that make words of it."""
