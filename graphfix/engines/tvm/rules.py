"""TVM: what its Relax importer refuses or reads otherwise, beyond operators and element types.

All of it was measured on the wheel 0.27.0.post1 with sizes bound to what was fed, and read in
apache/tvm@5d4dc87213 python/tvm/relax/frontend/onnx/onnx_frontend.py.
"""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value
from graphfix.engines.known_early import counted_late, is_made_of, of_shapes_alone
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import ignores_sparse_initializers

_WHEEL = "measured on apache-tvm 0.27.0.post1"
# Operators that may read a list of sizes that is not yet a tensor, and If, which reads none.
_READS_SIZES = frozenset(
    [
        "Cast",
        "CastLike",
        "Concat",
        "ConstantOfShape",
        "Equal",
        "Expand",
        "Gather",
        "If",
        "Reshape",
        "Resize",
        "Shape",
        "Slice",
        "Squeeze",
        "Where",
    ]
)
# Operator -> inputs that may be computed of sizes, and of nothing else.
_SIZED = {"Reshape": (1,), "Resize": (3,)}


@rule(
    feature="shape:{op}",
    versions="tvm",
    severity=REJECT,
    text="Node {node} cannot handle ShapeExpr inputs.",
    source=f"{_WHEEL}; shape_compatible_ops of ONNXGraphImporter",
)
def reads_no_sizes(node: NodeView, target: Target) -> Answer:
    """{op} reads a list of sizes, which is no tensor to the importer."""
    if node.domain or node.op in _READS_SIZES:
        return None
    for value in node.inputs:
        if value is not None and _is_list_of_sizes(value):
            return Yes(
                message=f"{target.title} does not compute {node.op} of sizes; with fixed sizes of "
                "the inputs (--shape) it is computed before",
            )
    return None


def _is_list_of_sizes(value: Value) -> bool:
    """Say whether the importer holds a value as a list of sizes instead of a tensor."""
    maker = value.producer
    if maker is None or maker.domain:
        return False
    if maker.op == "Shape":
        return maker.need(0).rank != 0
    if maker.op == "Slice":
        return _is_list_of_sizes(maker.need(0))
    if maker.op == "Unsqueeze":
        return _is_size(maker.need(0))
    if maker.op == "Concat":
        parts = [part for part in maker.inputs if part is not None and not part.is_constant]
        return bool(parts) and all(_is_list_of_sizes(part) for part in parts)
    return False


def _is_size(value: Value) -> bool:
    """Say whether a value is one of the sizes of a tensor, taken by Gather or Squeeze."""
    maker = value.producer
    if maker is None or maker.domain or maker.op not in ("Gather", "Squeeze"):
        return False
    return value.rank == 0 and _is_list_of_sizes(maker.need(0))


@rule(
    tuple(_SIZED),
    feature="const:{op}",
    versions="tvm",
    severity=REJECT,
    text="Reshape requires the input new shape to be Shape. However, the given one is "
    "relax.TensorType",
    source=f"{_WHEEL}: what is computed of sizes alone is taken",
)
def sizes_known_late(node: NodeView, target: Target) -> Answer:
    """{op} is given sizes that depend on numbers that are fed."""
    for place in _SIZED[node.op]:
        value = node.input(place)
        if value is not None and not of_shapes_alone(value):
            name = "sizes" if node.op == "Resize" else "shape"
            return Yes(
                feature=f"const:{node.op}.{name}",
                message=f"{name} of {node.op} depends on numbers that are fed, and {target.title} "
                "wants to know it before",
            )
    return None


@rule(
    "Range",
    feature="const:Range.limit",
    versions="tvm",
    severity=REJECT,
    text="CodeGenVM cannot emit this Relax operator directly",
    source=f"{_WHEEL}: a sum with what Range gives for a bound that is computed is not built",
)
def computed_range(node: NodeView, target: Target) -> Answer:
    """Range has a bound that is computed, and more than an output of the model is made of it."""
    y = node.output(0)
    if y is None or not y.tensor.outputs:
        return None
    return any(value is not None and not value.is_constant for value in node.inputs)


@rule(
    "Resize",
    feature="form:empty-constant",
    versions="tvm",
    severity=REJECT,
    text="Only one of scales and sizes can be provided in Resize.",
    source=f"{_WHEEL}: scales without elements count as given",
)
def scales_and_sizes(node: NodeView, target: Target) -> Answer:
    """Scales without elements stand beside sizes."""
    return node.opset >= 11 and node.input(2) is not None and node.input(3) is not None


@rule(
    ("ScatterElements", "ScatterND"),
    feature="attr:{op}.reduction",
    versions="tvm",
    severity=REJECT,
    text="Only ['update', 'add', 'mul'] reductions are supported, but got max",
    source=f"{_WHEEL}: it takes min and max from opset 18 on, as ONNX does",
)
def reduction_of_a_later_opset(node: NodeView, target: Target) -> Answer:
    """{op} compares, which ONNX has from opset 18 on."""
    how = node.attr("reduction", "none")
    if how not in ("max", "min") or node.opset >= 18:
        return None
    return Yes(feature=f"attr:{node.op}.reduction={how}")


@rule(
    "NonMaxSuppression",
    feature="attr:NonMaxSuppression.score_threshold",
    versions="tvm",
    severity=WRONG,
    source=f"{_WHEEL}: without a threshold, scores below 0 are dropped",
)
def no_score_threshold(node: NodeView, target: Target) -> Answer:
    """The threshold of scores is left out, and 0 is taken for it."""
    return node.input(4) is None


@rule(
    "Reshape",
    feature="shape:Reshape.behind-nms",
    versions="tvm",
    severity=WRONG,
    source=f"{_WHEEL}: what is gathered at 5 boxes of 20 comes out with 20 rows",
)
def reshaped_selection(node: NodeView, target: Target) -> Answer:
    """What NonMaxSuppression has selected is reshaped to as many rows as there are boxes."""
    data = node.need(0)
    return counted_late(data) and is_made_of(data, "NonMaxSuppression")


@rule(
    "Expand",
    feature="shape:Expand.counted",
    versions="tvm",
    severity=REJECT,
    text="'Var' object has no attribute 'value'",
    source=f"{_WHEEL}: to a shape that is computed it is taken",
)
def expanded_selection(node: NodeView, target: Target) -> Answer:
    """What is expanded to a fixed shape has a size that depends on numbers that are fed."""
    return node.need(1).is_constant and counted_late(node.need(0))


@rule(
    "ScatterND",
    feature="op:ScatterND",
    versions="tvm",
    severity=REJECT,
    text="ScatterND op requires the updates tensor to have the shape with constraint",
    source=f"{_WHEEL}: updates whose number follows from the indices are taken",
)
def updates_counted_elsewhere(node: NodeView, target: Target) -> Answer:
    """Numbers decide how many indices there are, and the updates are counted elsewhere."""
    indices, updates = node.need(1), node.need(2)
    return (
        counted_late(indices)
        and is_made_of(indices, "NonZero")
        and not is_made_of(updates, "NonZero")
    )


@rule(
    ("ArgMax", "ArgMin"),
    feature="attr:{op}.axis",
    versions="tvm",
    severity=REJECT,
    text="Axis is out of bounds",
    source=f"{_WHEEL}: from opset 11 on it is taken",
)
def axis_from_the_end(node: NodeView, target: Target) -> Answer:
    """The axis is counted from the end, which ONNX allows from opset 11 on."""
    return node.opset < 11 and int(node.attr("axis", 0)) < 0


SPARSE_INITIALIZER = ignores_sparse_initializers(versions="tvm", source=_WHEEL)
