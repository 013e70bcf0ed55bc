"""Tessera as an engine family."""

from __future__ import annotations

import shlex
from importlib.metadata import version
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import NextStep, Written

if TYPE_CHECKING:
    from graphfix.engines.profile import Target
    from graphfix.ir.views import Value

# What pip is to install; it is here in any Python that has graphfix.
_LINES = (f"onnx=={version('onnx')}", "numpy")


class Tessera(Engine):
    """An engine that computes in Python, and calls int64 by another name."""

    family = "tessera"
    title = "Tessera"
    spellings = ("tess-rt",)
    requirements = {"tessera1.2": _LINES, "tessera2.0": _LINES}  # noqa: RUF012

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

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the name of the node that is before its words."""
        name, colon, _ = said.rpartition(": no kernel")
        return "", name.rpartition(" ")[2] if colon else ""
