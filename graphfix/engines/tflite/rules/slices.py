"""TFLite: slices, and reductions that name no axis."""

from __future__ import annotations

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import makes_even_parts_only
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.layouts import readers_by_number
from graphfix.ir.views import NodeView, Value

_ASKED = f"{MEASURED}: facts/asked.json"
_BY_AXES = frozenset({"Concat", "Gather", "Reshape", "Slice", "Transpose"})
_LINES = 3  # the rank from which on axes are distinguished by sizes
_FARTHEST = 2**31 - 1  # of the ends that were asked about but the one that stands for the last

EVEN_PARTS = makes_even_parts_only(
    versions="tflite",
    severity=REJECT,
    text="Number of ways to split should evenly divide the split dimension",
    source=MEASURED,
)


@rule(
    "Slice",
    feature="form:Slice.negative-steps",
    severity=WRONG,
    source=f"{MEASURED}: starts -1, ends -7 and steps -1 of 6; what depends on constants alone is"
    " computed before, and right",
)
def slice_backwards(node: NodeView, target: Target) -> Answer:
    """onnx2tf computes Slice with negative steps wrongly."""
    x, steps = node.input(0), node.input(4)
    if steps is None or x is None or known_with_sizes(x):
        return None
    array = steps.array()
    return Unknown(f"values of {steps.name}") if array is None else bool((array < 0).any())


@rule(
    "Slice",
    feature="form:Slice.axes-order",
    severity=WRONG,
    source=f"{_ASKED}, slice-two and slice-axes",
)
def slice_in_another_order(node: NodeView, target: Target) -> Answer:
    """onnx2tf ignores the order of axes of Slice and swaps their bounds."""
    x = node.input(0)
    given = node.input(3)
    axes = node.attr("axes", None) if given is None else given.array()
    if x is None or axes is None or len(axes) == 1 or known_with_sizes(x):
        return None
    if min(axes) < 0 and x.rank is None:
        return Unknown(f"rank of {x.name}")
    counted = [int(axis) % (x.rank or len(axes) + int(max(axes))) for axis in axes]
    return counted != sorted(counted)


@rule(
    "Slice",
    feature="form:Slice.beyond",
    severity=REJECT,
    text="begin[0] + size[0] cannot exceed dimension length",
    source=f"{_ASKED}, slice and slice-vector: of more dimensions, with other steps, from 0 on, and"
    " up to 9223372036854775807, it is taken",
)
def slice_beyond_a_vector(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not clamp the end of a Slice of a vector to its length."""
    x, ends, steps = node.input(0), node.input(2), node.input(4)
    if x is None or ends is None or x.rank != 1 or known_with_sizes(x):
        return None
    found, size = ends.array(), x.dim(0)
    stride = None if steps is None else steps.array()
    if found is None or not isinstance(size, int) or found.size != 1:
        return None
    starts = node.need(1).array()
    by_one = (stride is None or stride.tolist() == [1]) and (starts is None or starts.any())
    return bool(by_one and np.all((found > size) & (found <= _FARTHEST)))


@rule(
    "Slice",
    feature="dtype:Slice.bounds",
    severity=REJECT,
    text="Input 'updates' of 'TensorScatterUpdate' Op has type int32",
    source=f"{_ASKED}, slice-starts-computed: of vectors, and of int64, they are taken",
)
def bounds_of_int32(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires computed starts and ends of Slice to be int64."""
    if not _has_fewer_bounds(node):
        return None
    return any(value.dtype == np.int32 for value in _computed_bounds(node))


@rule(
    "Slice",
    feature="form:Slice.no-axes",
    severity=REJECT,
    text="'NoneType' object is not iterable",
    source=f"{_ASKED}, slice-starts-computed: of as many bounds as axes they are taken",
)
def axes_left_out(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires axes of Slice if starts or ends are computed and do not cover all axes."""
    return node.input(3) is None and bool(_computed_bounds(node)) and _has_fewer_bounds(node)


@rule(
    "Slice",
    feature="const:Slice.bounds",
    severity=WRONG,
    source=f"{_ASKED}, behind-unknown-sizes: what it does with a tensor whose sizes it does not"
    " know; sums, products by matrices, reductions and three dimensions that are turned are equal",
)
def axes_behind_unknown_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf reads a Slice of computed length along the wrong axes."""
    x, part = node.input(0), node.output(0)
    if x is None or part is None or x.rank is None or x.rank < _LINES:
        return None
    for reader in readers_by_number(part) if _computed_bounds(node) else ():
        if reader.op in _BY_AXES and _moves_axes(reader):
            return Yes(message=f"onnx2tf misreads {reader.op} after {node.op} of unknown length")
    return None


def _moves_axes(reader: NodeView) -> bool:
    """Say whether a reader takes another axis than the first, or the order of all."""
    if reader.op == "Transpose":
        return reader.need(0).rank != _LINES
    if reader.op == "Slice":
        axes = None if reader.input(3) is None else reader.need(3).array()
        return axes is None or bool(np.any(axes))
    return reader.op == "Reshape" or bool(reader.attr("axis", 0))


def _computed_bounds(node: NodeView) -> list[Value]:
    given = [node.input(1), node.input(2)]
    return [value for value in given if value is not None and not known_with_sizes(value)]


def _has_fewer_bounds(node: NodeView) -> bool:
    """Say whether a Slice has bounds for fewer axes than there are."""
    x, starts = node.input(0), node.input(1)
    count = None if starts is None else starts.dim(0)
    return x is not None and x.rank is not None and isinstance(count, int) and count < x.rank
