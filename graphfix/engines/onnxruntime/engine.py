"""ONNX Runtime as an engine family: releases of it to deploy on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Loaded

if TYPE_CHECKING:
    from pathlib import Path

    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target


class ONNXRuntime(Engine):
    """ONNX Runtime on the CPU."""

    family = "ort"
    title = "ONNX Runtime"
    spellings = ("onnxruntime",)
    order = 2
    known = "measured"
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
        return "; type the version that you deploy, such as ort-1.10"

    def how_to_install(self, target: Target) -> str:
        """Return the line that installs the release."""
        return f"pip install onnxruntime=={'.'.join(map(str, target.version))}.*"

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to run the file."""
        from graphfix.engines.tables import provider_step

        return provider_step(written, '["CPUExecutionProvider"]')

    def means_installed(self, name: str | Target | Path) -> bool:
        """Say whether a name means the onnxruntime that is installed here."""
        from graphfix.engines.onnxruntime.installed import means_installed

        return means_installed(name)

    def installed(self) -> str:
        """Return major and minor version of the onnxruntime installed here."""
        from graphfix.engines.onnxruntime.installed import installed_minor

        return ".".join(map(str, installed_minor()))

    def load(self, model: Path, folder: str) -> Loaded:
        """Load a model in the onnxruntime installed here."""
        from graphfix.engines.onnxruntime.loading import load

        return load(model, folder)

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the operator and the name of the node that a message of onnxruntime names."""
        from graphfix.engines.onnxruntime.loading import blamed

        return blamed(said)
