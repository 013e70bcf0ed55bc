"""RKNN: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.grids_of_nan import reads_grids_of_nan_otherwise

GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "cubic": frozenset({"border", "reflection", "zeros"}),
        "linear": frozenset({"border", "reflection", "zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="rknn",
    source="measured in the simulator of rknn-toolkit2 2.3.2: a model for each mode and padding",
)
