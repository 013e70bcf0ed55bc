"""What a site was and what it became, kept for the numeric proof of the site.

Taken while the site is applied, because afterwards the edges are gone and later passes change
what was added. Only references are kept: the proto of a node that no one touched is the one that
it was loaded from, and weights are not read. Which floating point tensors certainly hold integers
of a known range is followed upstream here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct, field
from onnx import AttributeProto, NodeProto, TypeProto

from graphfix.ir.exporting import export_node
from graphfix.ir.graph import Constant, Node, Shape, Tensor, Variable, Weights, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef
from graphfix.ir.views import Array, Value
from graphfix.operators.table import MAY_DRAW, OPERATORS

# Operators that give the elements that they got, in other places.
BYTE_MOVES = (
    "Concat",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "MaxPool",
    "Pad",
    "Reshape",
    "Resize",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
)
_DEPTH = 16
_LIMITS = {"min": 1, "max": 2}


def moved_inputs(node: Node) -> Sequence[int]:
    """Return the places of the inputs whose elements a node moves; none where it does more."""
    if normal_domain(node.domain) or node.op not in BYTE_MOVES:
        return ()
    if any(isinstance(value, AttributeRef) for value in node.attrs.values()):
        return ()
    if node.op == "MaxPool" and (
        node.attrs.get("ceil_mode", 0) or any(not is_empty(t) for t in node.outputs[1:])
    ):
        return ()  # a window outside of the image gives the least number of the type
    if node.op == "Resize" and node.attrs.get("mode", "nearest") != "nearest":
        return ()
    return (0,) if node.op == "Resize" else OPERATORS[node.op].data_places(len(node.inputs))


def is_stepped(tensor: Tensor, within: tuple[int, int] | None = None) -> bool:
    """Say whether a float tensor holds integers and no -0.0; see `stepping_nodes`.

    Args:
        tensor: The tensor.
        within: The range that the limits of the Clip must keep; None for any.
    """
    return bool(stepping_nodes(tensor, within))


def stepping_nodes(tensor: Tensor, within: tuple[int, int] | None = None) -> list[Node]:
    """Return the nodes that make a float tensor whole and limited; none where it may be neither.

    It is both where it is a Clip of a Round, Floor or Ceil to which a whole constant or such a
    number was added, or such numbers and constants moved about. The Add makes 0.0 of what rounding
    made -0.0.
    """
    found: list[Node] = []
    return found if _stepped(tensor, within, _DEPTH, found) else []


def _stepped(tensor: Tensor, within: tuple[int, int] | None, depth: int, found: list[Node]) -> bool:
    if not tensor.inputs or not depth:
        return False
    node: Node = tensor.inputs[0]
    found.append(node)
    if normal_domain(node.domain):
        return False
    if node.op != "Clip":
        places = [p for p in moved_inputs(node) if p < len(node.inputs)]
        operands = [node.inputs[p] for p in places if not is_empty(node.inputs[p])]
        known = [Value(t).array() for t in operands]
        return bool(operands) and all(
            _stepped(t, within, depth - 1, found) if array is None else _is_whole(array, within)
            for t, array in zip(operands, known, strict=True)
        )
    limits = [_limit(node, name, place) for name, place in _LIMITS.items()]
    bounds = np.array([limit for limit in limits if limit is not None])
    shifted, rounded = _made_by(node.inputs[0], ("Add",)), None
    if shifted is not None:
        constant = Value(shifted.inputs[1]).array()
        rounded = _made_by(shifted.inputs[0], ("Round", "Floor", "Ceil"))
        found.append(shifted)
        if constant is None:
            whole = _stepped(shifted.inputs[1], None, depth - 1, found)
        else:
            whole = _is_whole(constant, None)
        if not whole or rounded is None:
            return False
        found.append(rounded)
    return rounded is not None and len(bounds) == 2 and _is_whole(bounds, within)


def _is_whole(array: Array, within: tuple[int, int] | None) -> bool:
    numbers = array.astype(np.float64)
    if not (numbers == np.floor(numbers)).all() or (np.signbit(numbers) & (numbers == 0)).any():
        return False
    return within is None or bool(((numbers >= within[0]) & (numbers <= within[1])).all())


def _limit(node: Node, name: str, place: int) -> float | None:
    written = node.attrs.get(name)
    if isinstance(written, float | int):
        return float(written)
    if place >= len(node.inputs) or is_empty(node.inputs[place]):
        return None
    array = Value(node.inputs[place]).array()
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _made_by(tensor: Tensor, ops: Sequence[str]) -> Node | None:
    node: Node | None = tensor.inputs[0] if tensor.inputs else None
    return node if node is not None and node.op in ops and not normal_domain(node.domain) else None


# Nodes before a site that are proved with it, because a pass may know what they compute; more where
# constants stand for the site, because then all that it is computed from was known.
MOST_CONTEXT = 64
_MOST_VISITED = 512
_MOST_FOLDED = 512
_MOST_ORIGINS = 32
_NO_CONTEXT = MAY_DRAW | {"If", "Loop", "Scan", "SequenceMap"}
_SIZES = ("Shape", "Size")
_FLOATS = frozenset({1, 10, 11, 14, 15, 16, 17, 18, 19, 20, 23, 24})


class TensorFacts(Struct, frozen=True):
    """What was known of a border tensor when the site was applied.

    Attributes:
        elem_type: TensorProto.DataType; 0 while unknown or when not a tensor.
        shape: Dimensions; None while the rank is unknown.
        opaque: The type of what is not a plain tensor.
        weights: The values of an initializer that no caller can override.
    """

    elem_type: int
    shape: Shape | None
    opaque: TypeProto | None
    weights: Weights | None

    @classmethod
    def of(cls, tensor: Tensor) -> TensorFacts:
        """Look at a tensor."""
        if isinstance(tensor, Constant):
            weights = None if tensor.overridable else tensor.weights
            return cls(tensor.elem_type, tensor.shape, None, weights)
        return cls(tensor.elem_type, tensor.shape, tensor.opaque, None)


class Result(Struct, frozen=True):
    """One output of a site: its name before and after, and its element type (0: unknown)."""

    before: str
    after: str
    elem_type: int


class Evidence(Struct):
    """Both sides of one site.

    Attributes:
        before: The nodes that were removed.
        after: The nodes that were added.
        context: Nodes that stayed, which compute what the site reads from sizes and indices.
        opsets: What the graph imported before.
        opsets_after: What it imports after.
        results: The outputs to compare.
        known: What is known of the tensors that either side reads, by name.
        claims: The special numbers that every pass of the site claims; known once it is applied.
        cut: Constants stand for the site, and not all that it was computed from could be taken
            down: a difference tells nothing.
    """

    opsets: dict[str, int]
    opsets_after: dict[str, int] = field(default_factory=dict[str, int])
    before: list[NodeProto] = field(default_factory=list[NodeProto])
    after: list[NodeProto] = field(default_factory=list[NodeProto])
    context: list[NodeProto] = field(default_factory=list[NodeProto])
    results: list[Result] = field(default_factory=list[Result])
    known: dict[str, TensorFacts] = field(default_factory=dict[str, TensorFacts])
    claims: frozenset[str] = frozenset()
    cut: bool = False
    _read: dict[str, Tensor] = field(default_factory=dict[str, "Tensor"])
    _kept: set[int] = field(default_factory=set[int])

    @classmethod
    def of(cls, node: Node) -> Evidence:
        """Begin with the node that a pass matched, which is still whole."""
        evidence = cls(dict(node.graph.opsets))
        evidence.remove(node)
        return evidence

    @classmethod
    def of_type(cls, tensor: Variable, elem_type: int) -> Evidence:
        """Take down what reads an input whose type is about to change.

        The claim: after the Cast that the caller makes from now on, all that read the input
        compute what they did.
        """
        evidence = cls(dict(tensor.outputs[0].graph.opsets) if tensor.outputs else {})
        cast = NodeProto(op_type="Cast", input=[tensor.name], output=[f"{tensor.name} cast"])
        cast.attribute.add(name="to", type=AttributeProto.INT, i=elem_type)
        evidence.after.append(cast)
        for node in {id(n): n for n in tensor.outputs}.values():
            evidence.remove(node)
            copy = NodeProto()
            copy.CopyFrom(evidence.before[-1])
            for place, name in enumerate(copy.input):
                if name == tensor.name:
                    copy.input[place] = cast.output[0]
            for place, output in enumerate(node.outputs):
                copy.output[place] = f"{output.name} after"
                if output.name:
                    result = Result(output.name, copy.output[place], output.elem_type)
                    evidence.results.append(result)
            evidence.after.append(copy)
        evidence.finish(())
        return evidence

    def remove(self, node: Node) -> None:
        """Take down a node that goes, while it still has its edges."""
        self.before.append(export_node(node))
        self._read.update((t.name, t) for t in tensors_read(node))

    def replace(self, old: Tensor, fresh: Tensor) -> None:
        """Take down which tensor stands for an output."""
        name = fresh.name
        self.results.append(Result(old.name, name, old.elem_type or fresh.elem_type))
        self._read.setdefault(name, fresh)
        if isinstance(fresh, Constant):
            self.known[name] = TensorFacts.of(fresh)

    def finish(self, added: Iterable[Node], version: int | None = None) -> None:
        """Take down what came, once the site is applied.

        Args:
            added: The new nodes.
            version: The opset of the default domain from now on, for a step of the opset.
        """
        fresh: dict[str, Tensor] = {}
        for node in added:
            self.after.append(export_node(node))
            fresh.update((t.name, t) for t in tensors_read(node) if t.name not in self._read)
            self.opsets_after = node.graph.opsets
        self.opsets_after = dict(self.opsets_after or self.opsets)
        if version is not None:
            self.opsets_after[""] = version
        made = {name for proto in (*self.before, *self.after) for name in proto.output}
        self._context(fresh, made, constants_only=version is not None)
        for name, tensor in (*self._read.items(), *fresh.items()):
            if name not in self.known:
                self.known[name] = TensorFacts.of(tensor)
        self._read.clear()
        self._kept.clear()

    def _context(self, fresh: dict[str, Tensor], made: set[str], *, constants_only: bool) -> None:
        pending = [t for n, t in (*self._read.items(), *fresh.items()) if n not in made]
        # A replacement may read what the replaced nodes computed something from. What it computes
        # itself is no such thing: what follows from that is given alike to both sides.
        early = {
            id(tensor)
            for name, tensor in fresh.items()
            if name not in self._read and name not in made and not _is_constant(tensor)
        }
        if early and not constants_only:
            for node in _between([t for n, t in self._read.items() if n not in made], early):
                self._keep(node, pending)
        folded = not constants_only and self._is_folded(fresh)
        most, visits = (_MOST_FOLDED, 4 * _MOST_FOLDED) if folded else (MOST_CONTEXT, _MOST_VISITED)
        if folded:
            needed = {
                n for proto in self.before if proto.op_type not in _SIZES for n in proto.input
            }
            pending = [tensor for tensor in pending if tensor.name in needed]
        while pending and visits > 0 and len(self.context) < most:
            tensor = pending.pop(0)
            visits -= 1
            if not tensor.inputs or tensor.name in made:
                continue
            producer: Node = tensor.inputs[0]
            if folded and producer.op in _SIZES:
                self._keep(producer, [])
            elif _is_constant(tensor) or (
                not constants_only
                and (_tells(tensor, producer) or (folded and producer.op not in _NO_CONTEXT))
            ):
                self._keep(producer, pending)
            elif not constants_only:
                # A pass may know that numbers were rounded and limited.
                for node in stepping_nodes(tensor):
                    self._keep(node, pending)
        self.cut = folded and any(
            t.inputs and t.name not in made and id(t.inputs[0]) not in self._kept for t in pending
        )

    def _is_folded(self, fresh: dict[str, Tensor]) -> bool:
        """Say whether what came is computed from constants alone."""
        made = {name for proto in self.after for name in proto.output}
        read = {name for proto in self.after for name in proto.input}
        read.update(result.after for result in self.results)
        known = self._read | fresh
        return all(_is_constant(known[name]) for name in read - made if name in known)

    def _keep(self, node: Node, pending: list[Tensor]) -> None:
        if id(node) in self._kept:
            return
        self._kept.add(id(node))
        self.context.append(export_node(node))
        for tensor in tensors_read(node):
            self._read.setdefault(tensor.name, tensor)
            pending.append(tensor)


def tensors_read(node: Node) -> Iterator[Tensor]:
    """Yield what a node reads, in its subgraphs too (what they make themselves included)."""
    yield from (t for t in node.inputs if not is_empty(t))
    for _, body in node.graphs():
        for graph in body.walk():
            inner = {id(t) for t in graph.inputs}
            inner.update(id(t) for n in graph.nodes for t in n.outputs)
            inner.update(id(c) for c in graph.initializers)
            for tensor in (*graph.outputs, *(t for n in graph.nodes for t in n.inputs)):
                if id(tensor) not in inner and not is_empty(tensor):
                    yield tensor


def _is_constant(tensor: Tensor) -> bool:
    if isinstance(tensor, Constant):
        return not tensor.overridable
    return bool(tensor.inputs) and tensor.inputs[0].op == "Constant"


def _tells(tensor: Tensor, producer: Node) -> bool:
    """Say whether a pass may reason with where a tensor comes from: sizes, indices, sequences."""
    if producer.op in _NO_CONTEXT:
        return False
    if tensor.elem_type in _FLOATS:
        return _from_sizes(tensor, [_MOST_ORIGINS])
    return bool(tensor.elem_type) or tensor.opaque is not None


def _from_sizes(tensor: Tensor, budget: list[int]) -> bool:
    """Say whether a tensor is computed from constants and sizes alone, so that a pass knows it."""
    if _is_constant(tensor):
        return True
    budget[0] -= 1
    if not isinstance(tensor, Variable) or not tensor.inputs or budget[0] < 0:
        return False
    producer: Node = tensor.inputs[0]
    if producer.op in _SIZES:
        return True
    if producer.op in _NO_CONTEXT or any(True for _ in producer.graphs()) or not producer.inputs:
        return False
    return all(_from_sizes(t, budget) for t in producer.inputs if not is_empty(t))


def _between(late: list[Tensor], early: set[int]) -> list[Node]:
    """Return the nodes on the ways from the tensors in `early` to those in `late`."""
    leads: dict[int, bool] = {}
    found: list[Node] = []
    budget = [_MOST_VISITED]

    def walk(tensor: Tensor, depth: int) -> bool:
        if id(tensor) in early:
            return True
        if not tensor.inputs or depth == 0 or budget[0] <= 0:
            return False
        node: Node = tensor.inputs[0]
        if id(node) not in leads:
            budget[0] -= 1
            leads[id(node)] = False
            inner = [walk(t, depth - 1) for t in tensors_read(node)]
            leads[id(node)] = any(inner) and node.op not in _NO_CONTEXT
            if leads[id(node)]:
                found.append(node)
        return leads[id(node)]

    for tensor in late:
        if id(tensor) not in early:
            walk(tensor, 40)
    return found
