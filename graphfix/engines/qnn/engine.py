"""QNN as an engine family."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphfix.engines.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphfix.engines.interface import NextStep, Written
    from graphfix.engines.profile import Target
    from graphfix.ir.views import NodeView, Value

# "left to the CPU: Acosh('y'), Det('z')"
_LEFT = re.compile(r"left to the CPU: (?P<op>\w+)\('(?P<name>[^']*)'\)")


class QNN(Engine):
    """The HTP of Qualcomm's NPUs, by onnxruntime's provider, in float16."""

    family = "qnn"
    title = "QNN HTP"
    spellings = ("qnn-htp", "htp")
    order = 23
    arithmetic = "float16"
    wants_sizes = True
    shared = "main"
    requirements = MappingProxyType(
        {"qnn2": ("onnxruntime-qnn==2.7.0", "onnxruntime==1.32.0", "numpy", "onnx")}
    )
    blaming = (_LEFT,)

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return how to run the file with nothing left to the CPU, for the sizes of the program."""
        from graphfix.engines.feeding import FEED, quoted, run_step

        ends = written.ends() if written.ends is not None else None
        sizes: dict[str, int] = {}
        for fed in ends.inputs if ends is not None else ():
            sizes |= fed.open
        lines = (
            f"\noptions.add_free_dimension_override_by_name({quoted(name)}, {size})"
            for name, size in sizes.items()
            if name != "?"
        )
        return run_step(Path(__file__).with_name(FEED), written, sizes="".join(lines))

    def keeps_part(self, ops: Sequence[str]) -> bool:
        """Say whether a part is more than one conversion, which is left to the CPU."""
        return list(ops) not in (["QuantizeLinear"], ["DequantizeLinear"])

    def is_constant(self, value: Value) -> bool:
        """Say whether a tensor is computed when a model of fixed sizes is read."""
        from graphfix.engines.folded_early import is_folded

        return is_folded(value)

    def computes_early(self, node: NodeView) -> bool:
        """Say whether onnxruntime computes a node before QNN is asked about it."""
        from graphfix.engines.folded_early import is_folded

        outputs = [value for value in node.outputs if value is not None]
        return bool(outputs) and all(
            is_folded(value) and not value.is_graph_output for value in outputs
        )
