"""Compute an operator of each number in four dimensions instead of five.

What it does: Joins the first two dimensions by a Reshape, and parts them again behind the operator.
Why engines need it: QNN leaves Sqrt, Tanh, Neg and others of five dimensions to the CPU.
Before: y = Sqrt (x)                                   # x: [2, 3, 4, 5, 6]
After: y = Reshape (Sqrt (Reshape (x, {6, 4, 5, 6})), {2, 3, 4, 5, 6})
When it refuses: There are not five dimensions, or a size is open or 0.
Accuracy: Exact: each number is computed alone.
References: https://onnx.ai/onnx/operators/; measured with onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_OPS = (
    "Atan",
    "Ceil",
    "Cos",
    "Elu",
    "Floor",
    "HardSigmoid",
    "HardSwish",
    "Neg",
    "Round",
    "Sign",
    "Sin",
    "Softplus",
    "Sqrt",
    "Tanh",
)
_RANK = 5


@rewrite(
    _OPS,
    removes=" ".join(f"rank:{op}.5" for op in _OPS),
    emits=" ".join(("Reshape", *_OPS)),
    claims="nan inf",
)
def elementwise_of_four_dimensions(node: NodeView, build: Builder) -> Value:
    """Join two dimensions, see the module."""
    x = node.need(0)
    sizes = x.static_shape
    if sizes is None or 0 in sizes:
        raise Refuse(f"the sizes of {x.name} must be known and none of them 0")
    if len(sizes) != _RANK:
        raise Refuse(f"{x.name} must have {_RANK} dimensions; it has {len(sizes)}")
    joined = build.Reshape(x, [sizes[0] * sizes[1], *sizes[2:]])
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.Reshape(build.node(node.op, joined, **attributes), list(sizes))
