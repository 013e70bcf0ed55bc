"""Writing all that is computed in some element types in another one, place by place."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partial

import numpy as np
from msgspec import Struct, field

from graphfix.authoring import (
    APPROXIMATE,
    EXACT,
    Accuracy,
    Array,
    Builder,
    Editor,
    Node,
    NodeView,
    Refuse,
    Value,
    dtype_of,
)

Operands = list[Value | None]
# (node, its operands in the wide type, builder) -> its results in the wide type
Written = Callable[[NodeView, Operands, Builder], tuple[Value, ...]]


class Retyping(Struct, frozen=True):
    """What gives way to what.

    Attributes:
        narrow: The element types that go.
        wide: The one that comes.
        refused: Why a node cannot be computed in the wide type; empty where it can.
        forms: The operators that are written in another way than with other operands.
        wrapped: Bring a result into the range of the narrow type; the operator tells whether it
            can leave it.
        constant: Write constants in the wide type.
        rounds: Say whether a node rounds differently in the wide type.
        inexact: The label of a group with such a node.
        said: What is said of each place of such a group: the error and where it is one.
        kept: The places of the operands of a node that keep their type where they are constants,
            such as the shape of a Reshape.
        unproved: Whether only the whole model can be compared: a single place gets numbers that
            are no longer, or not visibly, those of the narrow type.
    """

    narrow: frozenset[int]
    wide: int
    refused: Callable[[NodeView], str]
    forms: Mapping[str, Written]
    wrapped: Callable[[NodeView, Value, int, Builder], Value]
    constant: Callable[[Array], Array]
    rounds: Callable[[NodeView], bool] = lambda view: False
    inexact: Accuracy = APPROXIMATE
    said: str = ""
    kept: Callable[[NodeView], Container[int]] = lambda view: ()
    unproved: bool = False

    def is_narrow(self, value: Value | None) -> bool:
        """Say whether a value has one of the types that go."""
        return value is not None and value.is_tensor and value.elem_type in self.narrow

    def is_written(self, view: NodeView, place: int) -> bool:
        """Say whether a node reads the operand at a place in the wide type."""
        value = view.input(place)
        if value is None or not self.is_narrow(value):
            return False
        return not (value.is_constant and place in self.kept(view))


class _Made(Struct):
    """The casts back that were put into the graph; held, so that no id is given twice."""

    casts: dict[int, Node] = field(default_factory=dict[int, Node])


def retype(editor: Editor, plan: Retyping) -> None:
    """Write each group of nodes that pass narrow tensors to each other, or refuse it as a whole.

    Every node is replaced by one on wide operands and a cast back. What reads such a cast reads
    what is before it, so that no cast is left but those at the ends of the model.
    """
    made = _Made()
    for group in _groups(editor, plan):
        if any(map(editor.is_blocked, group)):
            continue  # an earlier run found one of the places to be wrong
        obstacle = next(((v, why) for v in group if (why := _obstacle(v, plan))), None)
        if obstacle is not None:
            editor.refuse(*obstacle)
            continue
        inexact = any(map(plan.rounds, group))
        label, note = (plan.inexact, plan.said) if inexact else (EXACT, "")
        for view in group:
            drafted: list[Node] = []
            make = partial(_written, view, plan, made, drafted)
            if editor.replace(view, make, accuracy=label, note=note, unproved=plan.unproved):
                made.casts.update((id(node), node) for node in drafted)


def _obstacle(view: NodeView, plan: Retyping) -> str:
    try:
        if any(True for _ in view.node.graphs()):
            passed = _connecting(view, plan)
            if not passed:
                return unhandled(view, plan.narrow)
            return f"the subgraphs of {view.op} get or give {passed[0].type_name}"
        for name in view.attributes:
            view.attr(name)
        return plan.refused(view)
    except Refuse as refusal:
        return refusal.reason


def unhandled(view: NodeView, plan_narrow: Iterable[int], what: str = "") -> str:
    """Return the usual reason: who computes or reads which tensor."""
    narrow = frozenset(plan_narrow)
    for value in view.outputs:
        if value is not None and value.elem_type in narrow:
            return f"{what or view.op} computes {value.name}"
    names = [v.name for v in view.inputs if v is not None and v.elem_type in narrow]
    return f"{what or view.op} reads {names[0]}"


def _groups(editor: Editor, plan: Retyping) -> Iterator[list[NodeView]]:
    """Walk the groups of nodes that narrow tensors connect, each in the order of the file."""
    found: list[NodeView] = []
    parent: list[int] = []
    by_tensor: dict[int, int] = {}

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for graph in editor.graphs():
        for view in map(NodeView, graph.nodes):
            tensors = _connecting(view, plan)
            if not tensors and not _is_alone(view, plan):
                continue
            place = len(found)
            found.append(view)
            parent.append(place)
            for value in tensors:
                other = by_tensor.setdefault(id(value.tensor), place)
                parent[root(place)] = root(other)
    groups: dict[int, list[NodeView]] = {}
    for place, view in enumerate(found):
        groups.setdefault(root(place), []).append(view)
    yield from groups.values()


def _connecting(view: NodeView, plan: Retyping) -> list[Value]:
    """Return the narrow tensors that a node passes on to others or gets from them."""
    if view.op == "Constant" and not view.domain:
        return []
    values = [v for v in view.inputs if v is not None and plan.is_narrow(v) and _is_made(v)]
    for value in view.outputs:
        if value is not None and plan.is_narrow(value) and (value.consumers or view.op != "Cast"):
            values.append(value)
    for _, body in view.node.graphs():
        ends = [Value(tensor) for tensor in (*body.inputs, *body.outputs)]
        values += [value for value in ends if plan.is_narrow(value)]
    return values


def _is_alone(view: NodeView, plan: Retyping) -> bool:
    """Say whether a node does more than cast narrow tensors that the caller gives."""
    if view.op == "Cast" and not view.domain:
        data = view.input(0)
        return data is not None and plan.is_narrow(data) and data.is_constant
    return any(plan.is_written(view, place) for place in range(len(view.inputs)))


def _is_made(value: Value) -> bool:
    return value.producer is not None and not value.is_constant


def _written(
    view: NodeView, plan: Retyping, made: _Made, drafted: list[Node], build: Builder
) -> tuple[Value | None, ...]:
    operands = [
        _wide(value, plan, made, build)
        if value is not None and plan.is_written(view, place)
        else value
        for place, value in enumerate(view.inputs)
    ]
    form = plan.forms.get(view.op, unchanged)
    results = form(view, operands, build)
    finished: list[Value | None] = []
    for old, new in zip(view.outputs, results, strict=False):
        if old is None or not plan.is_narrow(old):
            finished.append(None if old is None else new)
            continue
        back = build.Cast(plan.wrapped(view, new, old.elem_type, build), to=old.elem_type)
        drafted.extend(build.nodes[-1:])
        finished.append(back)
    return tuple(finished)


def _wide(value: Value, plan: Retyping, made: _Made, build: Builder) -> Value:
    known = build.const(value)
    if known is not None:
        return build.constant(plan.constant(known))
    maker = value.producer
    if maker is not None and id(maker.node) in made.casts:
        return maker.need(0)
    return build.Cast(value, to=plan.wide)


def unchanged(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    """Write the operator as it is, on other operands."""
    attributes = {name: view.attr(name) for name in view.attributes}
    count = len(view.outputs)
    return build.multi(view.op, *operands, outputs=count, domain=view.domain, **attributes)


def with_type(name: str, narrow: frozenset[int], wide: int) -> Written:
    """Return the form of an operator whose attribute `name` is the element type of its result."""

    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        attributes = {key: view.attr(key) for key in view.attributes}
        if attributes.get(name) in narrow:
            attributes[name] = wide
        return build.multi(view.op, *operands, outputs=1, **attributes)

    return write


def filled(wide: int) -> Written:
    """Return the form of ConstantOfShape, whose value has the element type of its result."""

    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        value = np.asarray(view.attr("value", np.zeros(1, np.float32)))
        dtype = dtype_of(wide)
        assert dtype is not None
        return (build.ConstantOfShape(*operands, value=value.astype(dtype)),)

    return write
