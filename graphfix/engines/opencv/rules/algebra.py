"""Products of matrices, and the pattern that OpenCV fuses to a Gelu."""

from __future__ import annotations

from math import prod

from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.rule_makers import joins_no_axes
from graphfix.ir.views import NodeView, Value

JOINED_AXES = joins_no_axes(
    ops="Softmax LogSoftmax",
    opsets=range(1, 13),
    versions="opencv4.10..opencv4.10",
    source="measured on 4.10.0: opsets 10 to 12 over the second of three axes; the last is equal",
)


@rule(
    "MatMul",
    feature="shape:MatMul.constant-batch",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: [2,2,3,4] by a constant [2,1,4,5]",
)
def matmul_constant_batch(node: NodeView, target: Target) -> Answer:
    """OpenCV does not broadcast the batch of a constant MatMul operand."""
    first, second = node.input(0), node.input(1)
    if first is None or second is None or not is_stored(second):
        return False
    shape = second.static_shape
    if shape is None or prod(shape[:-2]) == 1:
        return False
    if first.shape is None:
        return Unknown(f"shape of {first.name}")
    batch, other = shape[:-2], first.shape[:-2]
    if len(other) > len(batch):
        return True
    pairs = zip(batch[len(batch) - len(other) :], other, strict=True)
    return any(mine == 1 and theirs != 1 for mine, theirs in pairs)


@rule(
    "Einsum",
    feature="attr:Einsum.equation",
    severity=WRONG,
    versions="opencv4.10..opencv4.10",
    source="measured on 4.10.0: ij,kj->ik and bhid,bhjd->bhij, run twice with other values; "
    "einsum_layer.cpp, preProcessedInputs, to which each run adds",
)
def transposed_operand(node: NodeView, target: Target) -> Answer:
    """OpenCV 4.10 takes an operand that it transposes from the first run of a network for all."""
    equation = str(node.attr("equation") or "").replace(" ", "")
    seen = ""
    for letters, value in zip(equation.partition("->")[0].split(","), node.inputs, strict=False):
        places = [seen.find(one) if one in seen else len(seen) for one in letters]
        if places != sorted(places) and value is not None and not is_stored(value):
            return True
        seen += "".join(one for one in letters if one not in seen)
    return False


@rule(
    "Add",
    feature="form:Add.of-erf",
    severity=REJECT,
    source="measured on 4.8.1, 4.10.0, 5.0.0: SIGSEGV in onnx_graph_simplifier.cpp, GeluSubGraph",
)
def gelu_in_another_order(node: NodeView, target: Target) -> Answer:
    """OpenCV crashes on a Gelu whose factors are not ordered as x * (1 + erf) * 0.5."""
    if not any(_made_by(value, "Erf", "Div") for value in node.inputs):
        return False
    plain = _second_is_constant(node)
    return any(
        not (plain and _second_is_constant(outer))
        for inner in _factors_with(node)
        for outer in _factors_with(inner)
    )


def _second_is_constant(node: NodeView) -> bool:
    value = node.input(1)
    return value is not None and is_stored(value)


def _factors_with(node: NodeView) -> list[NodeView]:
    """Return the products that the result of a node is a factor of."""
    result = node.output(0)
    return [] if result is None else [user for user in result.consumers if user.op == "Mul"]


def _made_by(value: Value | None, *ops: str) -> bool:
    """Say whether a value is the output of a chain of operators, the last of them first."""
    for op in ops:
        node = None if value is None else value.producer
        if node is None or node.op != op:
            return False
        value = node.input(0)
    return True


@rule(
    "Mul",
    feature="form:Mul.constant-first",
    versions="opencv5.0..",
    severity=REJECT,
    text="LayerNorm2: weight rank mismatch",
    source="layer_norm2.cpp:53 (5.0.0); measured with a bert whose weights are first",
)
def weights_first(node: NodeView, target: Target) -> Answer:
    """OpenCV misreads a decomposed normalisation whose weight is the first operand of Mul."""
    first, second = node.input(0), node.input(1)
    if first is None or second is None or not is_stored(first) or is_stored(second):
        return False
    made = second.producer
    return made is not None and made.op == "Div" and _made_by(made.input(1), "Sqrt")
