"""What the inputs of a model are used for: the node and position that each one reaches.

An input is followed through operators that only move or convert values, into the subgraphs of
control flow as well; a model with local functions is looked at after inlining them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping

import onnx
from msgspec import Struct

from graphfix.ir.protos import all_nodes
from graphfix.operators.table import CARRIES_FIRST

# Position 0 of these reaches their output with its values unchanged.
_CARRIERS = CARRIES_FIRST | {"Cast", "CastLike"}
_CARRIERS_ANY = frozenset({"Concat", "SequenceConstruct", "Optional"})
_DEPTH = 12


class Use(Struct, frozen=True):
    """One consumer of an input: the node, the position, and whether a Unsqueeze came before."""

    node: onnx.NodeProto
    position: int

    @property
    def op(self) -> str:
        """The operator that consumes the value."""
        return self.node.op_type


def _branch_results(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    """Yield, for the branches of an If, what carries their results to its outputs."""
    for attribute in node.attribute if node.op_type == "If" else ():
        for inner, outer in zip(attribute.g.output, node.output, strict=False):
            yield onnx.NodeProto(op_type="Identity", input=[inner.name], output=[outer])


def consumers(graph: onnx.GraphProto) -> dict[str, list[Use]]:
    """Return who reads each tensor, by name; scopes share names, as ONNX forbids shadowing."""
    result: dict[str, list[Use]] = {}
    for node in all_nodes(graph.node):
        for position, name in enumerate(node.input):
            if name:
                result.setdefault(name, []).append(Use(node, position))
        for carrier in _branch_results(node):
            result.setdefault(carrier.input[0], []).append(Use(carrier, 0))
    return result


def reached(
    name: str, readers: Mapping[str, list[Use]], onward: Callable[[Use], bool], most: int
) -> Iterator[tuple[Use, bool]]:
    """Yield where a tensor ends up, nearest first, and whether it gets there as it is.

    Args:
        name: The tensor.
        readers: See `consumers`.
        onward: Whether to follow the outputs of a node, too.
        most: Through how many nodes.
    """
    seen: set[str] = set()
    pending = deque([(name, True, 0)])
    while pending:
        current, direct, depth = pending.popleft()
        if current in seen:
            continue
        seen.add(current)
        for use in readers.get(current, ()):
            yield use, direct
            if depth < most and onward(use):
                kept = direct and use.op in ("Cast", "Identity")
                pending.extend((output, kept, depth + 1) for output in use.node.output if output)


def uses_of(name: str, readers: Mapping[str, list[Use]]) -> list[Use]:
    """Return where a tensor ends up, through operators that only carry its values."""
    return [
        use
        for use, _ in reached(name, readers, _carries, _DEPTH)
        if not _carries(use) or use.op in ("Cast", "Reshape", "Slice", "Expand")
    ]


def _carries(use: Use) -> bool:
    return (use.op in _CARRIERS and use.position == 0) or use.op in _CARRIERS_ANY


def attribute_of(node: onnx.NodeProto, name: str) -> onnx.AttributeProto | None:
    """Return an attribute of a node, None when it is absent."""
    return next((a for a in node.attribute if a.name == name), None)


def int_attribute(node: onnx.NodeProto, name: str, default: int) -> int:
    """Return an integer attribute of a node, or its default."""
    attribute = attribute_of(node, name)
    return default if attribute is None else int(attribute.i)
