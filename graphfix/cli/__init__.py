"""The command line: a thin layer over the API; one file per command, loaded when it is named."""

from __future__ import annotations

from graphfix.cli.program import main

__all__ = ["main"]
