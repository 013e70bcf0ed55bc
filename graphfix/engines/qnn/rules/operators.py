"""QNN: operators that are left to the CPU in some uses."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.outer_scopes import reads_of_outer_scopes
from graphfix.engines.folded_early import is_folded, is_unordered
from graphfix.engines.operands import normalizes_several_axes
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_AXES_FROM_THE_END = 11  # the opset that allows them
_UNCAST = {
    ("float16", "bool"),
    ("float16", "uint8"),
    ("float16", "uint32"),
    ("uint32", "float16"),
}


@rule(
    "CumSum",
    feature="attr:CumSum.backwards",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def cumulated_otherwise(node: NodeView, target: Target) -> Answer:
    """QNN does not support reverse=1 or exclusive=1 of CumSum; it runs on the CPU."""
    return bool(node.attr("reverse", 0)) or bool(node.attr("exclusive", 0))


@rule(
    "If",
    feature="scope:outer-constant",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, if-constants, if-known; those that a branch stores are"
    " taken, and so is an If that is decided when the model is read",
)
def constants_of_the_outer_graph(node: NodeView, target: Target) -> Answer:
    """QNN does not support an If branch that reads a constant of the outer graph."""
    condition = node.input(0)
    if condition is not None and is_folded(condition):
        return None
    for _, body in node.node.graphs():
        for _, value in reads_of_outer_scopes(body):
            if is_folded(value):
                return Yes(message=f"QNN: an If branch reads the outer constant {value.name}")
    return None


@rule(
    "If",
    feature="form:If.outputs",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: one output of one shape is chosen from what both branches compute; an If"
    " that is decided when the model is read is taken",
)
def chosen_otherwise(node: NodeView, target: Target) -> Answer:
    """QNN supports an If of one output only, of one shape and another name in its branches."""
    condition, output = node.input(0), node.output(0)
    if output is None or (condition is not None and is_folded(condition)):
        return None
    given = [Value(each) for _, body in node.node.graphs() for each in body.outputs]
    if len(node.outputs) > 1 or any(each.name == output.name for each in given):
        return True
    shapes = {each.static_shape for each in given}
    if None in shapes:
        return Unknown(f"whether both branches give {output.name} of one shape")
    return len(shapes) > 1


@rule(
    ("Concat", "Slice", "Squeeze"),
    feature="form:{op}.negative-axis",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, axes-from-the-end: ONNX's inference of shapes leaves"
    " such a node out; other operators with such axes are taken",
)
def axis_from_the_end(node: NodeView, target: Target) -> Answer:
    """QNN needs static shapes, and {op} with negative axes below opset 11 has none inferred."""
    if node.opset >= _AXES_FROM_THE_END:
        return None
    axes = [node.attr("axis", 0), *node.attr("axes", ())]
    return any(axis < 0 for axis in axes)


@rule(
    "LayerNormalization",
    feature="attr:LayerNormalization.axis",
    severity=REJECT,
    text=LEFT,
    source=PROVIDER,
)
def normalized_over_several_axes(node: NodeView, target: Target) -> Answer:
    """QNN supports LayerNormalization over the last axis with one output only."""
    further = any(node.output(index) is not None for index in (1, 2))
    return further or normalizes_several_axes(node)


@rule(
    "Transpose",
    feature="dtype:Transpose.int64",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: between other nodes it is taken",
)
def transposed_int64(node: NodeView, target: Target) -> Answer:
    """QNN does not support Transpose of an int64 graph input or to an int64 graph output."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.type_name != "int64":
        return None
    return y.is_graph_output or (x.producer is None and not x.is_constant)


@rule(
    "Cast",
    feature="dtype:Cast.int64",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: between other nodes it is taken",
)
def cast_to_an_output(node: NodeView, target: Target) -> Answer:
    """QNN does not support Cast from float, bool or 8 bits to an int64 graph output."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or y.type_name != "int64" or not y.is_graph_output:
        return None
    return x.dtype is None or x.dtype.kind in "fb" or x.type_name == "uint8"


@rule(
    "Cast",
    feature="dtype:Cast.*",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, casts",
)
def cast_between(node: NodeView, target: Target) -> Answer:
    """QNN does not support this Cast; it runs on the CPU."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.dtype is None or y.dtype is None:
        return None
    pair = (x.type_name, y.type_name)
    given = pair[0] == "int8" and x.producer is None and not x.is_constant
    if pair not in _UNCAST and (pair[0] != "int16" or pair[1] == "int32") and not given:
        return None
    return Yes(
        feature=f"dtype:Cast.{pair[0]}",
        message=f"QNN does not support Cast from {pair[0]} to {pair[1]}; it runs on the CPU",
    )


@rule(
    ("GreaterOrEqual", "LessOrEqual"),
    feature="op:{op}",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, compared-constants; from opset 16 on, and of a computed"
    " tensor, it is taken",
)
def compared_constants(node: NodeView, target: Target) -> Answer:
    """QNN does not support {op} of constants below opset 16, nor the nodes that depend on it."""
    given = [value for value in node.inputs if value is not None]
    return is_unordered(node) and all(is_folded(value) for value in given)


@rule(
    ("GRU", "LSTM"),
    feature="attr:{op}.activations",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: those of ONNX too, where they are explicit",
)
def named_activations(node: NodeView, target: Target) -> Answer:
    """QNN does not support the attributes activations and clip of {op}."""
    if node.attr("clip", None) is not None:
        return Yes(feature=f"attr:{node.op}.clip")
    return bool(node.attr("activations", ()))
