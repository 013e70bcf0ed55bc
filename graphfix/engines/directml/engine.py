"""DirectML as a provider of ONNX Runtime."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class DirectML(TabledEngine):
    """The DirectML provider, on Windows."""

    family = "directml"
    title = "DirectML (ONNX Runtime)"
    spellings = ("ort-directml", "ort-dml", "dml")
