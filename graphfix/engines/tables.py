"""Engines that are known from published tables alone: nothing here was ever run in them.

A family of them is a folder with ``facts/``, a file for each of its targets, from which `python -m
graphfix.engines.listed_profiles` makes the profiles, and an ``engine.py`` that says how it is
called.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine

if TYPE_CHECKING:
    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target


class TabledEngine(Engine):
    """An engine of which only tables are known."""

    order = 90
    known = "tables"
    caution = "what is known of it is from tables alone: nothing here was ever run in the engine"


class TabledProvider(TabledEngine):
    """A provider of onnxruntime that is known from tables alone.

    Attributes:
        provider: What a session calls it, in Python; the CPU runs what it leaves.
    """

    provider: str = ""

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to run the file."""
        return provider_step(written, f'[{self.provider}, "CPUExecutionProvider"]')


def provider_step(written: Written, providers: str) -> NextStep | None:
    """Return how to run a file in onnxruntime, by providers that are given in Python."""
    from graphfix.engines.feeding import run_step

    template = Path(__file__).with_name("provider_feed.txt")
    return run_step(template, written, providers=providers)
