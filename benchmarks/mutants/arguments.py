"""Changes that leave an argument of a foreign operator out: it is read, and its default is used.

That a repair does not read an argument at all is refused before any proof, see
`graphfix.authoring.accounting`; here it looks at it and computes what the operator is without it.
"""

from __future__ import annotations

import ast
import copy

DROPPED = "dropped argument"
KINDS = (DROPPED,)
# What reads an argument: with a default, or None where it is not given.
_WITH_DEFAULT = frozenset({"attr", "number", "text"})
_OR_NONE = frozenset({"entries", "integers", "input", "tensor"})
Variants = list[tuple[str, ast.AST]]


def of_arguments(node: ast.AST) -> Variants:
    """Return the variants of a node of this kind."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    on, name = node.func.value, node.func.attr
    if not isinstance(on, ast.Name) or on.id not in ("call", "node", "c") or node.keywords:
        return []
    if not node.args:
        return []
    first = node.args[0]
    if name in _WITH_DEFAULT and len(node.args) == 2:
        return [(DROPPED, _instead(node, node.args[1]))]
    if name in _OR_NONE and len(node.args) == 1 and not _is_first(first):
        return [(DROPPED, _instead(node, ast.Constant(None)))]
    return []


def _is_first(place: ast.expr) -> bool:
    """Say whether what is read is the first operand, without which there is no call."""
    return isinstance(place, ast.Constant) and place.value in (0, "self", "input")


def _instead(call: ast.Call, default: ast.expr) -> ast.expr:
    """Return an expression that reads an argument and is the default."""
    both = ast.Tuple([copy.copy(call), copy.copy(default)], ast.Load())
    return ast.Subscript(both, ast.Constant(1), ast.Load())
