"""Comparisons, logic and bits that an engine lacks, by those that it has."""
