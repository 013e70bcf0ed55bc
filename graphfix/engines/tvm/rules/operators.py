"""TVM: what its Relax importer refuses or reads differently, beyond operators and element types.

All of it was measured on the wheel 0.27.0.post1 with sizes bound to what was fed, and read in
apache/tvm@5d4dc87213 python/tvm/relax/frontend/onnx/onnx_frontend.py.
"""

from __future__ import annotations

from graphfix.analysis.inference import shapes_contradict
from graphfix.analysis.shape_only_values import counted_late, is_made_of, of_shapes_alone
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import (
    ignores_sparse_initializers,
    refuses_types,
    wants_nodes_in_order,
)
from graphfix.ir.views import NodeView, Value

_WHEEL = "measured on apache-tvm 0.27.0.post1"


@rule(
    "ConstantOfShape",
    feature="shape:ConstantOfShape.0",
    versions="tvm",
    severity=REJECT,
    text="broadcast_to expects the input shape to have the number of ndim at least as the input "
    "tensor's. However, the given tensor has ndim 1 while the target shape has ndim 0",
    source=f"{_WHEEL}: without a value it is taken",
)
def scalar_of_a_shape(node: NodeView, target: Target) -> Answer:
    """TVM does not support ConstantOfShape that makes a scalar and has a value."""
    return node.need(0).static_shape == (0,) and node.has("value")


@rule(
    "Resize",
    feature="const:Resize.sizes",
    versions="tvm",
    severity=REJECT,
    text="Reshape requires the input new shape to be Shape. However, the given one is "
    "relax.TensorType",
    source=f"{_WHEEL}: what is computed of sizes alone is taken",
)
def sizes_known_late(node: NodeView, target: Target) -> Answer:
    """TVM requires sizes of Resize that do not depend on input values."""
    sizes = node.input(3)
    if sizes is None or of_shapes_alone(sizes):
        return None
    return Yes(
        message=f"{target.title} requires sizes of Resize at import; they depend on input values",
    )


@rule(
    "Resize",
    feature="form:empty-constant",
    versions="tvm",
    severity=REJECT,
    text="Only one of scales and sizes can be provided in Resize.",
    source=f"{_WHEEL}: scales without elements count as given",
)
def scales_and_sizes(node: NodeView, target: Target) -> Answer:
    """TVM takes empty scales of Resize as given, next to sizes."""
    return node.opset >= 11 and node.input(2) is not None and node.input(3) is not None


@rule(
    "Resize",
    feature="form:Resize.10",
    versions="tvm",
    severity=REJECT,
    text="Type <class 'NoneType'> for size is currently unsupported.",
    source=f"{_WHEEL}: the scales are taken for regions, in both modes",
)
def resize_of_opset_10(node: NodeView, target: Target) -> Answer:
    """TVM reads the scales of Resize of opset 10 as roi."""
    return node.opset == 10


@rule(
    ("ScatterElements", "ScatterND"),
    feature="attr:{op}.reduction",
    versions="tvm",
    severity=REJECT,
    text="Only ['update', 'add', 'mul'] reductions are supported, but got max",
    source=f"{_WHEEL}: it takes min and max from opset 18 on, as ONNX does",
)
def reduction_of_a_later_opset(node: NodeView, target: Target) -> Answer:
    """TVM supports the reductions min and max of {op} from opset 18 on; ONNX added them there."""
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
    """TVM uses 0 as default score_threshold of NonMaxSuppression; ONNX has no threshold."""
    return node.input(4) is None


@rule(
    "Reshape",
    feature="shape:Reshape.behind-nms",
    versions="tvm",
    severity=WRONG,
    source=f"{_WHEEL}: what is gathered at 5 boxes of 20 comes out with 20 rows",
)
def reshaped_selection(node: NodeView, target: Target) -> Answer:
    """TVM reshapes the boxes that NonMaxSuppression selected to the count of all boxes."""
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
    """TVM does not support Expand to a fixed shape of a size that depends on input values."""
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
    """TVM requires updates of ScatterND whose count follows from the indices."""
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
    source=f"{_WHEEL}: facts/asked.json, arg-axis; from opset 11 on it is taken",
)
def axis_from_the_end(node: NodeView, target: Target) -> Answer:
    """TVM does not support a negative axis of {op} below opset 11; ONNX added it there."""
    return node.opset < 11 and int(node.attr("axis", 0)) < 0


@rule(
    "GridSample",
    feature="dtype:GridSample",
    versions="tvm",
    severity=REJECT,
    text="Binary operators must have the same datatype for both operands.",
    source=f"{_WHEEL}: float32 at places in float64 is taken for float64; as an output it is right",
)
def sampled_at_other_floats(node: NodeView, target: Target) -> Answer:
    """TVM requires the GridSample grid to have the element type of the data."""
    data, grid, result = node.need(0), node.need(1), node.output(0)
    if result is None or not result.is_used or data.elem_type == grid.elem_type:
        return None
    return Yes(feature=f"dtype:GridSample.{grid.type_name}")


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="tvm",
    severity=REJECT,
    text="Missing outputs during conversion. Expected 2 but Got 1 in MaxPool.",
    source=_WHEEL,
)
def pool_with_places(node: NodeView, target: Target) -> Answer:
    """TVM does not support the Indices output of MaxPool."""
    return node.output(1) is not None


