"""Changes that show with sizes that differ, parameters at their ends, large integers and nothing.

The rest of the kinds of `mutating.py`: each function returns the variants of one node.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

DIMS, SIZE, SIGN, FLOATS, ZERO = KINDS = (
    "swapped dims", "wrong size", "dropped sign", "through floats", "broken on 0",
)  # fmt: skip
_BUILDERS = ("build", "b", "builder")
_WHOLE = frozenset(
    {"Add", "Sub", "Mul", "Div", "Neg", "Abs", "ReduceSum", "ReduceProd", "CumSum", "Mod", "Max"}
    | {"Min", "Sum", "Where", "Gather", "Slice", "Concat", "MatMul", "Split", "GatherND"}
)
_SIGNED = frozenset(
    {"Pad", "Slice", "Gather", "Trilu", "Less", "Greater", "Sub", "Add", "Where", "Max", "Min"}
    | {"Mul", "Concat", "Equal", "GatherElements", "GatherND", "Mod"}
)
_FLOAT, _DOUBLE = 1, 11
Variants = list[tuple[str, ast.AST]]


def of_sizes(node: ast.AST, parents: Mapping[int, ast.AST]) -> Variants:
    """Return the variants of a node of these kinds."""
    if isinstance(node, ast.Call):
        return [*_of_builder(node), *_of_reading(node)]
    if isinstance(node, ast.Subscript):
        return _of_shape(node)
    if isinstance(node, ast.List) and len(node.elts) > 1:
        return _of_list(node, parents)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [(SIGN, node.operand)]
    return []


def _builder(call: ast.Call) -> str:
    on = call.func.value if isinstance(call.func, ast.Attribute) else None
    return on.id if isinstance(on, ast.Name) and on.id in _BUILDERS else ""


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _of_builder(call: ast.Call) -> Variants:
    builder, name = _builder(call), _name(call)
    if not builder or not call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return [(SIGN, call.args[0])] if name == "abs" and call.args else []
    found: Variants = []
    if name in ("Neg", "Abs"):
        found.append((SIGN, call.args[0]))
    if name in _WHOLE:
        found += [(FLOATS, _through(builder, call, element)) for element in (_FLOAT, _DOUBLE)]
    if name in _SIGNED:
        for place, given in enumerate(call.args):
            if place and isinstance(given, ast.Name | ast.Call | ast.Attribute):
                args = [*call.args[:place], _called(builder, "Abs", given), *call.args[place + 1 :]]
                found.append((SIGN, _with(call, args=args)))
    if name == "Shape":
        found.append((ZERO, _called(builder, "Max", call, ast.Constant(1))))
    if name == "Reshape" and len(call.args) > 1 and isinstance(call.args[1], ast.List):
        found += _of_reshape(call, call.args[1])
    return found


def _of_reshape(call: ast.Call, shape: ast.List) -> Variants:
    """Take what is left for what is copied, and the other way round."""
    found: Variants = []
    texts = [ast.unparse(size) for size in shape.elts]
    for place, text in enumerate(texts):
        fresh: ast.expr | None = None
        if text == "-1":
            fresh = ast.Constant(0)
        elif "-1" not in texts:
            fresh = ast.UnaryOp(ast.USub(), ast.Constant(1))
        if fresh is not None:
            sizes = [*shape.elts[:place], fresh, *shape.elts[place + 1 :]]
            args = [call.args[0], ast.List(sizes, ast.Load()), *call.args[2:]]
            found.append((ZERO, _with(call, args=args)))
    return found


def _of_reading(call: ast.Call) -> Variants:
    """Read a size from the axis before."""
    name = _name(call)
    if name in ("dim", "size") and len(call.args) == 1:
        return [(SIZE, _with(call, args=[_less(call.args[0])]))]
    if name == "Slice" and call.args and _is_shape(call.args[0]):
        keywords = [
            ast.keyword(k.arg, _each_less(k.value)) if k.arg in ("starts", "ends") else k
            for k in call.keywords
        ]
        return [(SIZE, _with(call, keywords=keywords))]
    if name == "Gather" and len(call.args) > 1 and _is_shape(call.args[0]):
        return [(SIZE, _with(call, args=[call.args[0], _less(call.args[1]), *call.args[2:]]))]
    found: Variants = []
    if isinstance(call.func, ast.Name):
        for place, given in enumerate(call.args):
            text = ast.unparse(given)
            whole = isinstance(given, ast.Name | ast.BinOp | ast.Constant)
            if whole and ("axis" in text or text.endswith((".rank - 1", ".rank - 2"))):
                args = [*call.args[:place], _less(given), *call.args[place + 1 :]]
                found.append((SIZE, _with(call, args=args)))
    return found


def _of_shape(node: ast.Subscript) -> Variants:
    of_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if not of_shape or isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
        return []
    return [(SIZE, ast.Subscript(node.value, _less(node.slice), ast.Load()))]


def _of_list(node: ast.List, parents: Mapping[int, ast.AST]) -> Variants:
    above = parents.get(id(node))
    if isinstance(above, ast.keyword):
        above = parents.get(id(above))
    if not isinstance(above, ast.Call) or not isinstance(node.ctx, ast.Load):
        return []
    front = [node.elts[1], node.elts[0], *node.elts[2:]]
    back = [*node.elts[:-2], node.elts[-1], node.elts[-2]]
    orders = [front] if len(node.elts) == 2 else [front, back]
    return [(DIMS, ast.List(order, ast.Load())) for order in orders]


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name(node) == "Shape"


def _less(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _each_less(node: ast.expr) -> ast.expr:
    loop = ast.comprehension(ast.Name("a", ast.Store()), node, [], 0)
    return ast.ListComp(_less(ast.Name("a", ast.Load())), [loop])


def _called(builder: str, op: str, *args: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(builder, ast.Load()), op, ast.Load())
    return ast.Call(function, list(args), [])


def _through(builder: str, call: ast.Call, element: int) -> ast.expr:
    """Return what rounds a result to a floating type, and rolls it back to its own."""
    text = (
        f"(lambda value: {builder}.Cast({builder}.Cast(value, to={element}), "
        f"to=value.elem_type))({ast.unparse(call)})"
    )
    return ast.parse(text, mode="eval").body


def _with(call: ast.Call, **fields: object) -> ast.Call:
    fresh = copy.copy(call)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh
