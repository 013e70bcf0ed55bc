"""TVM: the element type of what OneHot gives."""

from __future__ import annotations

from collections import deque

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView

_MOST = 100  # nodes that are looked at
_MOVES = frozenset({"Expand", "Gather", "Reshape", "Slice", "Squeeze", "Tile", "Unsqueeze"})


@rule(
    "OneHot",
    feature="dtype:OneHot.float32",
    severity=REJECT,
    text="Binary operators must have the same datatype for both operands.",
    source="measured on apache-tvm 0.27.0.post1: facts/asked.json, one-hot-types",
)
def one_hot_of_64_bits(node: NodeView, target: Target) -> Answer:
    """TVM returns float64 for OneHot of float32, which conflicts with a float32 operand."""
    values = node.need(2)
    if not values.elem_type:
        return Unknown(f"dtype of {values.name}")
    return values.type_name == "float32" and _meets_another(node)


def _meets_another(node: NodeView) -> bool:
    """Say whether what a node gives is computed with another tensor."""
    front, seen = deque([node]), 0
    while front and seen < _MOST:
        seen += 1
        result = front.popleft().output(0)
        for user in () if result is None else result.consumers:
            if user.op == "Cast":
                continue
            others = {value for value in user.inputs if value is not None and value != result}
            if others and user.op not in _MOVES:
                return True
            front.append(user)
    return False
