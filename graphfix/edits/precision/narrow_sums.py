"""Products and Softmax as an engine computes them that adds up in a narrow type.

What is summed is cut into blocks along what is summed over; each block is computed in float32 and
rounded to the type, as is each sum so far. A block has as many terms as the engine adds at once
(one in a shader with one accumulator), or more where there would be over `STEPS` blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from graphfix.ir.protos import copied, normal_domain

STEPS = 1024
_PRODUCTS = {"MatMul", "Gemm", "Conv", "ConvTranspose"}


@dataclass(frozen=True, slots=True)
class NarrowSums:
    """How sums are cut.

    Attributes:
        ranks: Of tensors, where they are known.
        at_once: How many terms the engine adds before it rounds.
    """

    ranks: Mapping[str, int]
    at_once: int

    def of(self, node: NodeProto, twin: NodeProto) -> NarrowSums:
        """Return the same for a node that reads the tensors of another one by other names."""
        pairs = zip(twin.input, node.input, strict=True)
        return NarrowSums({new: self.ranks.get(old, 0) for new, old in pairs}, self.at_once)


def adds_up(node: NodeProto) -> bool:
    """Say whether a node is one that `stepwise` knows."""
    return not normal_domain(node.domain) and node.op_type in _PRODUCTS | {"Softmax"}


def stepwise(
    node: NodeProto, how: NarrowSums, opset: int, target: int, fresh: Callable[[], str]
) -> tuple[list[NodeProto], str] | None:
    """Return nodes that compute what a node does, summing in a type, and what they give.

    Args:
        node: A node of float32.
        how: How sums are cut; the ranks are those of what the node reads.
        opset: Of the model.
        target: The type that every sum is rounded to.
        fresh: Gives a new name.

    Returns:
        None where it is not known along which axes to cut, and where nothing is added up.
    """
    made, ranks = _Made(target, fresh, how.at_once), how.ranks
    if node.op_type == "Softmax":
        return _softmax(node, ranks, opset, made)
    axes = _cut_axes(node, ranks)
    if axes is None:
        return None
    bare = copied(node)
    bare.name = ""
    del bare.input[2:]
    kept = [a for a in node.attribute if not (node.op_type == "Gemm" and a.name == "beta")]
    del bare.attribute[:]
    bare.attribute.extend(kept)
    found = made.summed(bare, dict(zip(node.input[:2], axes, strict=True)))
    if len(node.input) > 2 and node.input[2]:
        found = made.rounded(made.add("Add", found, _addend(node, ranks, made)))
    return made.nodes, found


def _attribute(node: NodeProto, name: str, default: Any) -> Any:
    found = next((each for each in node.attribute if each.name == name), None)
    return default if found is None else helper.get_attribute_value(found)


def _cut_axes(node: NodeProto, ranks: Mapping[str, int]) -> tuple[int, int] | None:
    """Return the axes of both operands that are summed over."""
    if node.input[0] == node.input[1]:
        return None
    if node.op_type == "Gemm":
        return (0 if _attribute(node, "transA", 0) else 1), (
            1 if _attribute(node, "transB", 0) else 0
        )
    if node.op_type == "MatMul":
        rank = ranks.get(node.input[1], 0)
        return (-1, -2 if rank > 1 else 0) if rank else None
    if _attribute(node, "group", 1) != 1:
        return None  # of a depthwise one few terms are added
    return 1, 1 if node.op_type == "Conv" else 0


def _addend(node: NodeProto, ranks: Mapping[str, int], made: _Made) -> str:
    bias = node.input[2]
    if node.op_type == "Gemm":
        beta = np.array(_attribute(node, "beta", 1.0), np.float32)
        return made.add("Mul", bias, made.constant(beta))
    rank = ranks.get(node.input[1], 4)
    return made.add("Reshape", bias, made.constant(np.array([1, -1, *[1] * (rank - 2)])))


def _softmax(
    node: NodeProto, ranks: Mapping[str, int], opset: int, made: _Made
) -> tuple[list[NodeProto], str] | None:
    rank = ranks.get(node.input[0], 0)
    axis = int(_attribute(node, "axis", -1 if opset >= 13 else 1))
    if not rank or (opset < 13 and axis % rank != rank - 1):
        return None
    (x,) = node.input
    most = made.add("ReduceMax", x, **({} if opset >= 18 else {"axes": [axis]}))
    if opset >= 18:
        made.nodes[-1].input.append(made.constant(np.array([axis])))
    terms = made.rounded(made.add("Exp", made.rounded(made.add("Sub", x, most))))
    reduce = helper.make_node("ReduceSum", [terms], ["_"])
    if opset >= 13:
        reduce.input.append(made.constant(np.array([axis])))
    else:
        reduce.attribute.append(helper.make_attribute("axes", [axis]))
    total = made.summed(reduce, {terms: axis})
    return made.nodes, made.rounded(made.add("Div", terms, total))


class _Made:
    """Nodes that were made so far."""

    def __init__(self, target: int, fresh: Callable[[], str], at_once: int) -> None:
        self.target, self.fresh, self.at_once = target, fresh, at_once
        self.nodes: list[NodeProto] = []

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [self.fresh()], **attributes))
        return self.nodes[-1].output[0]

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        return self.add("Constant", value=numpy_helper.from_array(value))

    def rounded(self, name: str) -> str:
        return self.add("Cast", self.add("Cast", name, to=self.target), to=TensorProto.FLOAT)

    def part(self, node: NodeProto, cut: Mapping[str, int], start: str, end: str) -> str:
        """Return what a node computes from a part of what is cut."""
        twin = copied(node)
        for place, name in enumerate(node.input):
            if name in cut:
                axis = self.constant(np.array([cut[name]]))
                twin.input[place] = self.add("Slice", name, start, end, axis)
        twin.output[0] = self.fresh()
        self.nodes.append(twin)
        return self.rounded(twin.output[0])

    def summed(self, node: NodeProto, cut: Mapping[str, int]) -> str:
        """Return the sum of what a node computes from part after part."""
        name, axis = next(iter(cut.items()))
        one, zero = self.constant(np.array([1])), self.constant(np.array([0]))
        size = self.add("Gather", self.add("Shape", name), self.constant(np.array([axis])), axis=0)
        block = self._quotient(size, self.constant(np.array([STEPS * self.at_once])), one)
        block = self.add("Mul", block, self.constant(np.array([self.at_once])))
        trips = self.add("Sub", self._quotient(size, block, one), one)
        first = self.part(node, cut, zero, block)
        body = _Made(self.target, self.fresh, self.at_once)
        turn, going, so_far = (self.fresh() for _ in range(3))
        start = body.add("Mul", body.add("Add", turn, one), block)
        further = body.part(node, cut, start, body.add("Add", start, block))
        total = body.rounded(body.add("Add", so_far, further))
        still = body.add("Identity", going)
        graph = helper.make_graph(
            body.nodes,
            "step",
            [
                helper.make_tensor_value_info(turn, TensorProto.INT64, []),
                helper.make_tensor_value_info(going, TensorProto.BOOL, []),
                helper.make_tensor_value_info(so_far, TensorProto.FLOAT, None),
            ],
            [
                helper.make_tensor_value_info(still, TensorProto.BOOL, []),
                helper.make_tensor_value_info(total, TensorProto.FLOAT, None),
            ],
        )
        scalar = self.constant(np.array([], np.int64))
        return self.add("Loop", self.add("Reshape", trips, scalar), "", first, body=graph)

    def _quotient(self, number: str, divisor: str, one: str) -> str:
        """Return a quotient, rounded up."""
        return self.add("Div", self.add("Sub", self.add("Add", number, divisor), one), divisor)
