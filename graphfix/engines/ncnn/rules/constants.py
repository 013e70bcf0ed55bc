"""ncnn: constants that pnnx turns into numbers of an expression, and what is next to Gemm.

A constant of one element, whatever its rank, is a number in an expression to pnnx and no tensor:
where a layer needs a tensor, an Expression is left that ncnn does not have. Its text is read with
``std::stof``, which takes no subnormal number, and infinities and NaN have no text that is read.
"""

from __future__ import annotations

from math import prod

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.engines.ncnn.rules import FACTS
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_JOINING = ("Concat", "Einsum", "MatMul")
_LEFT = {  # the operator of pnnx that ncnn has no layer for
    "BatchNormalization": "F.batch_norm",
    "InstanceNormalization": "F.instance_norm",
    "LayerNormalization": "F.layer_norm",
    "PRelu": "PRelu",
}
_WITH_PARAMETERS = tuple(_LEFT)
_ARITHMETIC = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Sum")


def is_one_element(value: Value | None) -> bool:
    """Say whether a tensor is a constant of one element."""
    if value is None or not known_with_sizes(value):
        return False
    shape = value.static_shape
    return shape is not None and prod(shape) == 1


@rule(
    _JOINING,
    feature="const:{op}.one-number",
    severity=REJECT,
    text="layer pnnx.Expression not exists or registered; layer torch.matmul not exists",
    source=f"{FACTS}: of ranks 1 to 4; constants of several numbers are equal, and of one in Conv,"
    " PRelu, BatchNormalization and the arithmetic of numbers",
)
def one_number_for_a_tensor(node: NodeView, target: Target) -> Answer:
    """pnnx does not support a single-element constant as an operand of {op}."""
    return any(is_one_element(value) for value in node.inputs)


@rule(
    "Gemm",
    feature="const:Gemm.bias",
    severity=REJECT,
    text="layer F.linear not exists or registered; layer torch.mm not exists or registered",
    source=f"{FACTS}: what has an alpha or beta, or a computed matrix that is not transposed, is"
    " written as a product and a sum, and takes every bias; of others, which become F.linear, a"
    " number for each column, with a constant matrix",
)
def bias_of_another_shape(node: NodeView, target: Target) -> Answer:
    """pnnx requires a constant bias with one value per column, and no scalar operand."""
    y, bias, matrix = node.output(0), node.input(2), node.input(1)
    if any(is_one_element(value) for value in node.inputs[:1]):
        return Yes(feature="form:Gemm.one-number")
    if bias is None or matrix is None or _is_scaled(node, "alpha") or _is_scaled(node, "beta"):
        return False
    if not known_with_sizes(matrix):
        return bool(node.attr("transB", 0))
    columns = None if y is None else y.dim(1)
    fits = bias.rank == 1 and (columns is None or bias.dim(0) == columns)
    return not (fits and known_with_sizes(bias))


@rule(
    "Gemm",
    feature="form:Gemm.scaled",
    severity=WRONG,
    source=f"{FACTS}: with and without transpositions, constant and computed; with a bias, and beta"
    " without one, it is equal",
)
def scaled_without_a_bias(node: NodeView, target: Target) -> Answer:
    """pnnx ignores alpha and transpositions of a Gemm without a bias whose alpha is not 1."""
    return node.input(2) is None and _is_scaled(node, "alpha")


def _is_scaled(node: NodeView, factor: str) -> bool:
    return bool(node.attr(factor, 1.0) != 1.0)


@rule(
    _ARITHMETIC,
    feature="const:{op}.no-normal-number",
    severity=REJECT,
    text="pnnx ended with -6; pnnx ended with -11",
    source=f"{FACTS}: where they are one among several numbers, and bounds of Clip, they are taken",
)
def number_without_a_text(node: NodeView, target: Target) -> Answer:
    """pnnx crashes when a scalar constant is subnormal, infinite or NaN."""
    return any(_has_no_text(value) for value in node.inputs if is_one_element(value))


def _has_no_text(value: Value | None) -> bool:
    array = None if value is None else value.array()
    if array is None or array.dtype != np.float32:
        return False
    number = float(array.reshape(-1)[0])
    return not np.isfinite(number) or 0 < abs(number) < float(np.finfo(np.float32).tiny)


@rule(
    _WITH_PARAMETERS,
    feature="const:{op}.parameters",
    severity=REJECT,
    source=f"{FACTS}: each of scale, bias, mean and variance; what follows from constants is taken",
)
def computed_parameters(node: NodeView, target: Target) -> Answer:
    """ncnn requires scale, bias and slope of {op} to be constant."""
    given = [value for value in node.inputs[1:] if value is not None]
    computed = not all(known_with_sizes(value) for value in given)
    if not computed:
        return None
    text = f"layer {_LEFT[node.op]} not exists or registered"
    if node.op == "InstanceNormalization":
        return Yes(feature="op:InstanceNormalization", text=text)
    kind = "form" if node.op == "LayerNormalization" else "const"
    return Yes(feature=f"{kind}:{node.op}.parameters", text=text)
