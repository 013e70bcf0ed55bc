"""Models to be judged: random graphs, and families of one operator in all its forms."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import onnx
from onnx import ModelProto, helper

from benchmarks.differential import recipes, recipes_layers, recipes_numbers, recipes_shapes
from benchmarks.differential.control import CONTROL, info
from benchmarks.differential.recipes import RECIPES
from benchmarks.differential.scope import (
    BASE_SIZES,
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Impossible,
    Input,
    Known,
    Root,
    Scope,
    undo,
)

OPSETS = tuple(range(9, 27))
TYPES = (F32, F32, F16, F64, I64, I32, U8, I8, I16, U16, U32, U64, BOOL, BF16)
LOADED = (recipes_layers, recipes_numbers, recipes_shapes, recipes)  # they fill RECIPES
TOUCHED_SHARE = 0.6
ATTEMPTS = 40

Runs = Callable[["Case"], bool]


@dataclass(frozen=True)
class Case:
    """A model and what its inputs may be fed with."""

    name: str
    model: ModelProto
    inputs: tuple[Input, ...]


def random_graph(seed: int, touched: Collection[str], runs: Runs) -> Case:
    """Return a graph of 5 to 40 nodes that runs with the base sizes.

    Args:
        seed: The same seed gives the same graph.
        touched: Operators that passes match; six choices in ten fall on them.
        runs: Says whether a model runs.

    Raises:
        Impossible: Too few nodes could be added.
    """
    rng = random.Random(f"graph {seed}")
    root = _root(rng, fresh=0.12)
    scope = Scope(root)
    scope.new_input(F32, rng.choice([2, 3, 4]))
    wanted = rng.randint(5, 40)
    hot = sorted(set(RECIPES) & set(touched))
    cold = sorted(set(RECIPES) - set(touched))
    for _ in range(wanted * 4):
        if len(scope.nodes) >= wanted:
            break
        marks = scope.mark()
        roll = rng.random()
        try:
            if roll < 0.1:
                rng.choice(CONTROL)(scope)
            else:
                op = rng.choice(hot if rng.random() < TOUCHED_SHARE else cold)
                RECIPES[op](scope, op)
        except Impossible:
            undo(marks)
            continue
        if not scope.tensors or not runs(_case("trial", scope, scope.tensors[-2:])):
            undo(marks)
    if len(scope.nodes) < 5:
        raise Impossible
    used = {name for node in scope.nodes for name in node.input}
    fed = {i.name for i in root.inputs}
    made = [t for t in scope.tensors if t.name not in fed]
    ends = [t for t in made if t.name not in used]
    chosen = ends[-8:] + rng.sample(made, min(2, len(made)))
    return _case(f"graph-{seed}", scope, list({t.name: t for t in chosen}.values()))


def family(op: str, number: int, runs: Runs) -> Case:
    """Return a model of one operator: its forms, types and parameters turn with the number.

    Raises:
        Impossible: No attempt gave a model that runs.
    """
    for attempt in range(ATTEMPTS):
        rng = random.Random(f"{op} {number} {attempt}")
        root = _root(rng, fresh=0.5)
        versions = _versions(op)
        root.opset = versions[(number + attempt) % len(versions)]
        root.ir_version = max(root.ir_version, lowest_ir(root.opset))
        root.wanted = (TYPES[(number + 3 * attempt) % len(TYPES)],)
        root.dynamic = (0.9, 0.0, 0.5)[number % 3]
        try:
            case = family_of(op, Scope(root), f"{op}-{number}")
        except Impossible:
            continue
        if runs(case):
            return case
    raise Impossible


def family_of(op: str, scope: Scope, name: str = "") -> Case:
    """Return a model of one operator, made in a scope.

    Raises:
        Impossible: The recipe finds nothing that fits, or there is none.
    """
    if op not in RECIPES:
        raise Impossible
    RECIPES[op](scope, op)
    fed = {i.name for i in scope.root.inputs}
    made = [t for t in scope.tensors if t.name not in fed]
    node = next((n for n in reversed(scope.nodes) if n.op_type == op), None)
    if node is None:
        raise Impossible
    kept = [t for t in made if t.name in node.output]
    return _case(name or op, scope, kept or made[-1:])


def _versions(op: str) -> Sequence[int]:
    """Return opsets at which the operator has a form, the first and last of each form."""
    starts = sorted(s.since_version for s in onnx.defs.get_all_schemas_with_history()
                    if s.name == op and s.domain == "" and not s.deprecated)  # fmt: skip
    ends = [start - 1 for start in starts[1:]]
    found = sorted({v for v in (*starts, *ends, 11, 13, 17, 18, 21) if OPSETS[0] <= v <= OPSETS[-1]
                    and starts and v >= starts[0]})  # fmt: skip
    return found or OPSETS


def _root(rng: random.Random, fresh: float) -> Root:
    opset = rng.choice(OPSETS)
    ir_version = min(12, max(lowest_ir(opset), rng.choice([4, 6, 8, 8, 9, 10])))
    return Root(rng, opset, ir_version, dynamic=rng.choice([0.0, 0.6, 0.9]), fresh=fresh)


def lowest_ir(opset: int) -> int:
    """Return the lowest IR version that an opset may be in."""
    return next(ir for least, ir in ((25, 12), (23, 11), (21, 10), (19, 9), (15, 8), (12, 7),
                                     (11, 6), (10, 5), (0, 4)) if opset >= least)  # fmt: skip


def _case(name: str, scope: Scope, outputs: Sequence[Known]) -> Case:
    root = scope.root
    named = {i.name for i in root.inputs}
    used = _used(scope)
    inputs = tuple(i for i in root.inputs if i.name in used)
    declared = [
        info(Known(t.name, t.elem, tuple(d if isinstance(d, int) or d in BASE_SIZES else None
                                         for d in t.dims)))
        for t in outputs
        if t.name not in named
    ]  # fmt: skip
    graph = helper.make_graph(
        list(scope.nodes),
        "g",
        [helper.make_tensor_value_info(i.name, i.elem, i.dims) for i in inputs],
        declared,
        initializer=list(scope.initializers),
    )
    imports = [helper.make_opsetid("", root.opset)]
    if root.functions:
        imports.append(helper.make_opsetid("local", 1))
    model = helper.make_model(
        graph, opset_imports=imports, ir_version=root.ir_version, functions=root.functions
    )
    return Case(name, model, inputs)


def _used(scope: Scope) -> set[str]:
    found: set[str] = set()
    graphs = [list(scope.nodes)]
    while graphs:
        for node in graphs.pop():
            found.update(node.input)
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    graphs.append(list(attribute.g.node))
                    found.update(o.name for o in attribute.g.output)
    return found
