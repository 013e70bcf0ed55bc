"""Give arithmetic, Concat and GatherElements constants of their own.

What it does: Copies the constants of the node that other nodes read as well, or that it reads more
    than once.
Why engines need it: OpenCV 4 makes a layer of each constant of such a node. A product
    with a bias, a normalization or another Concat further on that reads the same constant finds it
    as a constant and as a layer, which is an input too many; of one that a Concat reads twice it
    makes two layers of one name. Files that store equal weights once share zeros so.
Before:
    a = Add (x, b)
    y = Add (MatMul (a, w), b)
After:
    a = Add (x, b1)      with a copy of b
    y = Add (MatMul (a, w), b)
When it refuses: No constant of the node is read elsewhere or again.
Accuracy: Exact.
References: opencv 4.10.0, modules/dnn/src/onnx/onnx_importer.cpp, addConstant and parseElementWise
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_OPERATORS = (
    "Add", "And", "Concat", "Div", "Equal", "GatherElements", "Greater", "Less", "Max", "Mean",
    "Min", "Mul", "Or", "Pow", "Sub", "Sum", "Where",
)  # fmt: skip


@rewrite(
    _OPERATORS,
    removes=" ".join(f"const:{op}.shared" for op in _OPERATORS),
    emits=" ".join(_OPERATORS),
    claims="nan inf",
)
def operand_constants_apart(node: NodeView, build: Builder) -> Value:
    """Copy what is read elsewhere or again, see the module."""
    operands: list[Value | None] = []
    copied = 0
    for value in node.inputs:
        array = None if value is None or not _is_shared(value) else build.const(value)
        copied += array is not None
        operands.append(value if array is None else build.constant(array.copy()))
    if not copied:
        raise Refuse("another node must read a constant of this one, or this one again; none does")
    return build.multi(node.op, *operands, **node.written())[0]


def _is_shared(value: Value) -> bool:
    """Say whether a tensor with axes is read in more than one place."""
    places = sum(user.inputs.count(value) for user in value.consumers)
    return places > 1 and any(size != 1 for size in value.shape or ())
