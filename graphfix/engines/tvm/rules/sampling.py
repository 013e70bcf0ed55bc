"""TVM: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import reads_grids_of_nan_otherwise

GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "linear": frozenset({"zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="tvm",
    source="measured on 0.27.0.post1: facts/asked.json, grid-of-nan",
)
