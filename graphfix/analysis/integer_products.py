"""Which products a quantized graph computes in 8 bits.

They are operators of integers, or floats after DequantizeLinear, which engines fuse. A product of
floats counts where both operands come from a DequantizeLinear of 8 bits, perhaps moved about after
it: that is what engines with explicit quantization ask for (NVIDIA, "Working with quantized types";
onnxruntime, docs on QDQ).
"""

from __future__ import annotations

from math import prod

from msgspec import Struct
from onnx import TensorProto

from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_FLOATS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
# The places of both operands.
_INTEGERS = {
    "ConvInteger": (0, 1),
    "DynamicQuantizeMatMul": (0, 1),
    "MatMulInteger": (0, 1),
    "MatMulIntegerToFloat": (0, 1),
    "QGemm": (0, 3),
    "QLinearConv": (0, 3),
    "QLinearMatMul": (0, 3),
}
# What engines move a DequantizeLinear past, or a QuantizeLinear before.
_MOVES = (
    *("Concat", "Flatten", "Identity", "MaxPool", "Reshape", "Slice", "Split", "Squeeze"),
    *("Transpose", "Unsqueeze"),
)
_DEPTH = 8


class Products(Struct, frozen=True):
    """The products that are computed in 8 bits.

    Attributes:
        places: How many there are.
        work: Their multiply-adds for one item of the batch; None where sizes are open.
    """

    places: int
    work: int | None


def integer_products(model: Model) -> Products:
    """Count the products in 8 bits of a model whose types are inferred, in all its graphs."""
    found = [
        _work(view, places)
        for view in map(NodeView, model.nodes())
        if (places := _operands(view)) is not None
    ]
    known = [work for work in found if work is not None]
    return Products(len(found), sum(known) if len(known) == len(found) else None)


def _operands(view: NodeView) -> tuple[int, int] | None:
    """Return the places of the operands of a product in 8 bits; None for any other node."""
    if view.domain in ("", "com.microsoft") and view.op in _INTEGERS:
        return _INTEGERS[view.op]
    both = not view.domain and view.op in _FLOATS
    return (0, 1) if both and all(_is_dequantized(view.input(n)) for n in (0, 1)) else None


def _is_dequantized(value: Value | None, depth: int = _DEPTH) -> bool:
    maker = value.producer if value is not None else None
    if maker is None or maker.domain or not depth:
        return False
    if maker.op == "DequantizeLinear":
        given = maker.input(0)
        return given is not None and given.elem_type in _BYTES
    read = maker.inputs if maker.op == "Concat" else maker.inputs[:1]
    return maker.op in _MOVES and all(_is_dequantized(each, depth - 1) for each in read)


def _work(view: NodeView, places: tuple[int, int]) -> int | None:
    """Return the multiply-adds of a product: how many sums, times the length of each."""
    x, w = (_sizes(view.input(place)) for place in places)
    y = _sizes(view.output(0))
    if not x or not w or not y:
        return None
    if view.op == "ConvTranspose":
        return prod(x) * prod(w[1:])
    if "Conv" in view.op:
        return prod(y) * prod(w[1:])
    return prod(y) * x[-2 if "Gemm" in view.op and view.attr("transA", 0) else -1]


def _sizes(value: Value | None) -> list[int] | None:
    """Return the sizes of a value, an open first one as 1; None where others are open."""
    if value is None or not value.shape:
        return None
    first, *rest = value.shape
    sizes = [first if isinstance(first, int) else 1]
    sizes += [size for size in rest if isinstance(size, int)]
    return sizes if len(sizes) == len(value.shape) else None