@rule(
    "MaxUnpool",
    feature="op:MaxUnpool",
    versions="tvm",
    severity=REJECT,
    text="object has no attribute 'tolist'; Node cannot handle ShapeExpr inputs",
    source=f"{_WHEEL}: stored, fed and as the Shape of something; without it all of one to three"
    " axes are taken",
)
def shape_of_unpooled(node: NodeView, target: Target) -> Answer:
    """TVM does not support output_shape of MaxUnpool."""
    return node.input(2) is not None


@rule(
    "MaxUnpool",
    feature="op:MaxUnpool",
    versions="tvm",
    severity=WRONG,
    source=f"{_WHEEL}: pads of 0, 0, 1, 1 make [1,1,5,3] of what is [1,1,4,4]; equal where the sums"
    " of neighbours are those of the axes",
)
def pads_of_unpooled(node: NodeView, target: Target) -> Answer:
    """TVM reads pads of MaxUnpool in the wrong order: begin and end of each axis in turn."""
    pads = [int(size) for size in node.attr("pads", ())]
    half = len(pads) // 2
    return any(
        pads[axis] + pads[axis + half] != pads[2 * axis] + pads[2 * axis + 1]
        for axis in range(half)
    )


EQUAL_BOOLS = refuses_types(
    "equal-of-bools",
    "Equal",
    ["bool"],
    versions="tvm",
    text="LLVM module verification failed with the following errors: Invalid operand types for"
    " FCmp instruction",
    source=f"{_WHEEL}: facts/asked.json, equal-bools; And, Or, Xor and Not of bools are taken",
    unknown=False,
)
REDUCED_BOOLS = refuses_types(
    "reduction-of-bools",
    ("ReduceMax", "ReduceMin"),
    ["bool"],
    versions="tvm",
    text="Cannot decide min_value for type T.bool",
    source=f"{_WHEEL}: facts/asked.json, reduced-bools",
    unknown=False,
)


@rule(
    "If",
    feature="shape:If.branches",
    versions="tvm",
    severity=REJECT,
    text="CodeGenVM cannot emit this Relax operator directly",
    source=f"{_WHEEL}: facts/asked.json, branches; as an output of the model it is taken",
)
def branches_of_unlike_shapes(node: NodeView, target: Target) -> Answer:
    """TVM requires both branches of If to return the same shape if a node reads it."""
    then, other = (node.attr(name).outputs for name in ("then_branch", "else_branch"))
    return any(
        result is not None and shapes_contradict(one.shape, two.shape) and _is_computed_with(result)
        for result, one, two in zip(node.outputs, then, other, strict=False)
    )


def _is_computed_with(value: Value) -> bool:
    """Say whether an operator other than Identity reads a value."""
    for reader in value.consumers:
        result = reader.output(0)
        if reader.op != "Identity" or (result is not None and _is_computed_with(result)):
            return True
    return False


@rule(
    "com.microsoft::SkipLayerNormalization",
    feature="op:com.microsoft::SkipLayerNormalization",
    versions="tvm",
    severity=REJECT,
    text="SkipLayerNormalization import currently only supports required beta and bias",
    source=f"{_WHEEL}: facts/asked.json, skip-layer-normalization",
)
def normalization_without_bias(node: NodeView, target: Target) -> Answer:
    """TVM requires beta and bias of SkipLayerNormalization."""
    return node.input(3) is None or node.input(4) is None


@rule(
    "com.microsoft::SkipLayerNormalization",
    feature="op:com.microsoft::SkipLayerNormalization",
    versions="tvm",
    severity=REJECT,
    text="Missing outputs during conversion. Expected 4 but Got 3 in SkipLayerNormalization.",
    source=f"{_WHEEL}: facts/asked.json, skip-layer-normalization",
)
def normalization_with_its_sum(node: NodeView, target: Target) -> Answer:
    """TVM does not support the sum output of SkipLayerNormalization."""
    return node.output(3) is not None


@rule(
    "OneHot",
    feature="const:OneHot.depth",
    versions="tvm",
    severity=REJECT,
    text="Mismatched type on argument #3 when calling: `relax.op.one_hot`. Expected `int`",
    source=f"{_WHEEL}: facts/asked.json, one-hot-depth",
)
def stored_depth_of_one_hot(node: NodeView, target: Target) -> Answer:
    """TVM requires the depth of OneHot to be an integer scalar."""
    depth = node.need(1)
    return depth.is_constant and (depth.rank != 0 or depth.type_name not in ("int32", "int64"))


UNSORTED = wants_nodes_in_order(
    versions="tvm",
    text="KeyError of the name of a tensor",
    source=f"{_WHEEL}: it takes the nodes in the order of the file",
)
SPARSE_INITIALIZER = ignores_sparse_initializers(versions="tvm", source=_WHEEL)
