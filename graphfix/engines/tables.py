"""Engines that are known from published tables alone: nothing here was ever run in them.

A family of them is a folder with ``facts/``, a file for each of its targets, from which `python -m
graphfix.engines.listed_profiles` makes the profiles, and an ``engine.py`` that says how it is
called.
"""

from __future__ import annotations

from graphfix.engines.engine import Engine


class TabledEngine(Engine):
    """An engine of which only tables are known."""

    order = 90
    known = "tables"
    caution = "what is known of it is from tables alone: nothing here was ever run in the engine"
