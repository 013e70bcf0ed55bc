"""TIDL of Texas Instruments."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class Tidl(TabledEngine):
    """TIDL, as ONNX Runtime on the device drives it."""

    family = "tidl"
    title = "TIDL"
    spellings = ("ti-tidl", "edgeai-tidl")
