"""OpenVINO: DequantizeLinear with a scale for each block."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView, Value

_OP = "DequantizeLinear"
_FEATURE = "attr:DequantizeLinear.block_size"


@rule(
    _OP,
    feature=_FEATURE,
    versions="openvino2026.4..",
    severity=REJECT,
    text="Conversion is failed for: DequantizeLinear-21",
    source="dequantize_linear.cpp of the ONNX frontend; measured on 2026.4.1 of int4, uint4, int8 "
    "and uint8 of rank 1 to 4, axes from either end, constant and not, with float32 and float16: "
    "any last block that is not full, and vectors",
)
def blocks_not_full(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires blocks of DequantizeLinear to be full, in at least two dimensions."""
    block, data = int(node.attr("block_size", 0)), node.need(0)
    if not block:
        return None
    if data.rank is None:
        return Unknown(f"rank of {data.name}")
    size = data.dim(int(node.attr("axis", 1)))
    if data.rank > 1 and size is None:
        return Unknown(f"sizes of {data.name}")
    return data.rank < 2 or size is None or bool(size % block)


@rule(
    _OP,
    feature=_FEATURE,
    versions="openvino2026.4..",
    severity=REJECT,
    text="Incompatible MatMul matrix dimension",
    source="measured on 2026.4.1 of int4 and int8 with and without zero points, products of MatMul "
    "and Gemm, transposed and not: right along the axis that is summed, from the left, in batches, "
    "with an operator between and of one block",
)
def blocks_of_columns(node: NodeView, target: Target) -> Answer:
    """OpenVINO misreads blocks along the columns of a matrix that MatMul reads from the right."""
    block, data, result = int(node.attr("block_size", 0)), node.need(0), node.output(0)
    if not block or data.rank != 2 or result is None or data.array() is None:
        return None
    axis = int(node.attr("axis", 1)) % 2
    size = data.dim(axis)
    if size is None or size <= block:
        return None
    return any(turned == (axis == 0) for turned in _products(result))


def _products(weights: Value) -> Iterator[bool]:
    """Yield for each product that reads a matrix from the right whether it is transposed there."""
    for reader in weights.consumers:
        if reader.op == "Transpose":
            after = reader.output(0)
            for each in () if after is None else _products(after):
                yield not each
        elif reader.op in ("MatMul", "Gemm") and reader.need(1) == weights:
            yield bool(int(reader.attr("transB", 0)))
