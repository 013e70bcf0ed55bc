"""Operators of the standard that an engine lacks, by those that it has."""
