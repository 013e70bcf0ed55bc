"""Wrong variants of a pass: small changes to the syntax tree of its source.

`points` lists what can be changed in the functions that a pass uses, in an order that depends on
the source alone, and `changed` makes one change. Docstrings, annotations, decorators, texts of
errors, and what is reached only from `infer` or `evaluate` (the specification of an operator, not
the rewrite) stay as they are.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from benchmarks.mutants import arguments, sizes

_OLDER = (
    "swapped operands", "off by one", "wrong axis", "wrong rounding", "dropped Cast",
    "wrong dtype", "changed constant", "dropped Refuse",
)  # fmt: skip
OPERANDS, OFF_BY_ONE, AXIS, ROUNDING, CAST, DTYPE, CONSTANT, REFUSE = _OLDER
KINDS = (*_OLDER, *sizes.KINDS, *arguments.KINDS)

_ORDERED = frozenset(
    {"Sub", "Div", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Mod", "Pow", "MatMul"}
)
_ROUNDED = {"Floor": "Ceil", "Ceil": "Floor", "Round": "Floor"}
_ROUNDED_BY_NUMPY = {"floor": "ceil", "ceil": "floor", "rint": "floor", "round": "floor",
                     "trunc": "floor"}  # fmt: skip
_DTYPES = {
    "FLOAT": "FLOAT16", "FLOAT16": "FLOAT", "DOUBLE": "FLOAT", "INT64": "INT32", "INT32": "INT64",
    "BOOL": "UINT8", "UINT8": "INT8",
    "float32": "float16", "float64": "float32", "float16": "float32", "int64": "int32",
    "int32": "int16", "uint8": "int8", "bool_": "uint8",
}  # fmt: skip
_WORDS = {
    "float32": "float16", "float64": "float32", "int64": "int32", "int32": "int16",
}  # fmt: skip
_ROUNDING_WORDS = {
    "floor": "ceil", "ceil": "floor", "round_prefer_floor": "round_prefer_ceil",
    "round_prefer_ceil": "round_prefer_floor",
}  # fmt: skip
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_AXES = frozenset({"axis", "axes", "perm", "dim", "order"})


@dataclass(frozen=True)
class Point:
    """One change.

    Attributes:
        file: The name of the source it is for.
        place: The number of the node in the order of `ast.walk`, and of the variant of that node.
        kind: One of `KINDS`.
        line: Where it is.
        lines: The first and the last line of the statement, or of the part of it, that it is in.
        text: What was there, and what is there then.
    """

    file: str
    place: tuple[int, int]
    kind: str
    line: int
    lines: tuple[int, int]
    text: str


def points(sources: Mapping[str, str], roots: Sequence[str]) -> list[Point]:
    """List the changes that can be made to the functions that some functions use.

    Args:
        sources: File name -> source.
        roots: Names of the functions to begin with.
    """
    trees = {name: ast.parse(text) for name, text in sources.items()}
    used = _reached(trees.values(), roots)
    found: list[Point] = []
    for name, tree in trees.items():
        allowed = _changeable(tree, used)
        parents = {
            id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        for number, node in enumerate(ast.walk(tree)):
            if id(node) not in allowed:
                continue
            for variant, (kind, fresh) in enumerate(_variants(node, parents)):
                text = _reported(node, fresh, parents)
                if text:
                    line = getattr(node, "lineno", 0)
                    lines = _extent(node, parents)
                    found.append(Point(name, (number, variant), kind, line, lines, text))
    return found


def changed(source: str, place: tuple[int, int]) -> str:
    """Return a source with one change made."""
    tree = ast.parse(source)
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    node = next(n for number, n in enumerate(ast.walk(tree)) if number == place[0])
    fresh = _variants(node, parents)[place[1]][1]
    parent = parents[id(node)]
    for name, value in ast.iter_fields(parent):
        if value is node:
            setattr(parent, name, fresh)
        elif isinstance(value, list):
            items = cast("list[object]", value)
            setattr(parent, name, [fresh if item is node else item for item in items])
    return ast.unparse(ast.fix_missing_locations(tree))


def chosen(found: Sequence[Point], most: int, seed: int) -> list[Point]:
    """Choose some of them, the kinds in turn, so that the rare ones are there."""
    rng = random.Random(seed)
    by_kind = {kind: [p for p in found if p.kind == kind] for kind in KINDS}
    for group in by_kind.values():
        rng.shuffle(group)
    picked: list[Point] = []
    while len(picked) < most and any(by_kind.values()):
        for group in by_kind.values():
            if group and len(picked) < most:
                picked.append(group.pop())
    return picked


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) < 70 else text[:67] + "..."


def _reported(node: ast.AST, fresh: ast.AST, parents: Mapping[int, ast.AST]) -> str:
    """Say what was there and what is there then; empty where that is the same."""
    before, after = _shown(node), _shown(fresh)
    if before == after:
        return ""
    around = parents.get(id(node))
    if isinstance(node, ast.Constant | ast.Attribute | ast.keyword) and around is not None:
        return f"{before} -> {after} in {_shown(around)}"
    return f"{before} -> {after}"


def _extent(node: ast.AST, parents: Mapping[int, ast.AST]) -> tuple[int, int]:
    """Return the lines of the simple statement, or of the head of a compound one, around a node."""
    part = node
    while not isinstance(part, ast.stmt):
        above = parents[id(part)]
        if isinstance(above, ast.stmt) and hasattr(above, "body"):
            break
        part = above
    return getattr(part, "lineno", 0), getattr(part, "end_lineno", 0) or 0


def within_functions(source: str) -> set[int]:
    """Return the lines of a source that run only when a function is called."""
    tree = ast.parse(source)
    return {
        line
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for line in range(statement.lineno, (statement.end_lineno or 0) + 1)
    }


def _reached(trees: Iterable[ast.Module], roots: Sequence[str]) -> set[str]:
    """Return the names at the top of the files that are used from some functions on."""
    subgraphs: dict[str, list[ast.AST]] = {}
    for tree in trees:
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef):
                subgraphs.setdefault(statement.name, []).extend(statement.body)
            elif isinstance(statement, ast.ClassDef):
                subgraphs.setdefault(statement.name, []).append(statement)
            elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                for name in _assigned(statement):
                    subgraphs.setdefault(name, []).append(statement.value)
    used: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name in used or name not in subgraphs:
            continue
        used.add(name)
        for body in subgraphs[name]:
            pending.extend(n.id for n in ast.walk(body) if isinstance(n, ast.Name))
    return used


def _assigned(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _changeable(tree: ast.Module, used: set[str]) -> set[int]:
    """Return the nodes that belong to what is used and may be changed, by identity."""
    found: set[int] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name in used:
            for inner in statement.body:
                _collect(inner, found)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            for _ in used.intersection(_assigned(statement)):
                _collect(statement.value, found)
    return found


def _collect(node: ast.AST, found: set[int]) -> None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return
    if isinstance(node, ast.Call) and _called(node) in ("declare", "Refuse"):
        return
    found.add(id(node))
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        children = cast("list[object]", value) if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST):
                _collect(child, found)


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _variants(node: ast.AST, parents: Mapping[int, ast.AST]) -> list[tuple[str, ast.AST]]:
    found = [*_of_numbers(node, parents), *sizes.of_sizes(node, parents)]
    return [*found, *arguments.of_arguments(node)]


def _of_numbers(node: ast.AST, parents: Mapping[int, ast.AST]) -> list[tuple[str, ast.AST]]:
    if isinstance(node, ast.BinOp):
        return _of_arithmetic(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        fresh = copy.copy(node)
        fresh.ops = [_COMPARED[type(node.ops[0])]()]
        return [(OFF_BY_ONE, fresh)]
    if isinstance(node, ast.Call):
        return _of_call(node)
    if isinstance(node, ast.keyword) and node.arg in _AXES:
        return _of_axes(node)
    if isinstance(node, ast.Constant):
        return _of_constant(node, parents)
    if isinstance(node, ast.Attribute) and node.attr in _DTYPES:
        if isinstance(node.value, ast.Name) and node.value.id in ("TensorProto", "np"):
            return [(DTYPE, ast.Attribute(node.value, _DTYPES[node.attr], ast.Load()))]
        return []
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return [(REFUSE, ast.Pass())] if _called(node.exc) == "Refuse" else []
    return []


def _of_arithmetic(node: ast.BinOp) -> list[tuple[str, ast.AST]]:
    found: list[tuple[str, ast.AST]] = []
    text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    ordered = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
    if isinstance(node.op, ordered) and not text:
        found.append((OPERANDS, ast.BinOp(node.right, node.op, node.left)))
    if isinstance(node.op, ast.FloorDiv):
        upward = ast.BinOp(ast.UnaryOp(ast.USub(), node.left), ast.FloorDiv(), node.right)
        found.append((ROUNDING, ast.UnaryOp(ast.USub(), upward)))
    return found


def _of_call(node: ast.Call) -> list[tuple[str, ast.AST]]:
    name, args = _called(node), node.args
    plain = not any(isinstance(a, ast.Starred) for a in args)
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    builds = isinstance(on, ast.Name) and on.id in ("build", "b", "builder")
    numpy = isinstance(on, ast.Name) and on.id in ("np", "math")
    if builds and name in _ORDERED and len(args) >= 2 and plain:
        return [(OPERANDS, _with(node, args=[args[1], args[0], *args[2:]]))]
    if builds and name == "Where" and len(args) == 3 and plain:
        return [(OPERANDS, _with(node, args=[args[0], args[2], args[1]]))]
    if builds and name == "Concat" and len(args) > 1 and plain:
        return [(OPERANDS, _with(node, args=args[::-1]))]
    if builds and name == "Cast" and args and plain:
        return [(CAST, args[0])]
    if name == "astype" and on is not None:
        return [(CAST, on)]
    names = _ROUNDED if builds else _ROUNDED_BY_NUMPY if numpy else {}
    if name in names and on is not None:
        return [(ROUNDING, _with(node, func=ast.Attribute(on, names[name], ast.Load())))]
    if name == "range" and plain:
        end = 0 if len(args) == 1 else 1
        shorter = ast.BinOp(args[end], ast.Sub(), ast.Constant(1))
        return [(OFF_BY_ONE, _with(node, args=[*args[:end], shorter, *args[end + 1 :]]))]
    return []


def _with(call: ast.Call, **fields: object) -> ast.Call:
    fresh = copy.copy(call)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh


def _of_axes(node: ast.keyword) -> list[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, ast.Constant) or (
        isinstance(value, ast.List) and any(isinstance(e, ast.Constant) for e in value.elts)
    ):
        return []  # its values are changed themselves
    fresh: ast.expr
    if node.arg in ("axis", "dim"):
        fresh = ast.BinOp(value, ast.Sub(), ast.Constant(1))
    elif node.arg == "axes":
        one = ast.BinOp(ast.Name("a", ast.Load()), ast.Sub(), ast.Constant(1))
        loop = ast.comprehension(ast.Name("a", ast.Store()), value, [], 0)
        fresh = ast.ListComp(one, [loop])
    else:
        last = ast.Call(ast.Name("list", ast.Load()), [value], [])
        step = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
        fresh = ast.Subscript(last, step, ast.Load())
    return [(AXIS, ast.keyword(node.arg, fresh))]


def _of_constant(node: ast.Constant, parents: Mapping[int, ast.AST]) -> list[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        return [(CONSTANT, ast.Constant(not value))]
    if isinstance(value, int):
        return [(_role(node, parents), ast.Constant(value + 1))]
    if isinstance(value, float):
        fresh = [value * 1.01, value * 2.0] if value else [0.125]
        return [(CONSTANT, ast.Constant(number)) for number in fresh]
    if isinstance(value, str):
        if value in _WORDS:
            return [(DTYPE, ast.Constant(_WORDS[value]))]
        if value in _ROUNDING_WORDS:
            return [(ROUNDING, ast.Constant(_ROUNDING_WORDS[value]))]
    return []


def _role(node: ast.AST, parents: Mapping[int, ast.AST]) -> str:
    """Say what an integer is for: an axis, a place or a count, or a number like others."""
    parent = parents.get(id(node))
    while isinstance(parent, ast.List | ast.Tuple | ast.UnaryOp):
        parent = parents.get(id(parent))
    if isinstance(parent, ast.keyword) and parent.arg in _AXES:
        return AXIS
    if isinstance(parent, ast.BinOp | ast.Compare | ast.Subscript | ast.Slice):
        return OFF_BY_ONE
    if isinstance(parent, ast.Call) and _called(parent) in ("range", "dim", "size"):
        return OFF_BY_ONE
    return CONSTANT
