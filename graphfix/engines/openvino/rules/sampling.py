"""OpenVINO: what reads pixels at places that are computed."""

from __future__ import annotations

from graphfix.engines.gridsample_nan import reads_grids_of_nan_otherwise

GRID_OF_NAN = reads_grids_of_nan_otherwise(
    {
        "linear": frozenset({"border", "reflection", "zeros"}),
        "nearest": frozenset({"border", "zeros"}),
    },
    versions="openvino2026.4..",
    source="measured on 2026.4.1: facts/asked.json, grid-of-nan",
)
