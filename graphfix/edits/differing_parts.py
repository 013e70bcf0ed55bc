"""Two models that differ in a few nodes: the same around them, compared where they differ.

A whole says nothing where its outputs do (the same value everywhere, far below rounding) or where
nothing runs it. What both models compute by the same nodes from the same inputs is the same then
all the same, and what is left to be shown is what the other nodes compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from onnx import ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto, helper

from graphfix.difference.contents import Contents
from graphfix.difference.scopes import Scope
from graphfix.edits.matrices import is_matrix, transposes
from graphfix.edits.parts import needed, part, read_by
from graphfix.edits.step import Subject
from graphfix.ir.protos import (
    Functions,
    add_outputs,
    all_nodes,
    called_functions,
    copied,
    functions_of,
    normal_domain,
)
from graphfix.operators.table import MAY_DRAW
from graphfix.proving.sites.identical import constant_key, form_key
from graphfix.reduction.tensor_types import is_full

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
_Numbers = dict[tuple[object, ...], int]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Differing:
    """What is left of two models that compute the same but there.

    Attributes:
        before: What is left of the first; None where both models are the same.
        after: What is left of the second, with inputs and outputs of the same names.
    """

    before: ModelProto | None = None
    after: ModelProto | None = None


@dataclass(slots=True)
class _Side:
    """A model, and what each tensor of its main graph is: one value for what is the same.

    Attributes:
        subject: The model.
        contents: The stored tensors of both models.
        place: Which of the two it is, 0 or 1.
        known: Tensor -> number.
        fed: The tensors that depend on an input.
    """

    subject: Subject
    contents: Contents
    place: int
    known: dict[str, int] = field(default_factory=dict[str, int])
    fed: set[str] = field(default_factory=set[str])

    @property
    def scope(self) -> Scope:
        """The main graph, indexed."""
        return self.subject.scope


def differing(before: ModelProto, after: ModelProto, base_dir: str) -> Differing | None:
    """Return what is left of two models where they are not the same nodes on the same inputs.

    Args:
        before: The first model.
        after: The second, with the same names of inputs and outputs.
        base_dir: Where the external data of both lies; it is read where it lies at other places.

    Returns:
        None where it cannot be determined, such as where their outputs have other names, or where
        nothing around the difference is the same.
    """
    numbers: _Numbers = {}
    sides = _sides(before, after, base_dir, numbers)
    if sides is None:
        return None
    left, right = sides
    pairs = _different(left, right, [(info.name, info.name) for info in before.graph.output])
    if not pairs:
        return Differing()
    turned = [(b, a) for a, b in pairs]
    found = [
        parts
        for parts in (_parts(left, right, pairs, numbers), _parts(right, left, turned, numbers))
        if parts is not None
    ]
    if not found:
        return None
    parts = min(found, key=_size)
    if _size(parts) > len(before.graph.node) + len(after.graph.node):
        return None  # all that is left is what there was
    return Differing(*parts)


def same_nodes(before: ModelProto, after: ModelProto, base_dir: str) -> bool:
    """Say whether two models are known to be the same nodes on the same inputs; see `differing`."""
    sides = _sides(before, after, base_dir, {})
    return sides is not None and all(
        sides[0].known[info.name] == sides[1].known[info.name] for info in before.graph.output
    )


def _sides(
    before: ModelProto, after: ModelProto, base_dir: str, numbers: _Numbers
) -> tuple[_Side, _Side] | None:
    """Tell what each tensor of two models is; None where their outputs have other names."""
    if [info.name for info in before.graph.output] != [info.name for info in after.graph.output]:
        return None
    contents = Contents(before, after, (base_dir, base_dir))
    return (
        _side(_Side(Subject(before, base_dir), contents, 0), numbers),
        _side(_Side(Subject(after, base_dir), contents, 1), numbers),
    )


def _size(parts: tuple[ModelProto, ModelProto]) -> int:
    return sum(len(part.graph.node) for part in parts)


def _parts(
    left: _Side, right: _Side, pairs: Sequence[Pair], numbers: _Numbers
) -> tuple[ModelProto, ModelProto] | None:
    """Return the parts of two models that compute pairs of tensors.

    Each pair is shown for all numbers in front of it, so that the next one may begin at it: the
    first of a pair is taken for what the second one is.
    """
    assumed = {a: right.known[b] for a, b in reversed(pairs)}
    left = _side(_Side(left.subject, left.contents, left.place), numbers, assumed)
    return _Cutter(left, right).parts(pairs)


def _side(side: _Side, numbers: _Numbers, assumed: Mapping[str, int] | None = None) -> _Side:
    """Tell what each tensor of a model is; return the side.

    Args:
        side: The model, of which nothing is known yet.
        numbers: What is known already; shared by the models that are compared.
        assumed: What some tensors are shown to be elsewhere.
    """
    model = side.subject.proto
    scope, functions = side.scope, functions_of(model)
    imports = {normal_domain(e.domain): e.version for e in model.opset_import}

    def number(key: tuple[object, ...]) -> int:
        return numbers.setdefault(key, len(numbers))

    side.known[""] = number(("absent",))
    for name, stored in scope.stored.items():
        side.known[name] = number(("stored", side.contents.label(stored, side.place)))
    key: tuple[object, ...]
    for info in model.graph.input:
        key = ("input", info.name, side.known.get(info.name), info.type.tensor_type.elem_type)
        side.known[info.name] = number(key)
        side.fed.add(info.name)
    for index in scope.order:
        node = scope.nodes[index]
        if side.fed.intersection(read_by(scope, index)):
            side.fed.update(node.output)
        if node.op_type == "Identity" and not normal_domain(node.domain):
            side.known[node.output[0]] = side.known[node.input[0]]
        else:
            form, single = _transposed_key(side, node) or _node_key(side, index, functions, imports)
            for place, name in enumerate(node.output):
                if name:
                    side.known[name] = number(form if single else (*form, place))
        side.known.update((n, assumed[n]) for n in node.output if assumed and n in assumed)
    side.fed.discard("")
    return side


def _transposed_key(side: _Side, node: NodeProto) -> tuple[tuple[object, ...], bool] | None:
    """Return what a stored matrix is once it is transposed; None for other nodes."""
    stored = side.scope.stored.get(node.input[0]) if node.input else None
    if stored is None or node.input[0] in side.scope.overridable:
        return None
    if not is_matrix(stored) or not transposes(node):
        return None
    return ("stored", side.contents.hash_transposed(stored, side.place)), True


def _node_key(
    side: _Side, index: int, functions: Functions, imports: Mapping[str, int]
) -> tuple[tuple[object, ...], bool]:
    """Return what tells a node from others, and whether that is of its only output."""
    scope = side.scope
    node, called = scope.nodes[index], called_functions([scope.nodes[index]], functions)
    if _draws(node, called):
        return ("drawn", id(side.subject.proto), index), False
    constant = constant_key(node)
    if constant:
        return constant, True
    captured = scope.captures.get(index, ())
    return (
        "node",
        *form_key(node),
        tuple(side.known.get(name, -1) for name in node.input),
        tuple((name, side.known.get(name, -1)) for name in captured),
        tuple(f.SerializeToString(deterministic=True) for f in called),
        tuple(sorted(imports.items())) if captured else (),
        imports.get(normal_domain(node.domain)),
    ), False


def _draws(node: NodeProto, called: Iterable[object]) -> bool:
    nodes = [*all_nodes([node])]
    for function in called:
        nodes += all_nodes(getattr(function, "node", ()))
    return any(each.op_type in MAY_DRAW for each in nodes)


def _different(left: _Side, right: _Side, outputs: Sequence[Pair]) -> list[Pair]:
    """Return pairs of tensors that make the outputs equal where they are equal themselves."""
    found: dict[Pair, None] = {}
    pending, seen = list(reversed(outputs)), set[Pair]()
    while pending:
        pair = pending.pop()
        if pair in seen or left.known[pair[0]] == right.known[pair[1]]:
            continue
        seen.add(pair)
        following = _after(left, right, pair)
        if following is None:
            found[pair] = None
        else:
            pending += reversed(following)
    return list(found)


def _after(left: _Side, right: _Side, pair: Pair) -> list[Pair] | None:
    """Return what two tensors are computed from by the same node; None where it is another."""
    one, two = (side.scope.makers.get(name) for side, name in zip((left, right), pair, strict=True))
    if one is None or two is None or one[1] != two[1]:
        return None
    first, second = left.scope.nodes[one[0]], right.scope.nodes[two[0]]
    inner = one[0] in left.scope.captures or two[0] in right.scope.captures
    if inner or _draws(first, ()) or form_key(first) != form_key(second):
        return None
    if len(first.input) != len(second.input) or _called_here(left, first):
        return None
    if _version(left, first) != _version(right, second):
        return None
    pairs = [
        (a, b)
        for a, b in zip(first.input, second.input, strict=True)
        if left.known[a] != right.known[b]
    ]
    computed = all(_is_computed(left, a) and _is_computed(right, b) for a, b in pairs)
    return pairs if computed else None


def _is_computed(side: _Side, name: str) -> bool:
    return name in side.scope.makers or name in side.scope.inputs


def _called_here(side: _Side, node: NodeProto) -> bool:
    return bool(called_functions([node], functions_of(side.subject.proto)))


def _version(side: _Side, node: NodeProto) -> int | None:
    domain = normal_domain(node.domain)
    imports = side.subject.proto.opset_import
    return next((e.version for e in imports if normal_domain(e.domain) == domain), None)


class _Cutter:
    """Cuts two models to what computes pairs of tensors, from tensors that both have.

    The parts begin at floats. Integers are followed further up, to what they are computed from:
    sizes and places would not fit the data that they belong to.
    """

    def __init__(self, left: _Side, right: _Side) -> None:
        """Find the tensors that parts may begin at."""
        self._sides = (left, right)
        types = left.subject.types
        self._kinds: dict[int, TypeProto] = {}
        for name, number in left.known.items():
            if name in left.fed and is_full(types.get(name)):
                self._kinds.setdefault(number, types[name])
        shared = set(left.known.values()) & set(right.known.values())
        self._floats = {
            number
            for number in shared & set(self._kinds)
            if self._kinds[number].tensor_type.elem_type in _FLOATS
        }

    def parts(self, pairs: Sequence[Pair]) -> tuple[ModelProto, ModelProto] | None:
        """Return both parts; None where the type of an input of theirs is not known."""
        left, right = self._sides
        own: tuple[list[str], list[str]] = ([], [])
        ends: dict[int, None] = {}
        for one, two in pairs:
            begin = self._ends(left, _sources(left, one))
            own[0].append(one)
            if right.known[two] not in begin:  # else it is what the other side begins at
                own[1].append(two)
                begin |= self._ends(right, _sources(right, two))
            ends |= begin
        if not set(ends) <= set(self._kinds):
            return None
        infos = {number: self._kinds[number] for number in ends}
        return (
            _cut(left, [one for one, _ in pairs], set(own[0]), infos),
            _cut(right, [two for _, two in pairs], set(own[1]), infos),
        )

    def _ends(self, side: _Side, names: Iterable[str]) -> dict[int, None]:
        """Return what the part that computes some tensors begins at."""
        found: dict[int, None] = {}
        pending, seen = list(names), set[str]()
        while pending:
            name = pending.pop()
            if name in seen or not name:
                continue
            seen.add(name)
            number, made = side.known[name], side.scope.makers.get(name)
            if name in side.fed and (made is None or number in self._floats):
                found[number] = None
            elif made is not None:
                pending += read_by(side.scope, made[0])
        return found


def _sources(side: _Side, name: str) -> list[str]:
    """Return what the node of a tensor reads; the tensor itself where no node makes it."""
    made = side.scope.makers.get(name)
    return [name] if made is None else read_by(side.scope, made[0])


def _cut(
    side: _Side, names: Sequence[str], own: set[str], infos: Mapping[int, TypeProto]
) -> ModelProto:
    """Return the part of a model that computes tensors from those with these values.

    Args:
        side: The model.
        names: The tensors.
        own: Those of them whose nodes are part of it, though it could begin at them.
        infos: What it begins at.
    """
    given = {name: number for name, number in side.known.items() if number in infos}
    makers = {name: side.scope.makers[name][0] for name in own if name in side.scope.makers}
    read = [name for index in makers.values() for name in read_by(side.scope, index)]
    begun = [name for name in names if name not in makers]
    indices = {*makers.values(), *needed(side.scope, [*read, *begun], given)}
    proto = part(side.subject, indices, (), (), "")
    graph = proto.graph
    for node in graph.node:  # a node may make more than what is given
        node.output[:] = [f"{name}.made" if name in given else name for name in node.output]
    nodes = [copied(node) for node in graph.node]
    stored = [copied(tensor) for tensor in graph.initializer if tensor.name not in given]
    for taken in ("node", "initializer", "input"):
        graph.ClearField(taken)
    graph.initializer.extend(stored)
    inputs = {number: f"graphfix_in_{number}" for number in infos}
    inputs |= {given[name]: name for name in side.scope.inputs if name in given}
    graph.input.extend(ValueInfoProto(name=inputs[n], type=kind) for n, kind in infos.items())
    for name, number in given.items():
        if name != inputs[number]:
            graph.node.append(helper.make_node("Identity", [inputs[number]], [name]))
    graph.node.extend(nodes)
    for place, name in enumerate(names):
        made = f"{name}.made" if name in makers and name in given else name
        graph.node.append(helper.make_node("Identity", [made], [f"graphfix_out_{place}"]))
        add_outputs(graph, [f"graphfix_out_{place}"])
    return proto
