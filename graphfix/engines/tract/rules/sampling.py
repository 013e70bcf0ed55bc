"""tract: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import misreads_grids_of_nan

GRID_OF_NAN = misreads_grids_of_nan(
    {
        "linear": frozenset({"border", "reflection", "zeros"}),
    },
    versions="tract",
    source="measured on 0.23.9: facts/asked.json, grid-of-nan",
)
