"""TVM: what its importer computes of sizes when it reads a model, and what reads none of that."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule
from graphfix.engines.tvm.counting import meets_its_length
from graphfix.engines.tvm.holding import ARITHMETIC, Held, Holding, holding_of
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView

_WHEEL = "measured on apache-tvm 0.27.0.post1"
# Operators that may read a list of sizes that is not yet a tensor, and If, which reads none.
_READS_SIZES = frozenset({
    "Cast", "CastLike", "Concat", "ConstantOfShape", "Equal", "Expand", "Gather", "If", "Reshape",
    "Resize", "Shape", "Slice", "Squeeze", "Where",
})  # fmt: skip
# Operators that are refused where an operand is a number of Python.
_READS_NO_NUMBER = frozenset({
    "Abs", "Ceil", "Cos", "Dropout", "Elu", "Equal", "Erf", "Exp", "Expand", "Floor", "Gather",
    "LeakyRelu", "Log", "Max", "Mean", "Min", "Not", "Relu", "Reshape", "Round", "Shape", "Sigmoid",
    "Sign", "Sin", "Softplus", "Sqrt", "Squeeze", "Sum", "Tanh", "Where",
})  # fmt: skip
_NUMBERS = {Held.SIZE, Held.NUMBER}


def _nodes(holding: Holding) -> Iterator[tuple[NodeView, set[Held]]]:
    """Walk the nodes of ONNX, and how their inputs are held."""
    return ((node, set(holding.all_of(node))) for node in holding.nodes if not node.domain)


@model_rule(
    feature="shape:{op}",
    severity=REJECT,
    text="Node {node} cannot handle ShapeExpr inputs.",
    source=f"{_WHEEL}; shape_compatible_ops of ONNXGraphImporter",
)
def reads_no_sizes(model: Model, target: Target) -> list[Answer]:
    """TVM imports a shape as a list of sizes, which {op} does not take."""
    said = "of a shape; with fixed input sizes (--shape) it is computed at import"
    return [
        Yes(node=node, message=f"{target.title} does not compute {node.op} {said}")
        for node, inputs in _nodes(holding_of(model))
        if Held.SIZES in inputs and node.op not in _READS_SIZES
    ]


@model_rule(
    feature="shape:{op}",
    severity=REJECT,
    text="'PrimType' object has no attribute 'shape'; expected Tensor, but got ir.PrimType",
    source=f"{_WHEEL}: a model for each operator, given a size that Gather takes of a Shape",
)
def reads_no_number(model: Model, target: Target) -> list[Answer]:
    """TVM imports a single size as a number, which {op} does not take."""
    return [
        Yes(node=node)
        for node, inputs in _nodes(holding_of(model))
        if node.op in _READS_NO_NUMBER and inputs & _NUMBERS
    ]


@model_rule(
    feature="dtype:{op}",
    severity=REJECT,
    text="Binary operators must have the same datatype for both operands.",
    source=f"{_WHEEL}: x * Pow(Cast(size), -0.5) is float32 by float64; a Cast between is taken",
)
def number_of_another_type(model: Model, target: Target) -> list[Answer]:
    """TVM computes sizes as 64-bit numbers, which conflict with an operand of fewer bits."""
    found: list[Answer] = []
    for node, inputs in _nodes(holding_of(model)):
        types = {value.type_name for value in node.inputs if value is not None}
        met = node.op in ARITHMETIC and inputs == {Held.NUMBER, Held.TENSOR}
        if met and not types & {"int64", "float64", "unknown"}:
            found.append(Yes(feature=f"dtype:{node.op}.{types.pop()}", node=node))
    return found


@model_rule(
    feature="rank:{op}.1",
    severity=REJECT,
    text="can only convert an array of size 1 to a Python scalar",
    source=f"{_WHEEL}: a size + [1, 2, 3] is refused, a size + [1] comes out without its axis",
)
def number_with_a_vector(model: Model, target: Target) -> list[Answer]:
    """TVM drops the axis of a constant vector that is combined with a single size."""
    holding, found = holding_of(model), list[Answer]()
    for node, inputs in _nodes(holding):
        if node.op not in ARITHMETIC or not inputs & _NUMBERS or Held.CONSTANT not in inputs:
            continue
        values = [value for value in node.inputs if value is not None and value.rank]
        vectors = [value for value in values if holding.of(value) is Held.CONSTANT]
        if not vectors or Held.TENSOR in inputs:
            continue
        result = node.output(0)
        if any(value.static_shape != (1,) * (value.rank or 0) for value in vectors):
            found.append(Yes(node=node))
        elif result is not None and result.is_graph_output:
            found.append(Yes(node=node, severity=WRONG))
    return found


@model_rule(
    feature="const:Reshape.shape",
    severity=REJECT,
    text="Reshape requires the input new shape to be Shape. However, the given one is "
    "relax.TensorType",
    source=f"{_WHEEL}: of sizes, Gather by a vector, Slice of a constant, and every operator that "
    "the importer has no arithmetic of sizes for",
)
def shape_in_a_tensor(model: Model, target: Target) -> list[Answer]:
    """TVM requires the shape of Reshape as a list of sizes, and it is a computed tensor."""
    holding = holding_of(model)
    said = f"{target.title} requires the shape of Reshape at import; it is computed later in"
    return [
        Yes(node=node, message=f"{said} a model")
        for node, _ in _nodes(holding)
        if node.op == "Reshape" and holding.of(node.need(1)) is Held.TENSOR
    ]


@model_rule(
    feature="const:Range.limit",
    severity=REJECT,
    text="CodeGenVM cannot emit this Relax operator directly",
    source=f"{_WHEEL}: the length of a Range whose bounds are computed is a name, which is not "
    "matched with a number or another name; a model for each operator",
)
def computed_range(model: Model, target: Target) -> list[Answer]:
    """TVM does not match the length of a computed Range with a tensor of the same length."""
    holding = holding_of(model)
    ranges = [node for node in holding.nodes if holding.is_computed_range(node)]
    made = [(node, node.output(0)) for node in ranges]
    return [Yes(node=node) for node, y in made if y is not None and meets_its_length(y)]


@model_rule(
    feature="const:OneHot.depth",
    severity=REJECT,
    text="Only constant depth currently supported.",
    source=f"{_WHEEL}: facts/asked.json, one-hot-sizes",
)
def depth_of_one_hot(model: Model, target: Target) -> list[Answer]:
    """TVM requires a depth of OneHot that is known at import."""
    holding = holding_of(model)
    depths = [(node, node.need(1)) for node, _ in _nodes(holding) if node.op == "OneHot"]
    return [
        Yes(node=node)
        for node, depth in depths
        if not depth.is_constant and (holding.of(depth) is not Held.CONSTANT or depth.rank != 0)
    ]
