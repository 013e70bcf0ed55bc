"""NNAPI as a provider of ONNX Runtime."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class Nnapi(TabledEngine):
    """The NNAPI provider, on Android."""

    family = "nnapi"
    title = "NNAPI (ONNX Runtime)"
    spellings = ("ort-nnapi",)
    shared = "main"
