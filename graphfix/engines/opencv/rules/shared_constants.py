"""Constants of which OpenCV 4 makes layers: those of InstanceNormalization, arithmetic and Concat.

What reads such a constant further on has it as a constant and finds the layer as well, which is an
input too many.
"""

from __future__ import annotations

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_ARITHMETIC = (
    "Add", "And", "Concat", "Div", "Equal", "GatherElements", "Greater", "Less", "Max", "Mean",
    "Min", "Mul", "Or", "Pow", "Sub", "Sum", "Where",
)  # fmt: skip
_REFUSING = frozenset({"BatchNormalization", "Gemm", "LayerNormalization"})
_JOINING = frozenset({"Concat", "GatherElements", "MatMul"})  # it makes a layer again
_WRONG = frozenset({"Add", "Mul", "Sub"})  # it is a column to them


@rule(
    "InstanceNormalization",
    feature="const:InstanceNormalization.shared",
    versions="opencv4.10",
    severity=REJECT,
    text="DNN/MatMul: three inputs at most; LayerNorm: require two (x, weight) or three",
    source="matmul_layer.cpp:59, layer_norm.cpp:67, batch_norm_layer.cpp:278 (4.10.0); measured on"
    " 4.10.0: an Add after a MatMul becomes its third input; Add, Mul and Sub elsewhere are wrong;"
    " what is before the InstanceNormalization and others of its kind are right",
)
def shared_constant(node: NodeView, target: Target) -> Answer:
    """OpenCV misreads a node that shares a constant with InstanceNormalization."""
    stored = [value for value in node.inputs[1:] if value is not None and is_stored(value)]
    readers = [user for value in stored for user in value.consumers if _is_after(user, node)]
    refusing = [user for user in readers if user.op in _REFUSING or _adds_to_product(user)]
    if refusing:
        return Yes(
            message=f"OpenCV refuses {refusing[0].op}, which shares a constant with this node"
        )
    wrong = [user for user in readers if user.op in _WRONG]
    return bool(wrong) and Yes(
        message=f"OpenCV misreads {wrong[0].op}, which shares a constant with this node",
        severity=WRONG,
    )


@rule(
    _ARITHMETIC,
    feature="const:{op}.shared",
    versions="opencv4.10",
    severity=REJECT,
    text="DNN/MatMul: three inputs at most; already into net in function 'addLayer'",
    source="matmul_layer.cpp:59, layer_norm.cpp:67, batch_norm_layer.cpp:278, net_impl.cpp:372"
    " (4.10.0); measured on 4.10.0: MatMul of such a constant ends the process; scalars are right",
)
def shared_operand(node: NodeView, target: Target) -> Answer:
    """OpenCV refuses a node further on that shares a constant with {op}."""
    if _adds_to_product(node):
        return None  # the bias of the product, of which no layer is made
    for value in dict.fromkeys(node.inputs):
        if value is None or not is_stored(value) or not _has_axes(value):
            continue
        if node.op == "Concat" and node.inputs.count(value) > 1:
            return Yes(message=f"OpenCV refuses a Concat that reads {value.name} more than once")
        if node.op != "Concat" and all(one is None or is_stored(one) for one in node.inputs):
            continue  # it is folded
        for user in value.consumers:
            refuses = user.op in _REFUSING or user.op in _JOINING or _adds_to_product(user)
            if refuses and _is_after(user, node):
                return Yes(
                    message=f"OpenCV refuses {user.op}, which shares a constant with {node.op}"
                )
    return None


def _has_axes(value: Value) -> bool:
    return any(size != 1 for size in value.shape or ())


def _is_after(one: NodeView, two: NodeView) -> bool:
    nodes = (node for node in two.graph.nodes if node in (one.node, two.node))
    return next(nodes, None) is two.node and one.node is not two.node


def _adds_to_product(node: NodeView) -> bool:
    makers = [None if value is None else value.producer for value in node.inputs]
    return node.op == "Add" and any(maker and maker.op == "MatMul" for maker in makers)
