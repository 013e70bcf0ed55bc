"""Scales that a MatMul of bytes has for other than the columns of its weights.

Optimizations join DequantizeLinear and MatMul to QLinearMatMul, where the result is quantized
again, or to MatMulIntegerToFloat, which take one scale or one for each column: they look at how
many scales there are, not at the axis. Run here in 1.16.3, 1.31.1 and 1.32.0 with and without
optimizations, with weights of two and three axes, with and without zero points.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_FEATURE = "shape:DequantizeLinear.scales"
_BYTES = ("int8", "uint8")
_SEEN = "measured on 1.16.3, 1.31.1 and 1.32.0"
_SQUARE = "ONNX Runtime takes scales of the rows of a square matrix for its columns'."


def _is_dequantized(value: Value | None) -> bool:
    maker = None if value is None else value.producer
    if maker is None or maker.op != "DequantizeLinear" or maker.domain:
        return False
    return maker.need(0).type_name in _BYTES


def _joined(node: NodeView) -> Iterator[bool]:
    """Yield for each MatMul that is joined whether its result is quantized again."""
    weights = node.output(0)
    if weights is None or weights.is_graph_output or node.need(0).type_name not in _BYTES:
        return
    for reader in weights.consumers:
        result = reader.output(0)
        if reader.op != "MatMul" or reader.domain or result is None:
            continue
        if reader.need(1) == weights and _is_dequantized(reader.input(0)):
            readers = () if result.is_graph_output else result.consumers
            yield len(readers) == 1 and readers[0].op == "QuantizeLinear"


def _scales(node: NodeView) -> tuple[int, int, int, bool] | None:
    """Return how many scales there are, the rank, how many columns, and whether it is their axis.

    None where there is one scale, and where a size is not known.
    """
    scale, shape = node.need(1).static_shape, node.need(0).static_shape
    if scale is None or len(scale) != 1 or scale[0] == 1 or not shape:
        return None
    axis = int(node.attr("axis", 1))
    return scale[0], len(shape), shape[-1], axis % len(shape) == len(shape) - 1


def _found(node: NodeView, text: str, *, quantized: bool) -> Answer:
    """Say what becomes of scales where results are quantized again, or are not; it fails so."""
    found = _scales(node)
    if found is None or quantized not in set(_joined(node)):
        return False
    count, rank, columns, of_columns = found
    if count != columns or (rank > 2 and (quantized or node.input(2) is not None)):
        return Yes(text=text)
    return False if of_columns else Yes(severity=WRONG, message=_SQUARE)


@rule(
    "DequantizeLinear",
    feature=_FEATURE,
    versions="..ort-1.31",
    severity=REJECT,
    source=f"quantize_linear_matmul.cc, IsBQuantParamSupported; {_SEEN}, which runs it",
)
def quantized_product_of_scaled_rows(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.32 makes a QLinearMatMul of scales that are not of columns."""
    return _found(node, "QLinearMatmul : weight scale must be a scalar", quantized=True)


@rule(
    "DequantizeLinear",
    feature=_FEATURE,
    versions="ort",
    severity=REJECT,
    source=f"matmul_integer_base.h, and a scale that does not broadcast; {_SEEN}",
)
def product_of_scaled_rows(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime makes a MatMulIntegerToFloat of scales that are not of columns."""
    return _found(node, "MatmulInteger : b zero point is not valid", quantized=False)
