"""RKNN: attention whose queries, keys and values are parts of one product."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_DEEPEST = 9
_HEADS = 4  # the rank with an axis for heads
_APART = [0, 2, 1, 3]  # heads before the steps
_KEYS = [0, 2, 3, 1]
_TURNED = [0, 1, 3, 2]
_SCALING = frozenset({"Div", "Mul"})
_BETWEEN = frozenset({"Add", "Div", "Mul", "Softmax", "Sub"})  # of the products and the values


@rule(
    "MatMul",
    feature="form:MatMul.of-values",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; its fuse_multihead_attention_reshape_to_gather_split"
    " gives heads that are mixed; with a single head or step, a bias that is added after MatMul,"
    " three products, or a tensor that is fed, it is right",
)
def values_of_split_heads(node: NodeView, target: Target) -> Answer:
    """RKNN mixes the attention heads if queries, keys and values are split from one MatMul."""
    result, weights, values = node.output(0), node.input(0), node.input(1)
    if result is None or weights is None or values is None or not _is_joined(result):
        return False
    products = _products_after(weights)
    if products is None:
        return False
    queries, keys = products.input(0), products.input(1)
    parts = [_part(queries, (_APART,)), _part(keys, (_KEYS,)), _part(values, (_APART,))]
    if parts[1] is None:
        parts[1] = _part(keys, (_APART, _TURNED))
    source = _source(parts)
    if source is None or not _is_product(source):
        return False
    sizes = values.shape
    if sizes is None or not all(isinstance(size, int) for size in sizes[1:3]):
        return Unknown(f"sizes of {values.name}")
    return 1 not in sizes[1:3]


def _is_joined(result: Value) -> bool:
    """Say whether heads are put after the steps and joined, and nothing else reads them."""
    turned = only_reader(result)
    if turned is None or turned.op != "Transpose" or list(turned.attr("perm", ())) != _APART:
        return False
    joined = only_reader(turned.output(0))
    return joined is not None and joined.op == "Reshape"


def _products_after(weights: Value) -> NodeView | None:
    """Return the MatMul of queries and keys, of which alone weights are made."""
    value: Value | None = weights
    for _ in range(_DEEPEST):
        maker = None if value is None else value.producer
        if maker is None or maker.domain or only_reader(value) is None:
            return None
        if maker.op == "MatMul":
            return maker
        if maker.op not in _BETWEEN:
            return None
        value = _computed(maker)
    return None


def _computed(node: NodeView) -> Value | None:
    """Return the first operand that is not known when a model is read."""
    return next((v for v in node.inputs if v is not None and not known_with_sizes(v)), None)


def _part(value: Value | None, turns: Sequence[list[int]]) -> Value | None:
    """Return what is given heads and turned, or None where it is not done so, or read twice."""
    while value is not None and (maker := value.producer) is not None and maker.op in _SCALING:
        if only_reader(value) is None:
            return None
        value = _computed(maker)
    for perm in reversed(turns):
        maker = None if value is None else value.producer
        if maker is None or maker.op != "Transpose" or only_reader(value) is None:
            return None
        if list(maker.attr("perm", ())) != perm:
            return None
        value = maker.input(0)
    maker = None if value is None else value.producer
    if value is None or maker is None or maker.op != "Reshape" or value.rank != _HEADS:
        return None
    part = maker.need(0)
    return None if only_reader(value) is None or only_reader(part) is None else part


def _source(parts: Sequence[Value | None]) -> Value | None:
    """Return what three tensors are parts of."""
    makers = [None if part is None else part.producer for part in parts]
    ops = {"" if maker is None else maker.op for maker in makers}
    sources = {maker.input(0) for maker in makers if maker is not None}
    if len(sources) != 1 or ops not in ({"Split"}, {"Slice"}):
        return None
    return sources.pop()


def _is_product(value: Value) -> bool:
    """Say whether a tensor is a product with weights, be it scaled and given another shape."""
    for _ in range(_DEEPEST):
        maker = value.producer
        if maker is None or maker.domain:
            return False
        if maker.op in ("Gemm", "MatMul"):
            return known_with_sizes(maker.need(1))
        source = _computed(maker)
        if source is None or maker.op not in ("Reshape", *_SCALING):
            return False
        value = source
    return False
