"""ONNX Runtime as an engine family: releases of it to deploy on."""

from __future__ import annotations

from graphfix.engines.engine import Engine


class ONNXRuntime(Engine):
    """ONNX Runtime on the CPU."""

    family = "ort"
    title = "ONNX Runtime"
    spellings = ("onnxruntime",)
    order = 2
    example = "ort-1.10"

    def hint(self, alias: str) -> str:
        """Return which version to type."""
        return f"; type the version that you deploy, such as {self.example}"
