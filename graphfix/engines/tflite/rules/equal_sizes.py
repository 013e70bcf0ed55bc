"""TFLite: sizes that are equal, by which onnx2tf takes one axis for another.

onnx2tf tells from the sizes of a tensor whether it has put its channels last. Where all after the
first are equal it takes a tensor for one of which it has (``inverted_operation_enable_disable`` of
its ``utils/common_functions.py``), whatever computed it, MatMul alone left out, and an input for
one of which it has not. Some operators it runs with inputs of ones, and takes the axes that come
nearest to what onnxruntime gives, which helps where numbers differ then. Its Transpose finds the
axes again by their sizes where the first one moves.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from math import prod
from pathlib import Path

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import after, kept_stepwise
from graphfix.analysis.shape_only_values import counted_late
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, REDUCTIONS

_GRAPHS = f"{MEASURED}: facts/graphs.json"
_IMAGING = json.loads(Path(__file__).parent.with_name("imaging.json").read_text(encoding="utf-8"))
_PICTURES = frozenset(_IMAGING["operators"])
_BY_AXIS = frozenset({"Concat", "Gather"})  # constants are moved, too
_MEASURING = frozenset({"Shape", "Size"})
_UNASKING = frozenset({"GatherND", "MatMul"})
# What onnx2tf tries with inputs of ones and puts right, where the numbers differ that it sees.
_TRIED = frozenset({"LayerNormalization", "Reshape", "Softmax", "Unsqueeze", *REDUCTIONS})
_TRIED_WITH_CONSTANTS = frozenset({"Add", "Div", "Mul", "Sub"})
_LINES = 3  # the rank
_TRIED_TOGETHER = 2  # tensors that are joined
_FEW = 64  # numbers that are compared


@model_rule(feature="io:square-input", severity=WRONG, source=_GRAPHS)
def input_of_equal_sizes(model: Model, target: Target) -> list[Answer]:
    """onnx2tf confuses the axes of an input whose sizes after the batch are equal."""
    if not _has_pictures(model):
        return []
    return [
        Yes(message=f"onnx2tf confuses the axes of input {tensor.name}, of equal sizes")
        for tensor in given_inputs(model)
        if _is_square(Value(tensor))
        and any(node.op not in _PICTURES for node in _by_axes(Value(tensor)))
    ]


@model_rule(feature="form:{op}.equal-sizes", severity=WRONG, source=_GRAPHS)
def tensor_of_equal_sizes(model: Model, target: Target) -> list[Answer]:
    """onnx2tf confuses the axes of a tensor whose sizes after the first are equal."""
    if _has_pictures(model):
        return []
    found: dict[NodeView, Value] = {}
    turned: set[int] = set()  # tensors that lie as onnx2tf takes them to
    for node in map(NodeView, model.graph.nodes):
        for value in node.outputs:
            if value is None or not _is_mistaken(value):
                continue
            if _is_turned(node, turned):
                turned.add(id(value.tensor))
                found |= dict.fromkeys(_regardless(value, turned), value)
            else:
                found |= dict.fromkeys(_by_axes(value), value)
    return [
        Yes(
            node=node,
            message=f"onnx2tf confuses the axes of {value.name}, of equal sizes, in {node.op}",
        )
        for node, value in found.items()
    ]


@model_rule(
    feature="form:Concat.constant",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json",
)
def constant_beside_equal_sizes(model: Model, target: Target) -> list[Answer]:
    """onnx2tf joins a tensor whose channels were moved last with one in ONNX order.

    This affects two tensors if one is constant, and three or more always.
    """
    if not _has_pictures(model):
        return []
    found: list[Answer] = []
    turned: set[int] = set()
    for node in map(NodeView, model.graph.nodes):
        given = [value for value in node.inputs if value is not None]
        before = [value for value in given if id(value.tensor) in turned]
        if node.op == "Concat" and before and int(node.attr("axis", 0)):
            # Of two the order of axes is found by trying, unless one is constant.
            others = [
                v
                for v in given
                if not _is_square(v) and (len(given) > _TRIED_TOGETHER or known_with_sizes(v))
            ]
            found += [
                Yes(
                    node=node,
                    message=f"onnx2tf joins {other.name} to {before[0].name}, of equal sizes,"
                    f" along the wrong axis",
                    feature="" if known_with_sizes(other) else "form:Concat.equal-axes",
                )
                for other in others[:1]
            ]
        last = node.op == "Transpose" and list(node.attr("perm", ())) == [0, 2, 1]
        if last or (before and (node.op in ELEMENTWISE or node.op == "LayerNormalization")):
            outputs = [value for value in node.outputs if value is not None]
            turned |= {id(v.tensor) for v in outputs if v.rank == _LINES and _is_square(v)}
    return found


def _is_mistaken(value: Value) -> bool:
    """Say whether onnx2tf takes the channels of a computed tensor to be last."""
    maker = value.producer
    if maker is None or maker.op == "MatMul" or not _is_square(value):
        return False
    return not known_with_sizes(value)


def _is_turned(maker: NodeView, turned: set[int]) -> bool:
    """Say whether an output has the layout that is assumed, as a Transpose did nothing."""
    given = [value for value in maker.inputs if value is not None]
    before = [id(value.tensor) in turned for value in given]
    if maker.op == "Transpose" and list(maker.attr("perm", ())) == [0, 2, 1]:
        return _is_mistaken(given[0]) and not before[0]
    return maker.op in ELEMENTWISE and any(before)


def _regardless(value: Value, turned: set[int]) -> Iterator[NodeView]:
    """Walk the readers that do not ask how a tensor lies, for one that lies otherwise."""
    for node in value.consumers:
        others = [other for other in node.inputs if other is not None]
        mixed = node.op in ELEMENTWISE and not all(
            id(other.tensor) in turned or _is_one_element(other) for other in others
        )
        perm = list(node.attr("perm", ())) if node.op == "Transpose" else []
        if mixed or node.op in _UNASKING or (node.op == "Transpose" and perm != [0, 2, 1]):
            yield node


def _has_pictures(model: Model) -> bool:
    """Say whether inputs are given as pictures, as `program.py` does it."""
    ranks = {Value(tensor).rank for tensor in model.graph.inputs}
    operators = {node.op for node in model.graph.nodes}
    return not ranks.isdisjoint(_IMAGING["ranks"]) and not operators.isdisjoint(_PICTURES)


def _is_square(value: Value) -> bool:
    after = (value.shape or ())[1:]
    sizes = [size for size in after if isinstance(size, int)]
    return len(sizes) == len(after) > 1 and sizes[0] > 1 and len({*sizes}) == 1


def _by_axes(value: Value) -> Iterator[NodeView]:
    """Walk the readers for which it matters how the axes of a tensor lie."""
    for node in value.consumers:
        if not _is_indifferent(node, value) and not (_is_tried(node) and varies(value)):
            yield node


def _is_tried(node: NodeView) -> bool:
    given = [operand for operand in node.inputs if operand is not None]
    constants = node.op in _TRIED_WITH_CONSTANTS and any(map(known_with_sizes, given))
    return constants or node.op in _TRIED


@kept_stepwise(in_a_loop=False)
def varies(value: Value) -> Generator[Value, bool, bool]:
    """Say whether numbers of a tensor differ where all inputs are ones: weights differ."""
    if value.is_constant:
        return _differs(value)
    for operand in after(value):
        if (yield operand):
            return True
    return False


def _differs(constant: Value) -> bool:
    """Say whether a constant has floats that differ; many are taken to."""
    if constant.dtype is None or constant.dtype.kind != "f":
        return False
    count = prod(constant.static_shape or ())
    if count > _FEW:
        return True
    array = constant.array()
    return array is not None and bool((array != array.reshape(-1)[:1]).any())


def _is_indifferent(node: NodeView, value: Value) -> bool:
    """Say whether a reader gives the same whichever axis comes first after the batch."""
    given = [operand for operand in node.inputs if operand is not None]
    if node.op in ELEMENTWISE:
        return all(
            _is_one_element(operand)
            or (operand.shape == value.shape and not known_with_sizes(operand))
            for operand in given
        )
    if node.op == "Transpose":  # where the first axis moves, the sizes of all decide
        perm = list(node.attr("perm", ()))
        return perm[:1] != [0] or value.rank == _LINES
    if node.op in _BY_AXIS and not int(node.attr("axis", 0)):
        return node.op == "Gather" or not any(map(known_with_sizes, given))
    if node.op == "ScatterND":
        return given[0] != value and given[-1] != value
    if node.op == "Slice" or node.op in REDUCTIONS:
        return _reads_first_or_all(node)
    if node.op == "MatMul":
        return value.rank == _LINES or not any(operand.is_constant for operand in given)
    return node.op in _MEASURING or node.op == "GatherND" or _is_seen_right(node, value)


def _reads_first_or_all(node: NodeView) -> bool:
    """Say whether a Slice or a reduction goes along the first axis, or a reduction along all."""
    given = node.input(3 if node.op == "Slice" else 1)
    if given is not None:
        array = given.array()
        return array is not None and array.tolist() == [0]
    axes = node.attr("axes", None)
    return list(axes) == [0] if axes is not None else node.op in REDUCTIONS


def _is_seen_right(node: NodeView, value: Value) -> bool:
    last = int(node.attr("axis", -1)) in (-1, _LINES - 1)
    return node.op in ("LayerNormalization", "Softmax") and last and value.rank == _LINES


def _is_one_element(value: Value) -> bool:
    shape = value.static_shape
    return shape is not None and all(size == 1 for size in shape)


@rule(
    "Transpose",
    feature="form:Transpose.equal-sizes",
    severity=WRONG,
    source=_GRAPHS,
)
def transpose_of_equal_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf confuses axes of equal size when Transpose moves the first axis."""
    x = node.input(0)
    if x is None or (x.rank is None and not node.has("perm")):
        return Unknown("rank of the input") if x is not None else None
    perm = list(node.attr("perm", None) or reversed(range(x.rank or 0)))
    if not perm or perm[0] == 0:
        return None
    # onnx2tf knows nothing of sizes that numbers decide on, and takes any two of them for equal.
    sizes = [size if isinstance(size, int) else None for size in x.shape or ()]
    if not sizes or (None in sizes and not counted_late(x)):
        return Unknown(f"sizes of {x.name}")
    moved = [at for at in _found_by_size(sizes, perm) if sizes[at] != 1]
    return moved != [at for at in perm if sizes[at] != 1]


def _found_by_size(shape: Sequence[int | None], perm: Sequence[int]) -> list[int]:
    """Return the order in which onnx2tf puts axes: each where its size is first free."""
    sizes = [shape[axis] for axis in perm]
    places = [-1] * len(sizes)
    for axis, size in enumerate(shape):
        free = [at for at, wanted in enumerate(sizes) if wanted == size and places[at] < 0]
        places[free[0]] = axis
    return places
