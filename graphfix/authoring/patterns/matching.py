"""Finding what a pattern looks for, with every way of reading it that there is.

Operands that commute and alternatives are tried in their order, with what they bind undone
where the rest does not fit (a search with a trail, as in MLIR's PDL interpreter and the matcher of
onnxscript, onnxscript/rewriter/_matcher.py, which both stop at the first way of an alternative).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from graphfix.authoring.patterns.attributes import (
    MISSING,
    axes_from_front,
    is_attribute,
    other_attribute,
    unknown_attribute,
    written_attribute,
)
from graphfix.authoring.patterns.match import Match, Unmatched
from graphfix.authoring.patterns.mismatch import (
    described,
    many_readers,
    named,
    not_for_all,
    read_outside,
)
from graphfix.authoring.patterns.numbers import is_number, keeps_rank
from graphfix.authoring.patterns.sought import (
    Call,
    Checked,
    Either,
    Given,
    Named,
    Number,
    Operation,
    Sought,
    calls_of,
)
from graphfix.ir.graph import Node, Tensor, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef
from graphfix.ir.views import NodeView, Refuse, Value

MOST_STEPS = 4000  # how often a value is looked at for one node: patterns are small
MOST_READERS = 64  # of a value, when the node of a further output is looked for among them
Ways = Iterator[None]


class Matcher:
    """The search for one pattern at one node."""

    def __init__(self, outputs: Sequence[Sought], root: Node) -> None:
        """Look for `outputs`, of which `root` is to give the first."""
        self._sought = outputs
        self._root = root
        self._values: dict[str, object] = {}
        self._nodes: dict[int, Node] = {}  # by the id of what was looked for
        self._operations: dict[int, Operation] = {}
        self._steps = 0
        self._deepest = (-1, False, 0)
        self._why: Callable[[], str] = lambda: "it is not there"

    def match(self) -> Match:
        """Return the first way in which all fits.

        Raises:
            Unmatched: There is none.
        """
        for places in self._first():
            for others in self._further(1):
                outputs = (places, *others)
                if self._is_closed(outputs) and self._may_be_one(outputs):
                    return self._found(outputs)
        raise Unmatched(self._why(), max(self._deepest[0], 0))

    def _found(self, outputs: Sequence[Tensor]) -> Match:
        roots: dict[int, Node] = {}
        places: list[tuple[int, int]] = []
        for tensor in outputs:
            node: Node = tensor.inputs[0]
            roots.setdefault(id(node), node)
            root = list(roots).index(id(node))
            place = next(i for i, t in enumerate(node.outputs) if t is tensor)
            places.append((root, place))
        labels = {
            operation.label: self._nodes[key]
            for key, operation in self._operations.items()
            if operation.label and key in self._nodes
        }
        nodes = {id(n): n for n in (*roots.values(), *self._nodes.values())}
        return Match(
            NodeView(self._root),
            tuple(nodes.values()),
            tuple(roots.values()),
            tuple(places),
            dict(self._values),
            labels,
        )

    def _first(self) -> Iterator[Tensor]:
        """Yield the tensor of the root that is the first output, for each way that it is."""
        for call in calls_of(self._sought[0]):
            if call.place < len(self._root.outputs):
                for _ in self._call(call, self._root.outputs[call.place]):
                    yield self._root.outputs[call.place]

    def _further(self, place: int) -> Iterator[tuple[Tensor, ...]]:
        """Yield the tensors of the outputs from `place` on, for each way to find them."""
        if place == len(self._sought):
            yield ()
            return
        for call in calls_of(self._sought[place]):
            for tensor in self._candidates(call):
                for _ in self._call(call, tensor):
                    for rest in self._further(place + 1):
                        yield (tensor, *rest)

    def _candidates(self, call: Call) -> list[Tensor]:
        """Return the tensors that may be a further output: readers of what is bound already."""
        known = self._nodes.get(id(call.node))
        if known is not None:
            return [known.outputs[call.place]] if call.place < len(known.outputs) else []
        found: dict[int, Tensor] = {}
        for operand in call.node.operands:
            for tensor in self._bound(operand):
                if len(tensor.outputs) > MOST_READERS:
                    self._miss(partial(many_readers, tensor, MOST_READERS))
                    continue
                for reader in tensor.outputs:
                    if call.place < len(reader.outputs) and _is(reader, call.node):
                        found[id(reader)] = reader.outputs[call.place]
        if not found:
            self._miss(lambda: f"a further output must be given by {call.node.name}; none is")
        return list(found.values())

    def _bound(self, sought: Sought | None) -> list[Tensor]:
        if isinstance(sought, Named):
            value = self._values.get(sought.name)
            return [value.tensor] if isinstance(value, Value) else []
        if isinstance(sought, Checked | Given):
            return self._bound(sought.inner)
        if isinstance(sought, Call):
            return self._candidates(sought)
        return []

    def _value(self, sought: Sought, tensor: Tensor, reader: Node, place: int) -> Ways:
        """Yield once for each way in which `tensor`, an operand of `reader`, is what is sought."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            self._miss(lambda: "there are too many ways to read it")
            return
        if isinstance(sought, Call):
            yield from self._call(sought, tensor, reader, place)
        elif isinstance(sought, Named):
            yield from self._bind(sought.name, Value(tensor), reader, place)
        elif isinstance(sought, Either):
            for choice in sought.choices:
                yield from self._value(choice, tensor, reader, place)
        elif isinstance(sought, Given):
            yield from self._value(sought.inner, tensor, reader, place)
        elif isinstance(sought, Number):
            if is_number(tensor, sought.number, reader):
                yield
            else:
                text, constant = f"the number {sought.number}", Value(tensor).is_constant
                self._miss_at(reader, place, tensor, text, close=constant)
        elif isinstance(sought, Checked) and self._holds(sought, tensor, reader, place):
            yield from self._value(sought.inner, tensor, reader, place)

    def _holds(self, sought: Checked, tensor: Tensor, reader: Node, place: int) -> bool:
        value = Value(tensor)
        known: Any = value
        if sought.kind != "value":
            if not value.is_constant:
                self._miss_at(reader, place, tensor, "a constant")
                return False
            array = value.array()
            if array is None:
                self._miss_at(reader, place, tensor, "a constant of numbers")
                return False
            known = array
            if sought.kind == "number":
                if array.size != 1 or not keeps_rank(array, tensor, reader):
                    self._miss_at(reader, place, tensor, "one number")
                    return False
                known = float(array.reshape(()))
        if sought.holds is None or sought.holds(known):
            return True
        text = sought.text or "as the pattern asks"
        self._miss_at(reader, place, tensor, text, close=True)
        return False

    def _bind(self, name: str, value: object, reader: Node, place: int) -> Ways:
        known = self._values.get(name)
        if known is None:
            self._values[name] = value
            yield
            del self._values[name]
        elif known == value:
            yield
        elif isinstance(value, Value) and isinstance(known, Value):
            self._miss_at(reader, place, value.tensor, f"{known.name!r}, which {name} is already")
        else:
            self._miss(
                lambda: f"{name} of {named(reader)} must be {known}, as before; it is {value}"
            )

    def _call(self, call: Call, tensor: Tensor, reader: Node | None = None, place: int = 0) -> Ways:
        wanted = call.node
        node: Node | None = tensor.inputs[0] if tensor.inputs else None
        if node is None or not _is(node, wanted):
            if reader is not None:
                self._miss_at(reader, place, tensor, f"computed by {wanted.name}")
            else:
                self._miss(lambda: f"the node must be {wanted.name}")
            return
        if node.graph is not self._root.graph:
            self._miss(lambda: f"{named(node)} is outside of the body")
            return
        if call.place >= len(node.outputs) or node.outputs[call.place] is not tensor:
            self._miss(lambda: f"{tensor.name!r} must be output {call.place} of {named(node)}")
            return
        known = self._nodes.get(id(wanted))
        if known is not None:
            if known is node:
                yield
            else:
                self._miss(lambda: f"{named(node)} must be {named(known)}")
            return
        self._nodes[id(wanted)] = node
        self._operations[id(wanted)] = wanted
        for _ in self._attributes(list(wanted.attributes.items()), wanted, node):
            for operands in wanted.orders():
                yield from self._operands(operands, wanted, node)
        del self._nodes[id(wanted)]

    def _operands(
        self, left: Sequence[tuple[int, Sought | None]], wanted: Operation, node: Node
    ) -> Ways:
        """Yield once for each way in which the inputs of `node` that are `left` fit."""
        if not left:
            if self._has_no_more(wanted, node):
                yield
            return
        (place, sought), rest = left[0], left[1:]
        tensor = node.inputs[place] if place < len(node.inputs) else None
        if tensor is None or is_empty(tensor):
            if sought is None or isinstance(sought, Given):
                yield from self._operands(rest, wanted, node)
            else:
                self._miss(lambda: f"{named(node)} must have an input {place}")
            return
        if sought is None:
            self._miss(lambda: f"{named(node)} must have no input {place}")
            return
        for _ in self._value(sought, tensor, node, place):
            yield from self._operands(rest, wanted, node)

    def _has_no_more(self, wanted: Operation, node: Node) -> bool:
        """Say whether a node has no inputs that the pattern does not name."""
        given = [i for i, t in enumerate(node.inputs) if not is_empty(t)]
        given = [i for i in given if i >= len(wanted.operands)]
        by_name = {written_attribute(node, name)[1] for name in wanted.attributes} if given else ()
        more = next((i for i in given if i not in by_name), None)
        if more is not None:
            self._miss(lambda: f"{named(node)} must have no input {more}")
        return more is None

    def _attributes(
        self, wanted: Sequence[tuple[str, object]], operation: Operation, node: Node
    ) -> Ways:
        """Yield once for each way in which the attributes of `node` fit."""
        if not wanted:
            others = unknown_attribute if operation.others else other_attribute
            left = others(node, operation.attributes)
            if left:
                self._miss(lambda: f"{left} of {named(node)} must be as ONNX fills it in")
            else:
                yield
            return
        (name, sought), rest = wanted[0], wanted[1:]
        try:
            found, place = written_attribute(node, name)
        except Refuse as refusal:
            reason = refusal.reason
            self._miss(lambda: reason)
            return
        if isinstance(sought, Named):
            if found is MISSING and place is not None:
                self._miss(lambda: f"{name} of {named(node)} must be a constant")
            elif found is MISSING:
                yield from self._attributes(rest, operation, node)
            else:
                known = axes_from_front(found, node) if name in ("axes", "axis") else found
                for _ in self._bind(sought.name, known, node, 0):
                    yield from self._attributes(rest, operation, node)
            return
        if self._fits(name, sought, found, node):
            yield from self._attributes(rest, operation, node)

    def _fits(self, name: str, sought: object, found: object, node: Node) -> bool:
        if isinstance(found, AttributeRef):
            self._miss(lambda: f"{name} of {named(node)} is given by the caller of the function")
            return False
        if callable(sought):
            fits = bool(
                cast("Callable[[object], bool]", sought)(None if found is MISSING else found)
            )
            wanted = "as the pattern asks"
        else:
            fits = is_attribute(name, sought, found, node)
            wanted = str(sought)
        if not fits:
            shown = "not given" if found is MISSING else str(found)
            self._miss(lambda: f"{name} of {named(node)} must be {wanted}; it is {shown}")
        return fits

    def _staying(self) -> set[int]:
        """Return the nodes that may be read from outside, and what these are computed from."""
        inside = {id(n) for n in self._nodes.values()}
        shared = [self._nodes[key] for key, op in self._operations.items() if op.shared]
        staying: set[int] = set()
        while shared:
            node = shared.pop()
            staying.add(id(node))
            producers = (p for tensor in node.inputs for p in tensor.inputs)
            shared += [p for p in producers if id(p) in inside and id(p) not in staying]
        return staying

    def _is_closed(self, outputs: Sequence[Tensor]) -> bool:
        """Say whether nothing outside reads what would be gone."""
        given = {id(t) for t in outputs}
        inside = {id(n) for n in self._nodes.values()}
        staying = self._staying()
        inner = (t for n in self._nodes.values() if id(n) not in staying for t in n.outputs)
        for tensor in inner:
            if id(tensor) in given:
                continue
            outside = next((r for r in tensor.outputs if id(r) not in inside), None)
            if tensor.output_count or outside is not None:
                self._miss(partial(read_outside, tensor, outside), last=True)
                return False
        return True

    def _may_be_one(self, outputs: Sequence[Tensor]) -> bool:
        """Say whether one site may stand for all outputs: no input is computed from one of them.

        An input that every output is computed from cannot be, for the graph has no circles.
        """
        if len(outputs) == 1:
            return True
        staying = self._staying()
        inside = {id(n) for n in self._nodes.values() if id(n) not in staying}
        read = [_read_by(tensor, inside) for tensor in outputs]
        for tensor in {key: t for known in read for key, t in known.items()}.values():
            if tensor.inputs and not all(id(tensor) in known for known in read):
                self._miss(partial(not_for_all, tensor), last=True)
                return False
        return True

    def _miss_at(
        self, reader: Node, place: int, tensor: Tensor, wanted: str, *, close: bool = False
    ) -> None:
        self._miss(
            lambda: f"input {place} of {named(reader)} must be {wanted}; it is {described(tensor)}",
            close=close,
        )

    def _miss(self, why: Callable[[], str], *, last: bool = False, close: bool = False) -> None:
        """Note what does not fit; what is reported in the end is what was found furthest inside.

        Of two as far inside it is the one that is `close`, of the right kind, then the one by
        which more values were found, then the first.
        """
        depth = (len(self._nodes) + last, close, len(self._values))
        if depth > self._deepest:
            self._deepest = depth
            self._why = why


def _is(node: Node, wanted: Operation) -> bool:
    domain, op = wanted.key
    return node.op == op and normal_domain(node.domain) == domain and not node.overload


def _read_by(tensor: Tensor, inside: set[int]) -> dict[int, Tensor]:
    """Return what the nodes inside read from outside to compute a tensor."""
    found: dict[int, Tensor] = {}
    pending, seen = [tensor], {id(tensor)}
    while pending:
        tensor = pending.pop()
        node: Node | None = tensor.inputs[0] if tensor.inputs else None
        if node is None or id(node) not in inside:
            found[id(tensor)] = tensor
            continue
        pending += [t for t in node.inputs if id(t) not in seen and not is_empty(t)]
        seen.update(id(t) for t in node.inputs)
    return found
