"""TFLite: axes counted from the end, sums of other shapes, and inputs without axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import results, walk
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_ASKED = f"{MEASURED}: facts/asked.json"
_AXIS_LAST = 13  # the opset from which on the axis is the last one where none is said
# Readers of a number for which it matters that it has no axis -> the inputs.
_WITHOUT_AXES = {"Gather": (1,), "Unsqueeze": (0,)}
_ENDS = {"Range": (0, 1, 2)}
_LINES = 3  # the rank


@rule(
    "Unsqueeze",
    feature="form:Unsqueeze.several-axes",
    severity=WRONG,
    source=f"{_ASKED}, squeeze and unsqueeze: each alone, and counted from the front, is equal",
)
def axes_from_the_end(node: NodeView, target: Target) -> Answer:
    """onnx2tf resolves negative axes of Unsqueeze against the wrong rank."""
    x, given = node.input(0), node.input(1)
    axes = node.attr("axes", None) if given is None else given.array()
    if x is None or axes is None or len(axes) == 1 or known_with_sizes(x):
        return None
    return bool(min(axes) < 0)


@rule(
    ("Sum", "Mean"),
    feature="form:{op}.broadcast",
    severity=REJECT,
    text="Shapes must be equal rank",
    source=f"{_ASKED}, several: tf.math.add_n; Max and Min of other shapes are taken",
)
def sum_of_other_shapes(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not broadcast the inputs of {op}."""
    shapes = [value.static_shape for value in node.inputs if value is not None]
    if len(shapes) == 1:
        return None
    return Unknown("shapes of the operands") if None in shapes else len({*shapes}) > 1


@rule(
    "IsInf",
    feature="op:IsInf",
    severity=REJECT,
    text="Value passed to parameter 'x' has DataType bool not in list of allowed values",
    source=f"{_ASKED}, is: of both signs it is taken",
)
def infinity_of_one_sign(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support IsInf that detects only one sign."""
    return not (node.attr("detect_negative", 1) and node.attr("detect_positive", 1))


@rule(
    "EyeLike",
    feature="op:EyeLike",
    severity=REJECT,
    text="Keras symbolic inputs/outputs do not implement `__len__`",
    source=f"{_ASKED}, eye",
)
def eye_like_what_is_computed(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports EyeLike of a constant only."""
    x = node.input(0)
    return x is not None and not known_with_sizes(x)


@rule(
    "Hardmax",
    feature="op:Hardmax",
    severity=WRONG,
    source=f"{_ASKED}, softmax: along the last axis, and the second of three, it is equal",
)
def hardmax_of_another_axis(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports Hardmax along the last axis only; it computes other axes wrongly."""
    x = node.input(0)
    axis = int(node.attr("axis", 1 if node.opset < _AXIS_LAST else -1))
    if axis == -1 or x is None:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    axis %= x.rank
    return axis != x.rank - 1 and not (x.rank == _LINES and axis == 1 and node.opset >= _AXIS_LAST)


@rule(
    "NonMaxSuppression",
    feature="op:NonMaxSuppression",
    severity=WRONG,
    source=f"{_ASKED}, nms: 2 of 6 boxes come, and 4 of zeros",
)
def fewer_boxes(node: NodeView, target: Target) -> Answer:
    """onnx2tf pads NonMaxSuppression to max_output_boxes_per_class; ONNX does not."""
    return Unknown("how many boxes are chosen")


@model_rule(
    feature="io:scalar-input",
    severity=WRONG,
    source=f"{_ASKED}, scalar-input: arithmetic and Reshape are equal",
)
def input_without_axes(model: Model, target: Target) -> list[Answer]:
    """onnx2tf turns a scalar input into one of rank 1."""
    return list(_read_by(model, _WITHOUT_AXES))


@model_rule(
    feature="io:scalar-input",
    severity=REJECT,
    text="Shape must be rank 0 but is rank 1",
    source=f"{_ASKED}, scalar-input and range: what is squeezed is taken",
)
def range_to_an_input(model: Model, target: Target) -> list[Answer]:
    """onnx2tf turns a scalar input into one of rank 1, which Range does not take."""
    return list(_read_by(model, _ENDS))


def _read_by(model: Model, readers: Mapping[str, tuple[int, ...]]) -> Iterator[Yes]:
    """Yield the nodes that read a number that is fed, or what is computed with numbers from it."""

    def reads(node: NodeView, value: Value) -> bool:
        return any(node.input(place) == value for place in readers.get(node.op, ()))

    def handed_on(value: Value) -> Iterator[Value]:
        for node in value.consumers:
            if not reads(node, value) and (node.op in ELEMENTWISE or node.op == "Identity"):
                yield from (result for result in results(node) if result.rank == 0)

    for tensor in given_inputs(model):
        for one in walk([Value(tensor)] if Value(tensor).rank == 0 else [], handed_on):
            for node in filter(partial(reads, value=one), one.consumers):
                message = f"onnx2tf adds an axis to scalar {tensor.name}, which {node.op} reads"
                yield Yes(node=node, message=message)
