"""MNN: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import misreads_grids_of_nan
from graphfix.engines.mnn.rules.wheel import WHEEL

GRID_OF_NAN = misreads_grids_of_nan(
    {
        "linear": frozenset({"border", "zeros"}),
        "nearest": frozenset({"zeros"}),
    },
    versions="mnn",
    source=WHEEL,
)
