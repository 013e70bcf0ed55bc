"""Grid positions that are NaN because a stored value is.

ONNX does not define GridSample there. PyTorch does: NaN in a grid is -1, the first pixel
(torch.nn.functional.grid_sample), and onnxruntime 1.32 computes so in all modes and paddings. An
exporter stores such a number where it divides by the count of steps of a range, which is 0 for
one step.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from graphfix.analysis.memo import kept_stepwise
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Rule, rule
from graphfix.ir.views import NodeView, Value

# What is NaN wherever an operand is, and what gives all of its values on.
_CARRIES = frozenset({"Abs", "Add", "Cast", "Div", "Mul", "Neg", "Sqrt", "Sub"})
_MOVES = frozenset({"Concat", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose"})
_OF_DATA = frozenset({"Expand", "Reshape", "Squeeze", "Unsqueeze"})  # the other input are sizes
_PICKS = frozenset({"Gather", "Slice", "Split"})  # and what gives some of them
_WORDS = {"bilinear": "linear", "bicubic": "cubic"}


def misreads_grids_of_nan(
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
        """{engine} samples NaN positions differently; PyTorch reads the first pixel."""
        mode = str(node.attr("mode", "linear"))
        padding = str(node.attr("padding_mode", "zeros"))
        if padding not in wrong.get(_WORDS.get(mode, mode), ()):
            return None
        return _nan_in((node.need(1), True))

    return rule(
        "GridSample",
        feature="form:GridSample.nan",
        versions=versions,
        severity=WRONG,
        source=source,
    )(grid_of_nan)


@kept_stepwise(in_a_loop=False)
def _nan_in(
    asked: tuple[Value, bool],
) -> Generator[tuple[Value, bool], bool | Unknown, bool | Unknown]:
    """Say whether a tensor has NaN because a stored one has, of which all numbers may be read."""
    value, whole = asked
    stored = value.array()
    if stored is not None:
        if stored.dtype.kind != "f" or not bool(np.isnan(stored).any()):
            return False
        return whole or Unknown(f"which elements of {value.name} are read")
    maker = value.producer
    if maker is None or maker.domain or maker.op not in _CARRIES | _MOVES | _OF_DATA | _PICKS:
        return False
    of_data = maker.op in _OF_DATA | _PICKS
    found: bool | Unknown = False
    for operand in maker.inputs[:1] if of_data else maker.inputs:
        if operand is None:
            continue
        after = yield operand, whole and maker.op not in _PICKS
        if after is True:
            return True
        found = found or after
    return found
