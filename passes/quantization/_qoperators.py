"""The quantized operators that are written on floating point numbers, and the types they give."""

from collections.abc import Callable, Sequence

from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Option, Value

from . import _qelements as elements
from . import _qmeans as means
from . import _qproducts as products
from ._parameters import BYTES, EMITTED

Dims = tuple[int | str | None, ...]

_WRITERS: dict[str, Callable[[NodeView, Builder], Value]] = {
    "QGemm": products.gemm,
    "QLinearAdd": elements.add,
    "QLinearAveragePool": means.average_pool,
    "QLinearConcat": elements.concat,
    "QLinearConv": products.conv,
    "QLinearGlobalAveragePool": elements.global_average_pool,
    "QLinearLeakyRelu": elements.unary,
    "QLinearMatMul": products.matmul,
    "QLinearMul": elements.mul,
    "QLinearSigmoid": elements.unary,
    "QLinearSoftmax": means.softmax,
    "QLinearWhere": elements.where,
}
STANDARD = ("QLinearConv", "QLinearMatMul")
# com.microsoft has a QLinearConv of its own as well.
_BOTH = "QLinearConv"
OPERATORS = (
    *STANDARD,
    *(f"com.microsoft::{op}" for op in sorted(_WRITERS) if op not in STANDARD or op == _BOTH),
)
WRITTEN = (
    *EMITTED,
    "AveragePool",
    "Concat",
    "Conv",
    "Gather",
    "LeakyRelu",
    "MatMul",
    "Pad",
    "ReduceMax",
    "ReduceSum",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Transpose",
)
OPTIONS = {
    "rounded": Option(bool, False, "Average by AveragePool, rounding next to a half: cheaper.")
}
# The place of the zero point of the result, which bears its type.
_RESULT_ZERO = {"QGemm": 8, "QLinearAdd": 7, "QLinearConcat": 1, "QLinearMul": 7, "QLinearWhere": 8}


def is_quantized_operator(node: NodeView) -> bool:
    """Say whether a node is one of them."""
    if node.op == _BOTH:
        return node.domain in ("", "com.microsoft")
    return node.op in _WRITERS and node.domain == ("" if node.op in STANDARD else "com.microsoft")


def write(node: NodeView, build: Builder) -> Value:
    """Return what a quantized operator gives, computed in float32 and cast at the end.

    Raises:
        Refuse: Something is not known, or float32 would not hold it.
    """
    result = _WRITERS[node.op](node, build)
    place = _RESULT_ZERO.get(node.op, 7 if node.op in STANDARD else 4)
    zero = node.input(place)
    if node.op == "QGemm" and node.input(7) is None:
        return result
    return build.Cast(result, to=node.need(0).elem_type if zero is None else zero.elem_type)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The type of the zero point of the result; the shape where it follows from the inputs."""
    x = node.input(0)
    if node.domain != "com.microsoft" or x is None:
        return (None,)
    zero = node.input(7 if node.op == _BOTH else _RESULT_ZERO.get(node.op, 4))
    kind = (x if zero is None else zero).elem_type
    if node.op == "QGemm" and node.input(7) is None:
        kind = int(TensorProto.FLOAT)
    if kind not in (*BYTES, TensorProto.FLOAT):
        return (None,)
    return (InferredType(kind, _shape(node, x)),)


def _shape(node: NodeView, x: Value) -> Dims | None:
    if node.op in ("QLinearSoftmax", "QLinearLeakyRelu", "QLinearSigmoid"):
        return x.shape
    if node.op in ("QLinearAdd", "QLinearMul"):
        return _broadcast(x.shape, node.need(3).shape)
    if node.op == "QLinearWhere":
        return _broadcast(x.shape, _broadcast(node.need(1).shape, node.need(4).shape))
    if node.op == "QGemm":
        a, b = x.shape, node.need(3).shape
        if a is None or b is None or len(a) != 2 or len(b) != 2:
            return None
        return (a[1 if node.attr("transA", 0) else 0], b[0 if node.attr("transB", 0) else 1])
    if node.op == "QLinearConcat":
        return _joined([node.need(place) for place in range(2, len(node.inputs), 3)], node)
    if x.shape is None:
        return None
    if node.op == "QLinearGlobalAveragePool":
        ones = (1,) * (len(x.shape) - 2)
        last = bool(node.attr("channels_last", 0))
        return (x.shape[0], *ones, x.shape[-1]) if last else (*x.shape[:2], *ones)
    return (None,) * len(x.shape)


def _joined(parts: Sequence[Value], node: NodeView) -> Dims | None:
    shape = parts[0].shape
    if shape is None:
        return None
    axis = int(node.attr("axis")) % len(shape)
    sizes = [part.dim(axis) for part in parts]
    known = [size for size in sizes if size is not None]
    total = sum(known) if len(known) == len(sizes) else None
    return (*shape[:axis], total, *shape[axis + 1 :])


def _broadcast(a: Dims | None, b: Dims | None) -> Dims | None:
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    left, right = ((1,) * (rank - len(s)) + s for s in (a, b))
    return tuple(
        q if p == 1 else p if q == 1 or p == q else None for p, q in zip(left, right, strict=True)
    )
