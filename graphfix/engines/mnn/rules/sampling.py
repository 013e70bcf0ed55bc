"""MNN: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import reads_grids_of_nan_otherwise
from graphfix.engines.mnn.rules.wheel import WHEEL

GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "linear": frozenset({"border", "zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="mnn",
    source=WHEEL,
)
