"""CoreML as a provider of ONNX Runtime, in both formats of its models."""

from __future__ import annotations

from collections.abc import Mapping

from graphfix.engines.tables import TabledProvider


class CoreMLNeuralNetwork(TabledProvider):
    """The format that the provider writes unless it is told otherwise."""

    family = "coreml-nn"
    title = "CoreML, NeuralNetwork (ONNX Runtime)"
    spellings = ("ort-coreml-nn",)
    shared = "main"
    provider = '("CoreMLExecutionProvider", {"ModelFormat": "NeuralNetwork"})'

    def aliases(self) -> Mapping[str, str]:
        """Return the names of the newest version: ``coreml`` is the format of the default."""
        return {**super().aliases(), "coreml": self.names()[-1]}

    def hint(self, alias: str) -> str:
        """Return how to name the other format."""
        return "; type coreml-mlprogram for the other format"


class CoreMLProgram(TabledProvider):
    """The format that the provider writes for ``ModelFormat=MLProgram``."""

    family = "coreml-mlprogram"
    title = "CoreML, MLProgram (ONNX Runtime)"
    spellings = ("ort-coreml-mlprogram",)
    shared = "main"
    provider = '("CoreMLExecutionProvider", {"ModelFormat": "MLProgram"})'
