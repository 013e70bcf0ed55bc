"""Passes about local functions."""
