"""Which floating point tensors certainly hold integers of a known range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphfix.ir.attributes import AttributeRef
from graphfix.ir.graph import Node, Tensor, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.views import Array, Value
from graphfix.operators.table import OPERATORS

# Operators that give the elements that they got, in other places.
BYTE_MOVES = (
    "Concat",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "MaxPool",
    "Pad",
    "Reshape",
    "Resize",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
)
_DEPTH = 16
_LIMITS = {"min": 1, "max": 2}


def moved_inputs(node: Node) -> Sequence[int]:
    """Return the places of the inputs whose elements a node moves; none where it does more."""
    if normal_domain(node.domain) or node.op not in BYTE_MOVES:
        return ()
    if any(isinstance(value, AttributeRef) for value in node.attrs.values()):
        return ()
    if node.op == "MaxPool" and (
        node.attrs.get("ceil_mode", 0) or any(not is_empty(t) for t in node.outputs[1:])
    ):
        return ()  # a window outside of the image gives the least number of the type
    if node.op == "Resize" and node.attrs.get("mode", "nearest") != "nearest":
        return ()
    return (0,) if node.op == "Resize" else OPERATORS[node.op].data_places(len(node.inputs))


def is_stepped(tensor: Tensor, within: tuple[int, int] | None = None) -> bool:
    """Say whether a float tensor holds integers and no -0.0; see `stepping_nodes`.

    Args:
        tensor: The tensor.
        within: The range that the limits of the Clip must keep; None for any.
    """
    return bool(stepping_nodes(tensor, within))


def stepping_nodes(tensor: Tensor, within: tuple[int, int] | None = None) -> list[Node]:
    """Return the nodes that make a float tensor whole and limited; none where it may be neither.

    It is both where it is a Clip of a Round, Floor or Ceil to which a whole constant or such a
    number was added, or such numbers and constants moved about. The Add makes 0.0 of what rounding
    made -0.0.
    """
    found: list[Node] = []
    return found if _stepped(tensor, within, _DEPTH, found) else []


def _stepped(tensor: Tensor, within: tuple[int, int] | None, depth: int, found: list[Node]) -> bool:
    if not tensor.inputs or not depth:
        return False
    node: Node = tensor.inputs[0]
    found.append(node)
    if normal_domain(node.domain):
        return False
    if node.op != "Clip":
        places = [p for p in moved_inputs(node) if p < len(node.inputs)]
        operands = [node.inputs[p] for p in places if not is_empty(node.inputs[p])]
        known = [Value(t).array() for t in operands]
        return bool(operands) and all(
            _stepped(t, within, depth - 1, found) if array is None else _is_whole(array, within)
            for t, array in zip(operands, known, strict=True)
        )
    limits = [_limit(node, name, place) for name, place in _LIMITS.items()]
    bounds = np.array([limit for limit in limits if limit is not None])
    shifted, rounded = _made_by(node.inputs[0], ("Add",)), None
    if shifted is not None:
        constant = Value(shifted.inputs[1]).array()
        rounded = _made_by(shifted.inputs[0], ("Round", "Floor", "Ceil"))
        found.append(shifted)
        if constant is None:
            whole = _stepped(shifted.inputs[1], None, depth - 1, found)
        else:
            whole = _is_whole(constant, None)
        if not whole or rounded is None:
            return False
        found.append(rounded)
    return rounded is not None and len(bounds) == 2 and _is_whole(bounds, within)


def _is_whole(array: Array, within: tuple[int, int] | None) -> bool:
    numbers = array.astype(np.float64)
    if not (numbers == np.floor(numbers)).all() or (np.signbit(numbers) & (numbers == 0)).any():
        return False
    return within is None or bool(((numbers >= within[0]) & (numbers <= within[1])).all())


def _limit(node: Node, name: str, place: int) -> float | None:
    written = node.attrs.get(name)
    if isinstance(written, float | int):
        return float(written)
    if place >= len(node.inputs) or is_empty(node.inputs[place]):
        return None
    array = Value(node.inputs[place]).array()
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _made_by(tensor: Tensor, ops: Sequence[str]) -> Node | None:
    node: Node | None = tensor.inputs[0] if tensor.inputs else None
    return node if node is not None and node.op in ops and not normal_domain(node.domain) else None
