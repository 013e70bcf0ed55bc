"""ncnn as an engine family: files that pnnx converts and ncnn runs."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine
from graphfix.engines.interface import NextStep, Written
from graphfix.ir.printing import shell_word

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


class NCNN(Engine):
    """Tencent's ncnn, by its converter pnnx."""

    family = "ncnn"
    title = "ncnn by pnnx"
    spellings = ("pnnx",)
    order = 15
    wants_sizes = True
    requirements = MappingProxyType({"ncnn1.0": _WHEELS})
    own_words = MappingProxyType({"stated-io-types": "ncnn", "stated-types": "ncnn"})
    blaming = (_RUN, _LACKED)

    def computes_early(self, node: NodeView) -> bool:
        """Say whether pnnx computes a node: its fold_constants runs what depends on no input."""
        from graphfix.analysis.constants_with_shapes import are_known_with_sizes

        return are_known_with_sizes(node)

    def next_step(self, written: Written, target: Target) -> NextStep:
        """Return the line that converts the file with pnnx, which reads the sizes of inputs."""
        return NextStep(f"pnnx {shell_word(written.path)} fp16=0", "Convert it")
