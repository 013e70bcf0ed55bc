"""Attention that OpenCV 5 joins to one layer, whatever its biases, axes and outputs are.

The layer has the weights and biases of query, key and value in one: where a bias is missing, as
that of the key of BEiT and Whisper, it does not load. Nor does it where the number of heads is left
to Reshape, as transformers writes it today.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_HEADS_BACK = [0, 2, 1, 3]
_RANK, _HEADS = 4, 2  # of what is cut into heads, and which of its axes they are
_LAST_BY_DEFAULT = 13  # the opset from which on Softmax is along the last axis


@dataclass(frozen=True, slots=True)
class _Part:
    """What is multiplied by weights and cut into heads: query, key or value."""

    source: Value
    bias: Value | None
    heads: int  # as the Reshape has it: -1 for what is left


@rule(
    "Softmax",
    feature="form:Softmax.attention",
    versions="opencv5.0..",
    severity=REJECT,
    text="DNN/Attention: invalid weight or bias shape",
    source="attention_layer.cpp:169, 179 (5.0.0); measured on 5.0.0: a product that is divided, or"
    " of two operands that are both scaled; one that is multiplied, one operand that is scaled,"
    " query, key and value of two tensors, and 4.10.0 are right; a mask may be added to the"
    " quotient (net_impl2.cpp:449 where it comes first)",
)
def attention_of_other_forms(node: NodeView, target: Target) -> Answer:
    """OpenCV 5 joins attention to one layer, which needs a bias each and the last axis."""
    heads = _heads(node)
    if heads is None:
        return None
    product = _reader(node.output(0), "MatMul")
    value = None if product is None else _projected(product.input(1))
    back = None if product is None else _reader(product.output(0), "Transpose")
    if value is None or back is None or _reader(back.output(0), "Reshape") is None:
        return None
    parts = (*heads, value)
    if len({part.source for part in parts}) != 1:
        return False
    result = node.need(0)
    axis = int(node.attr("axis", -1 if node.opset >= _LAST_BY_DEFAULT else 1))
    if axis not in (-1, (result.rank or 0) - 1) or list(back.attr("perm", ())) != _HEADS_BACK:
        return Yes(severity=WRONG, message="OpenCV 5 joins attention over another axis as usual")
    if any(part.bias is None or part.bias.rank != 1 for part in parts):
        return True
    if any(part.heads < 1 for part in parts):
        return Yes(message="OpenCV 5 joins attention, whose number of heads must not be -1")
    if _is_masked_first(node):
        return Yes(message="OpenCV 5 joins attention, whose mask must be the second operand of Add")
    given = node.output(0)
    if given is not None and given.is_graph_output:
        return Yes(message=f"OpenCV 5 joins attention, and returns nothing for {given.name}")
    return False


def _heads(node: NodeView) -> list[_Part] | None:
    """Return what query and key are made of, where their product is scaled as it is joined."""
    maker = _divided(node)
    if maker is not None:
        maker = maker.need(0).producer
        scaled = None if maker is None else list(maker.inputs)
    else:
        maker = node.need(0).producer
        scaled = None if maker is None else [_unscaled(value) for value in maker.inputs]
    if maker is None or maker.op != "MatMul" or scaled is None:
        return None
    found = [_projected(value) for value in scaled]
    heads = [each for each in found if each is not None]
    return heads if len(heads) == len(found) else None


def _divided(node: NodeView) -> NodeView | None:
    """Return the Div of the product, to which a mask may be added."""
    maker = node.need(0).producer
    makers = [maker]
    if maker is not None and maker.op == "Add":
        makers = [value.producer for value in maker.inputs if value is not None]
    found = (each for each in makers if each is not None and each.op == "Div")
    return next((each for each in found if is_stored(each.need(1))), None)


def _is_masked_first(node: NodeView) -> bool:
    maker, divided = node.need(0).producer, _divided(node)
    if maker is None or maker.op != "Add" or divided is None:
        return False
    return maker.need(0) != divided.output(0)


def _unscaled(value: Value | None) -> Value | None:
    maker = None if value is None else value.producer
    if maker is None or maker.op != "Mul":
        return None
    return next((other for one, other in _pairs(maker) if is_stored(one)), None)


def _projected(value: Value | None) -> _Part | None:
    """Return what is multiplied by weights, gets a bias, and is cut into heads."""
    turned = None if value is None else value.producer
    cut = turned.need(0).producer if turned is not None and turned.op == "Transpose" else None
    sizes = None if cut is None or cut.op != "Reshape" else cut.need(1).array()
    if cut is None or sizes is None or sizes.size != _RANK:
        return None
    maker, bias = cut.need(0).producer, None
    if maker is not None and maker.op == "Add":
        found = next(((one, other) for one, other in _pairs(maker) if is_stored(one)), None)
        if found is None:
            return None
        bias, maker = found[0], found[1].producer
    if maker is None or maker.op != "MatMul" or not is_stored(maker.need(1)):
        return None
    return _Part(maker.need(0), bias, int(sizes[_HEADS]))


def _pairs(node: NodeView) -> Iterator[tuple[Value, Value]]:
    left, right = node.need(0), node.need(1)
    yield left, right
    yield right, left


def _reader(value: Value | None, op: str) -> NodeView | None:
    readers = [] if value is None else list(value.consumers)
    return readers[0] if len(readers) == 1 and readers[0].op == op else None
