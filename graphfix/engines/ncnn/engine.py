"""ncnn as an engine family: files that pnnx converts and ncnn runs."""

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
    from graphfix.ir.views import NodeView

_LACKED = re.compile(r"layer (?P<op>\w+)[^ ]* not exists or registered")
_RUN = re.compile(r"while running (?P<op>\w+) node\. Name:'(?P<name>[^']*)'")
# pnnx asks for PyTorch with CUDA, which its program does not need: nothing but these is installed.
_WHEELS = (
    "ncnn==1.0.20261020",
    "pnnx==20261020",
    "--no-deps",
    "numpy",
    "onnx==1.19.1",
    "protobuf==6.32.1",
    "ml_dtypes==0.5.3",
    "typing_extensions",
)


# What pnnx calls the types of inputs, of those that ncnn is fed.
_TYPES = MappingProxyType(
    {
        "float32": "f32",
        "uint8": "u8",
        "int8": "i8",
        "int16": "i16",
        "int32": "i32",
        "int64": "i64",
        "float16": "f16",
        "float64": "f64",
    }
)


class NCNN(Engine):
    """Tencent's ncnn, by its converter pnnx."""

    family = "ncnn"
    title = "ncnn by pnnx"
    guesses = True
    spellings = ("pnnx",)
    order = 15
    wants_sizes = True
    requirements = MappingProxyType({"ncnn1.0": _WHEELS})
    own_words = MappingProxyType({"stated-io-types": "ncnn", "stated-types": "ncnn"})
    blaming = (_RUN, _LACKED)

    def computes_early(self, node: NodeView) -> bool:
        """Say whether pnnx computes a node, or takes it with others for a shrink.

        Its fold_constants runs what depends on no input.
        """
        from graphfix.analysis.constants_with_shapes import are_known_with_sizes
        from graphfix.engines.ncnn.shrinking import is_shrunk

        return are_known_with_sizes(node) or is_shrunk(node)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the line that converts the file with pnnx, and how to run it.

        pnnx reads the sizes of inputs in the file; it writes next to it, with ``_`` for ``-``.
        """
        from graphfix.engines.feeding import FEED, listed, program_of, quoted

        words = ["pnnx", written.path, "fp16=0"]
        ends = written.ends() if written.ends is not None else None
        sized = [*words]
        if ends is not None and any(fed.open for fed in ends.inputs):
            sized.append("inputshape=" + ",".join(map(_size, ends.inputs)))
        path = PurePath(written.path)
        stem = str(path.with_name(path.stem.replace("-", "_")))
        program = program_of(
            Path(__file__).with_name(FEED),
            written,
            _taken,
            convert=listed(sized),
            example=quoted(f"{stem}_ncnn.py"),
            param=quoted(f"{stem}.ncnn.param"),
            weights=quoted(f"{stem}.ncnn.bin"),
        )
        return NextStep(shell_line(words), "Convert it", program=program)


def _taken(fed: Fed) -> Fed:
    """Return an input in the types that ncnn has."""
    integers = fed.element_type.removeprefix("u").startswith("int")
    known = fed.element_type in _TYPES
    kind = "int32" if integers else "float32"
    return replace(fed, element_type=kind if known else "")


def _size(fed: Fed) -> str:
    return f"[{','.join(map(str, fed.shape))}]{_TYPES.get(fed.element_type, 'f32')}"
