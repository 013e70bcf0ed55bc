"""XNNPACK as a provider of ONNX Runtime."""

from __future__ import annotations

from graphfix.engines.tables import TabledProvider


class Xnnpack(TabledProvider):
    """The XNNPACK provider."""

    family = "xnnpack"
    title = "XNNPACK (ONNX Runtime)"
    spellings = ("ort-xnnpack",)
    provider = '"XnnpackExecutionProvider"'
