"""OpenCV: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import reads_grids_of_nan_otherwise

GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "linear": frozenset({"border", "reflection", "zeros"}),
        "nearest": frozenset({"reflection", "zeros"}),
    },
    versions="opencv5.0..",
    source="measured on 5.0.0: facts/asked.json, grid-of-nan",
)
