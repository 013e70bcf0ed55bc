"""Places in images that are no numbers because a stored number is none.

ONNX does not say what GridSample reads there. PyTorch does: NaN in a grid is -1, the first pixel
(torch.nn.functional.grid_sample), and onnxruntime 1.32 computes so in all modes and paddings. An
exporter stores such a number where it divides by the count of steps of a range, which is 0 for
one step.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Rule, rule

_MOST = 200  # tensors that are looked at
# What is NaN wherever an operand is, and what gives all of its numbers on.
_CARRIES = frozenset({"Abs", "Add", "Cast", "Div", "Mul", "Neg", "Sqrt", "Sub"})
_MOVES = frozenset({"Concat", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose"})
_OF_DATA = frozenset({"Expand", "Reshape", "Squeeze", "Unsqueeze"})  # the other input are sizes
_PICKS = frozenset({"Gather", "Slice", "Split"})  # and what gives some of them
_WORDS = {"bilinear": "linear", "bicubic": "cubic"}


def reads_grids_of_nan_otherwise(
    wrong: Mapping[str, frozenset[str]], *, versions: str, source: str
) -> Rule:
    """Return the rule on grids with NaN that is stored; its feature is ``form:GridSample.nan``.

    Args:
        wrong: Mode, as ONNX calls it from opset 20 on -> paddings with which the engine reads
            another pixel than the first, or gives NaN.
        versions: The range of targets.
        source: Where it was measured.
    """

    def grid_of_nan(node: NodeView, target: Target) -> Answer:
        """The grid has places that are NaN, where onnxruntime and PyTorch read the first pixel."""
        mode = str(node.attr("mode", "linear"))
        padding = str(node.attr("padding_mode", "zeros"))
        if padding not in wrong.get(_WORDS.get(mode, mode), ()):
            return None
        return _nan_in(node.need(1))

    return rule(
        "GridSample",
        feature="form:GridSample.nan",
        versions=versions,
        severity=WRONG,
        source=source,
    )(grid_of_nan)


def _nan_in(value: Value) -> bool | Unknown:
    """Say whether a tensor has NaN because a stored one has."""
    pending, seen = [(value, True)], {value}
    found: Unknown | bool = False
    while pending and len(seen) < _MOST:
        one, whole = pending.pop()
        stored = one.array()
        if stored is not None:
            if stored.dtype.kind == "f" and bool(np.isnan(stored).any()):
                if whole:
                    return True
                found = Unknown(f"which numbers of {one.name} are read")
            continue
        maker = one.producer
        if maker is None or maker.domain:
            continue
        if maker.op in _PICKS:
            whole = False
        elif maker.op not in _CARRIES | _MOVES | _OF_DATA:
            continue
        of_data = maker.op in _OF_DATA | _PICKS
        given = maker.inputs[:1] if of_data else maker.inputs
        for operand in given:
            if operand is not None and operand not in seen:
                seen.add(operand)
                pending.append((operand, whole))
    return found
