"""TVM: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import misreads_grids_of_nan

GRID_OF_NAN = misreads_grids_of_nan(
    {
        "linear": frozenset({"zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="tvm",
    source="measured on 0.27.0.post1: facts/asked.json, grid-of-nan",
)
