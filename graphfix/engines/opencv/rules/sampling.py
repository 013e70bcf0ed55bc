"""OpenCV: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import misreads_grids_of_nan

GRID_OF_NAN = misreads_grids_of_nan(
    {
        "linear": frozenset({"border", "reflection", "zeros"}),
        "nearest": frozenset({"reflection", "zeros"}),
    },
    versions="opencv5.0..",
    source="measured on 5.0.0: facts/asked.json, grid-of-nan",
)
