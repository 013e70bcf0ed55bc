"""XNNPACK as a provider of ONNX Runtime."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class Xnnpack(TabledEngine):
    """The XNNPACK provider."""

    family = "xnnpack"
    title = "XNNPACK (ONNX Runtime)"
    spellings = ("ort-xnnpack",)
