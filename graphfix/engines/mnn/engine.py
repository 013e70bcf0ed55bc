"""MNN as an engine family."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Fed, NextStep, Written
from graphfix.ir.printing import shell_line

if TYPE_CHECKING:
    from graphfix.engines.profile import Target

_LACKED = re.compile(r"Not Support: ONNX::(?P<op>\w+)")
_FAILED = re.compile(r"Convert Onnx's Op (?P<name>\S+) *, type = (?P<op>\w+)")


class MNN(Engine):
    """Alibaba's MNN, by its converter and its wheel for Python."""

    family = "mnn"
    title = "MNN"
    order = 11
    caution = (
        "its convolutions are off by up to 2e-3 of the largest number unless the runtime is set "
        "not to take large blocks for Winograd: rt.set_hint(3, 1), in C++ "
        "setSessionHint(Interpreter::WINOGRAD_MEMORY_LEVEL, 1), as is done here"
    )
    requirements = MappingProxyType({"mnn3.6": ("MNN==3.6.1", "numpy")})
    blaming = (_FAILED, _LACKED)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the line that converts the file with MNN's own converter, and how to run it."""
        from graphfix.engines.feeding import FEED, listed, program_of, quoted

        model = str(PurePath(written.path).with_suffix(".mnn"))
        words = ["MNNConvert", "-f", "ONNX", "--modelFile", written.path, "--MNNModel", model]
        words += ["--bizCode", "graphfix"]
        program = program_of(
            Path(__file__).with_name(FEED),
            written,
            _taken,
            convert=listed(words),
            model=quoted(model),
        )
        return NextStep(shell_line(words), "convert it for MNN", program=program)


def _taken(fed: Fed) -> Fed:
    """Return an input in the types that MNN has."""
    kind = "float32" if fed.element_type in ("float16", "float64") else fed.element_type
    if kind == "bool" or kind.removeprefix("u") in ("int16", "int32", "int64"):
        kind = "int32"
    return replace(fed, element_type=kind)
