"""Sites of packed weights with fewer rows: what they do is the same for each of them.

Row n of the weights of MatMulNBits makes column n of its output and no other; its attribute N
counts them. What stands for it may not know of N: where it does, it does not run with fewer rows,
or gives something else, and the site is looked at as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from onnx import ModelProto, NodeProto

from graphfix.ir.protos import all_nodes, copied

_FEW = 40  # divides no block, and is more than the sizes that vectors have


class _Rows(NamedTuple):
    """The inputs whose first axis rows lie along, and the attribute that counts them."""

    places: tuple[int, ...]
    attribute: str = ""


_ROWS: Mapping[tuple[str, str], _Rows] = {
    ("com.microsoft", "MatMulNBits"): _Rows((1, 2, 3, 5), "N"),
    ("com.microsoft", "GatherBlockQuantized"): _Rows((0, 2, 3)),
}


def with_few_rows(before: ModelProto, after: ModelProto) -> tuple[ModelProto, ModelProto] | None:
    """Return a site whose big packed weights have few rows; None where it has none.

    Args:
        before: The site as it was, see `graphfix.proving.sites.cutting`.
        after: The site as it is.
    """
    dims = {info.name: info.type.tensor_type.shape.dim for info in before.graph.input}
    shorter: set[str] = set()
    counted: set[str] = set()
    for node in all_nodes(before.graph.node):
        rows = _ROWS.get((node.domain, node.op_type))
        if rows is None:
            continue
        names = [node.input[place] for place in rows.places if _has(node, place)]
        if any(name not in dims for name in names):
            return None  # a part of the weights is taken in: they are not big
        sizes = {dims[name][0].dim_value for name in names if len(dims[name])}
        if len(sizes) == 1 and min(sizes) > _FEW:
            shorter.update(names)
            counted.add(node.output[0])
    if not shorter:
        return None
    sides = (copied(before), copied(after))
    for model in sides:
        for info in model.graph.input:
            if info.name in shorter:
                info.type.tensor_type.shape.dim[0].dim_value = _FEW
    for node in all_nodes(sides[0].graph.node):
        rows = _ROWS.get((node.domain, node.op_type))
        if rows is not None and node.output[0] in counted:
            for attribute in node.attribute:
                if attribute.name == rows.attribute:
                    attribute.i = _FEW
    return sides


def _has(node: NodeProto, place: int) -> bool:
    return place < len(node.input) and bool(node.input[place])
