"""MIGraphX of AMD."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class MIGraphX(TabledEngine):
    """The library with its own parser of ONNX files."""

    family = "migraphx"
    title = "MIGraphX"
    spellings = ("amdmigraphx", "amd-migraphx")
