"""The experiments: one package a document, `own` for those of none; data, with their models."""
