"""Activation functions that an engine lacks, by those that it has."""
