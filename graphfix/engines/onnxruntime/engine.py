"""ONNX Runtime as an engine family: releases of it to deploy on."""

from __future__ import annotations

from types import MappingProxyType

from graphfix.engines.engine import Engine


class ONNXRuntime(Engine):
    """ONNX Runtime on the CPU."""

    family = "ort"
    title = "ONNX Runtime"
    spellings = ("onnxruntime",)
    order = 2
    example = "ort-1.10"
    own_words = MappingProxyType(
        {
            "stated-opset": "ort",
            "stated-opset-unknown": "ort",
            "stated-oldest-opset": "ort",
            "stated-ir": "ort",
            "stated-domain-version": "ort",
            "stated-function": "..ort-1.14",
            "stated-operator": "ort",
            "stated-form": "ort",
            "stated-types": "ort",
        }
    )

    def hint(self, alias: str) -> str:
        """Return which version to type."""
        return f"; type the version that you deploy, such as {self.example}"
