"""QNN: equations of Einsum."""

from __future__ import annotations

import re

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView

# A product of matrices of a batch, of which the second may be turned; no letter is there twice.
_PRODUCT = re.compile(r"(\w*)(\w)(\w),\1(?:\3(\w)|(\w)\3)->\1\2(?:\4|\5)")
# A product of each row or column of images with a matrix of its own, as SAM's relative positions.
_BY_LINE = re.compile(r"(\w)(\w)(\w)(\w),(?:\2|\3)(\w)\4->\1\2\3\5")
_FLOATS = ("float16", "float32")
_PAIR = 2


@rule(
    "Einsum",
    feature="op:Einsum",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: ij,jk->ik and ij,kj->ik, with up to three letters in front that both have"
    " in the same sizes, are equal, and so are bhwc,hkc->bhwk and bhwc,wkc->bhwk; others, and sizes"
    " of 1 against several, are left",
)
def equation_of_no_product(node: NodeView, target: Target) -> Answer:
    """QNN supports Einsum only as a product of matrices, or of each row or column with one."""
    equation = str(node.attr("equation", "")).replace(" ", "")
    by_line = _BY_LINE.fullmatch(equation)
    if by_line is not None and len(set(by_line.groups())) < len(by_line.groups()):
        return True
    if len(node.inputs) != _PAIR or not (by_line or _is_product(equation)):
        return True
    x, y = node.need(0), node.need(1)
    for value in (x, y):
        if not value.elem_type:
            return Unknown(f"type of {value.name}")
        if value.type_name not in _FLOATS:
            return True
    if by_line is not None:
        return False
    shapes = x.static_shape, y.static_shape
    if shapes[0] is None or shapes[1] is None:
        return Unknown(f"sizes of {x.name} and {y.name}")
    return shapes[0][:-_PAIR] != shapes[1][:-_PAIR]


def _is_product(equation: str) -> bool:
    """Say whether an equation is a product of matrices with the same batch."""
    found = _PRODUCT.fullmatch(equation)
    if found is None:
        return False
    batch, row, shared, plain, turned = found.groups()
    letters = [*batch, row, shared, plain or turned]
    return len(batch) <= 3 and len(set(letters)) == len(letters)
