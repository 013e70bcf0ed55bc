"""What TensorRT for RTX has no plugin and no kernel for; measured with its builder, without a GPU.

The models were built with tensorrt-rtx 1.4.0, 1.5.0, 1.6.1 and 1.7.1 for compute capability 8.6.
"""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import after, kept_stepwise
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, Answer, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView, Value, needed

_LARGEST_HEAD = 256
_BUILT = "tensorrt-rtx 1.7.1, built for compute capability 8.6"


@rule(
    "Attention",
    feature="op:Attention",
    versions="trt-rtx",
    severity=BUILDER,
    text="decompose_composite_ops.cpp:59: CHECK(composite_op->is_decomposable()) failed. Attention "
    "operation was not supported by a dedicated kernel",
    source=_BUILT,
)
def attention_kernel(node: NodeView, target: Target) -> Answer:
    """TensorRT has Attention kernels for 16-bit floats and head sizes up to 256 only."""
    query = node.need(0)
    found = needed(engine_type(query, target) or None, f"dtype of {query.name}")
    if found == "float32":
        return True
    size = query.dim(-1)
    if query.rank == 3 and size is not None:
        size //= max(int(node.attr("q_num_heads", 1)), 1)
    return size is not None and size > _LARGEST_HEAD


@rule(
    "If",
    feature="form:If.in-loop-in-if",
    versions="trt-rtx",
    severity=BUILDER,
    text="graphScope.cpp::analyze: Error Code 2: Internal Error (Assertion "
    "mScopedOp2Scopes.contains(childScopedOp) failed)",
    source=_BUILT,
)
def if_in_loop_in_if(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this If in a Loop in an If.

    Its condition must be computed in each iteration, not passed on unchanged.
    """
    body = node.node.graph
    loop = body.parent
    outer = None if loop is None else loop.graph.parent
    if loop is None or outer is None or (loop.op, outer.op) != ("Loop", "If"):
        return None
    if is_weights(node.input(0)) or is_weights(Value(outer.inputs[0])):
        return None
    condition = node.node.inputs[0]
    return not any(maker.graph is body for maker in condition.inputs) or not _varies(
        (Value(condition), body)
    )


@kept_stepwise(in_a_loop=False)
def _varies(asked: tuple[Value, Graph]) -> Generator[tuple[Value, Graph], bool, bool]:
    """Say whether a tensor is computed from a variable of the loop that a body belongs to."""
    value, body = asked
    if any(value.tensor is known for known in body.inputs):
        return True
    for operand in after(value):
        if (yield operand, body):
            return True
    return False
