"""RKNN as an engine family."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine

if TYPE_CHECKING:
    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target
    from graphfix.ir.views import NodeView, Value

# Without what it lists for quantization and other frameworks: PyTorch alone is a gigabyte.
_LINES = (
    "rknn-toolkit2==2.3.2",
    "--no-deps",
    "coloredlogs==15.0.1",
    "fast-histogram==0.14",
    "flatbuffers==25.12.19",
    "humanfriendly==10.0",
    "mpmath<1.4",
    "numpy==1.26.4",
    "onnx==1.16.1",
    "onnxruntime==1.17.3",
    "opencv-python-headless==4.10.0.84",
    "packaging",
    "protobuf==4.25.4",
    "psutil",
    "ruamel.yaml",
    "scipy",
    "sympy==1.14.0",
    "tqdm",
)
# "The input 0 of NonZero('y') need to be constant!"
_NAMED = re.compile(r"\b(?P<op>[A-Z]\w+)\('(?P<name>[^']*)'\)")
# What gives constants is read before anything is computed, and so is what onnxruntime 1.17, which
# computes them, has no kernels for in some types.
_READ_FIRST = frozenset({"Constant", "ConstantOfShape", "Trilu"})


class RKNN(Engine):
    """Rockchip's NPUs, by the simulator of rknn-toolkit2, in float16."""

    family = "rknn"
    title = "RKNN"
    spellings = ("rknn-toolkit",)
    order = 22
    arithmetic = "float16"
    wants_sizes = True
    tolerates = frozenset({"repeated-node-name"})
    sources = MappingProxyType(
        {"repeated-node-name": "rknn-toolkit2 2.3.2 takes them, in all graphs that were tried"}
    )
    own_words = MappingProxyType({"stated-io-types": "rknn"})
    requirements = MappingProxyType({"rknn2.3": _LINES})
    newest_python = MappingProxyType({"rknn2.3": "3.12"})
    blaming = (_NAMED,)

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to build and run the file in the simulator, for the sizes of the program."""
        from graphfix.engines.feeding import FEED, run_step

        ends = written.ends() if written.ends is not None else None
        names = "inputs=list(feed), input_size_list=[list(a.shape) for a in feed.values()]"
        sizes = f", {names}" if ends is not None and any(fed.open for fed in ends.inputs) else ""
        return run_step(Path(__file__).with_name(FEED), written, sizes=sizes)

    def computes_early(self, node: NodeView) -> bool:
        """Say whether the toolkit computes a node: what depends on no input; facts/graphs.json."""
        from graphfix.analysis.shape_only_values import gives_shapes_alone

        return node.op not in _READ_FIRST and gives_shapes_alone(node)

    def is_constant(self, value: Value) -> bool:
        """Say whether a tensor is computed when a model of fixed sizes is read."""
        from graphfix.analysis.constants_with_shapes import known_with_sizes

        return known_with_sizes(value)
