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
    ignores_output_shape,
    ignores_sparse_initializers,
    wants_nodes_in_order,
)
from graphfix.ir.views import NodeView, Value

_WHEEL = "measured on apache-tvm 0.27.0.post1"

OUTPUT_SHAPE = ignores_output_shape(
    versions="tvm",
    source=f"{_WHEEL}: without pads it is not read; with auto_pad it is",
)


@rule(
    "ConstantOfShape",
    feature="shape:ConstantOfShape.0",
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
    "Reshape",
    feature="shape:Reshape.behind-nms",
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
    "GridSample",
    feature="dtype:GridSample",
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
    "MaxUnpool",
    feature="op:MaxUnpool",
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


@rule(
    "If",
    feature="shape:If.branches",
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
    "OneHot",
    feature="const:OneHot.depth",
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
