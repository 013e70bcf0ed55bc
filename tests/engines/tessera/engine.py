"""Tessera as an engine family."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Meant, NextStep, Written

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.authoring.views import Value
    from graphfix.engines.profile import Target

    from .runner import TesseraRunner  # noqa: TID252


class Tessera(Engine):
    """An engine that computes in Python, and calls int64 by another name."""

    family = "tessera"
    title = "Tessera"
    spellings = ("tess-rt",)
    install = "pip install tessera"

    def element_type(self, value: Value, target: Target) -> str:
        """Return the element type that Tessera gives a tensor: it has no 64-bit integers."""
        return super().element_type(value, target).replace("int64", "int32")

    def type_text(self, element_type: str) -> str:
        """Return the name of an element type in Tessera's messages."""
        return f"T_{element_type.upper()}"

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return how to compile the file."""
        inputs, _ = written.contents()
        names = ",".join(name for name, _ in inputs)
        return NextStep(f"tessera {shlex.quote(written.path)} --feed {names}", "Compile it")

    def is_here(self) -> bool:
        """Say that every machine has it."""
        return True

    def open(self, model: ModelProto, path: Path, meant: Meant) -> TesseraRunner:
        """Return a model file in Tessera."""
        from .runner import TesseraRunner  # noqa: TID252 - the folder may have any name

        return TesseraRunner(path)
