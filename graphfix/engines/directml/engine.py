"""DirectML as a provider of ONNX Runtime."""

from __future__ import annotations

from graphfix.engines.tables import TabledProvider


class DirectML(TabledProvider):
    """The DirectML provider, on Windows."""

    family = "directml"
    title = "DirectML (ONNX Runtime)"
    spellings = ("ort-directml", "ort-dml", "dml")
    shared = "all"
    provider = '"DmlExecutionProvider"'
