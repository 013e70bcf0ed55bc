"""MatMul, Gemm and Einsum."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView


@rule(
    "Gemm",
    feature="rank:Gemm",
    versions="trt8..",
    severity=REJECT,
    text="Assertion failed: inputA.getDimensions().nbDims == 2 && inputB.getDimensions().nbDims == "
    '2 && "GEMM must have 2D inputs!"',
    source="builtin_op_importers.cpp:1619 (8.6.1)",
)
def gemm_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Gemm of 2D inputs only."""
    for index in (0, 1):
        value = node.need(index)
        if value.rank is None:
            return Unknown(f"rank of {value.name}")
        if value.rank != 2:
            return Yes(feature=f"rank:Gemm.{value.rank}")
    return None


@rule(
    "MatMul",
    feature="rank:MatMul.1",
    versions="trt8..",
    severity=REJECT,
    text="[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IShuffleLayer: "
    "reshaping failed for tensor: reshape would change volume)",
    source="builtin_op_importers.cpp:2905-2915 (8.6.1), importMatMul (10.1): the vector is "
    "broadcast, not promoted",
)
def matmul_vector(node: NodeView, target: Target) -> Answer:
    """TensorRT squeezes the wrong axis of MatMul of a vector by a tensor of rank 3 or more."""
    first, second = node.need(0), node.need(1)
    if first.rank not in (None, 1) or second.rank in (1, 2):
        return None
    if first.rank is None or second.rank is None:
        return Unknown(f"rank of {(first if first.rank is None else second).name}")
    batch = second.dim(0)
    if batch == 1:
        return second.rank > 3 and Yes(severity=WRONG)
    return Unknown(f"size of {second.name}") if batch is None else True


@rule(
    "Einsum",
    feature="attr:Einsum.equation",
    versions="trt8.2..",
    severity=REJECT,
    text="Invalid character(s) in Einsum equation",
    source="builtin_op_importers.cpp:1382-1398 (8.6.1), onnxOpCheckers.cpp: checkEinsum (10.1)",
)
def einsum_characters(node: NodeView, target: Target) -> Answer:
    """TensorRT supports only lower-case letters in the Einsum equation."""
    equation = str(node.attr("equation", ""))
    bad = [c for c in equation if not ("a" <= c <= "z") and c not in "->., "]
    return bool(bad) and Yes(text=f"Invalid character(s) in Einsum equation: {','.join(bad)}")


@rule(
    "Einsum",
    feature="attr:Einsum.equation",
    versions="trt8.2..trt10.11",
    severity=BUILDER,
    source="operators.md (8.6.1): no ellipsis, no diagonal, no broadcasting",
)
def einsum_form(node: NodeView, target: Target) -> Answer:
    """TensorRT supports no ellipsis, repeated label or broadcasting in the Einsum equation."""
    equation = str(node.attr("equation", "")).replace(" ", "")
    if "..." in equation:
        return Yes(feature="attr:Einsum.ellipsis")
    terms = equation.partition("->")[0].split(",")
    if any(len(set(term)) < len(term) for term in terms):
        return Yes(feature="attr:Einsum.diagonal")
    sizes: dict[str, set[int]] = {}
    for term, value in zip(terms, node.inputs, strict=False):
        for axis, label in enumerate(term):
            size = None if value is None else value.dim(axis)
            if size is not None:
                sizes.setdefault(label, set()).add(size)
    if any(len(known) > 1 for known in sizes.values()):
        return Yes(feature="attr:Einsum.broadcast")
    return None
