"""Compute both branches of an If and choose one of the results.

What it does: Puts the nodes of both branches in the place of the If and chooses between what they
    give with Where; below opset 9, which has none, with a Gather from both, joined along a new
    axis.
Why engines need it: OpenCV 4, and parsers of engines without control flow, have no If; TensorRT 7
    takes one with a constant condition alone.
Before: y = If (c) <then_branch = { a = Relu (x) }, else_branch = { b = Neg (x) }>
After:
    a = Relu (x)
    b = Neg (x)
    y = Where (c, a, b)
When it refuses: The branches give other types or shapes, or shapes that are not known; a branch
    holds an operator that can fail on numbers that the condition keeps from it (a Gather by
    computed indices, a division of integers, a Loop), draws at random, or gives more than tensors.
Accuracy: Exact: what is chosen is what the branch gave, NaN too.
References: https://onnx.ai/onnx/operators/onnx__If.html, onnx__Where.html
"""

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    Graph,
    NodeView,
    Refuse,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    need_rank,
    rewrite,
    value_of,
)

_WHERE = 9  # the opset that has it first
# What computes something for whatever numbers it is given.
_TOTAL = frozenset({
    "Abs", "Acos", "Add", "And", "Asin", "Atan", "AveragePool", "BatchNormalization", "Cast",
    "Ceil", "Clip", "Concat", "Constant", "Conv", "ConvTranspose", "Cos", "Div", "Elu", "Equal",
    "Erf", "Exp", "Flatten", "Floor", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool",
    "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "InstanceNormalization",
    "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax", "MatMul", "Max",
    "MaxPool", "Mean", "Min", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu",
    "Round", "Selu", "Shape", "Sigmoid", "Sign", "Sin", "Size", "Softmax", "Softplus", "Softsign",
    "Sqrt", "Sub", "Sum", "Tan", "Tanh", "Transpose", "Where", "Xor",
})  # fmt: skip
# And what does so where all but the first of its operands are constants.
_WITH_CONSTANTS = frozenset({
    "Expand", "Gather", "Pad", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Reshape",
    "Slice", "Split", "Squeeze", "Tile", "Unsqueeze",
})  # fmt: skip


@rewrite("If", removes="op:If const:If.cond", emits="*::*", claims="nan inf")
def if_to_where(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compute both and choose, see the module."""
    condition = node.need(0)
    rank = need_rank(condition)
    subgraphs = dict(node.node.graphs())
    branches = [subgraphs[name] for name in ("then_branch", "else_branch")]
    for branch in branches:
        _must_be_total(branch)
    places = range(len(node.node.outputs))
    kinds = [[_kind(Value(branch.outputs[place])) for place in places] for branch in branches]
    if kinds[0] != kinds[1]:
        raise Refuse("both branches must return the same types and shapes; they do not")
    sides = [_copied(branch, build) for branch in branches]
    scalar = condition
    if rank:
        scalar = build.Reshape(condition, [1])
        scalar = build.Squeeze(scalar, axes=[0])
    return tuple(
        _chosen(build, scalar, one, two) if node.output(place) is not None else None
        for place, (one, two) in enumerate(zip(*sides, strict=True))
        if place < len(node.node.outputs)
    )


def _chosen(build: Builder, condition: Value, one: Value, two: Value) -> Value:
    if build.opset >= _WHERE:
        return build.Where(condition, one, two)
    both = build.Concat(build.Unsqueeze(two, axes=[0]), build.Unsqueeze(one, axes=[0]), axis=0)
    return build.Gather(both, build.Cast(condition, to=TensorProto.INT64), axis=0)


def _kind(value: Value) -> tuple[str, tuple[int | str, ...]]:
    """Return type and shape of an output of a branch."""
    if not value.is_tensor or not value.elem_type or value.shape is None:
        raise Refuse(f"type and shape of {value.name} must be known")
    sizes = [size for size in value.shape if size is not None]
    if len(sizes) < len(value.shape):
        raise Refuse(f"the sizes of {value.name} must be known")
    return value.type_name, tuple(sizes)


def _must_be_total(branch: Graph) -> None:
    for inner in branch.nodes:
        view = NodeView(inner)
        constant = all(value is None or value.is_constant for value in view.inputs[1:])
        total = view.op in _TOTAL or (view.op in _WITH_CONSTANTS and constant)
        if view.domain or not total or _divides_integers(view) or not _fits(view):
            raise Refuse(f"the nodes of both branches must be safe to run; {view.op} may fail")


def _fits(view: NodeView) -> bool:
    """Say whether the sizes of operands fit whatever the open ones are."""
    shapes = [value.shape for value in view.inputs if value is not None]
    if len(shapes) < 2 or view.op in _WITH_CONSTANTS:
        return True
    if None in shapes:
        return False
    static = all(isinstance(size, int) for shape in shapes if shape for size in shape)
    larger = {shape for shape in shapes if shape and set(shape) != {1}}
    return static or len(larger) < 2


def _divides_integers(view: NodeView) -> bool:
    data = view.input(0)
    if view.op not in ("Div", "Pow"):
        return False
    return data is None or data.dtype is None or data.dtype.kind != "f"


def _copied(branch: Graph, build: Builder) -> list[Value]:
    values: Values = {}
    copy_constants(build, branch, values)
    copy_nodes(build, branch.nodes, values)
    return [value_of(output, values) for output in branch.outputs]
