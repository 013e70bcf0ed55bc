"""Runs a file node by node, each in a model of its own, where ONNX refuses the whole.

Subgraphs are walked here: branches are both run, since the types of both count, and a state has
the type that holds all that it becomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

import numpy as np
import onnx
import onnx.external_data_helper
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    numpy_helper,
)

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.errors import EngineFailed
from graphfix.ir.protos import bound, constant_of_node, copied, normal_domain
from graphfix.ir.schemas import minimal_ir
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.readings.containers import of_containers
from graphfix.proving.readings.promoting import Taken, promoted, takes
from graphfix.proving.runners.engine import Engine, MissingOperator
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value

_MOST_ROUNDS = 10_000
_COUNTERS = 2  # what a Loop has before the states
_SCAN_WITHOUT_LENGTHS = 9
_ANY = frozenset(
    ["float16", "bfloat16", "float32", "float64", "bool"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


class Scope:
    """The values of a graph by name, and which of them the file stores.

    Attributes:
        waiting: Nodes of the graph that read what nothing in it gives; a graph inside may.
    """

    def __init__(self, outer: Scope | None = None) -> None:
        """Begin without values, inside of `outer`."""
        self._outer = outer
        self._values: dict[str, Value] = {}
        self._stored: set[str] = set()
        self.waiting: list[NodeProto] = []

    def has(self, name: str) -> bool:
        """Say whether there is a value, here or around."""
        return name in self._values or (self._outer is not None and self._outer.has(name))

    def waiting_around(self) -> list[NodeProto]:
        """Return what waits in the graphs around this one."""
        outer = self._outer
        return [*outer.waiting_around(), *outer.waiting] if outer is not None else []

    def put(self, name: str, value: Value, *, stored: bool = False) -> None:
        """Take a value."""
        self._values[name] = value
        if stored:
            self._stored.add(name)

    def get(self, name: str) -> Value:
        """Return a value; raises `EngineFailed`."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return scope._values[name]
            scope = scope._outer
        raise EngineFailed(f"nothing gives {name}")

    def is_stored(self, name: str) -> bool:
        """Say whether a value is a constant of the file."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return name in scope._stored
            scope = scope._outer
        return False


class ReadingEngine:
    """Evaluates a file as it came; its operands are promoted where they meet."""

    name = "the file as it came, node by node"

    def __init__(
        self, model: ModelProto, folder: str, evaluators: Evaluators, wanted: ModelProto
    ) -> None:
        """Prepare to run `model`.

        Args:
            model: The file as it came.
            folder: Where its external data lies.
            evaluators: Numpy models of operators that no engine has.
            wanted: The file as it was read, which says of what types the outputs are.
        """
        if folder:
            model = copied(model)
            onnx.external_data_helper.load_external_data_for_model(model, folder)
        self._graph = model.graph
        self._overridable = model.ir_version >= 4
        self._opsets = _versions(model.opset_import)
        self._functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self._evaluators = evaluators
        self._outputs = [
            (info.name, info.type.tensor_type.elem_type) for info in wanted.graph.output
        ]
        self._engines: dict[tuple[object, ...], Engine] = {}

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; see `graphfix.proving.runners.engine.Engine`.

        Raises:
            MissingOperator: A node cannot be run by itself, which says nothing of the file.
        """
        scope = self._entered(self._graph, None, feed)
        self._nodes(self._graph, scope)
        results: dict[str, Value] = {}
        for name, elem_type in self._outputs:
            value = scope.get(name)
            if isinstance(value, np.ndarray) and elem_type:
                with np.errstate(all="ignore"):
                    value = value.astype(numpy_dtype(elem_type))
            results[name] = value
        return results

    def _entered(self, graph: GraphProto, outer: Scope | None, given: Mapping[str, Value]) -> Scope:
        scope = Scope(outer)
        listed = {info.name for info in graph.input}
        for tensor in graph.initializer:
            stored = tensor.name not in listed or not self._overridable
            scope.put(tensor.name, numpy_helper.to_array(tensor), stored=stored)
        for name, value in given.items():
            scope.put(name, value)
        return scope

    def _nodes(self, graph: GraphProto, scope: Scope) -> None:
        made = {name for node in graph.node for name in node.output}
        ready = [node for node in scope.waiting_around() if made.issuperset(node.input)]
        made.update(name for node in ready for name in node.output)
        for node in graph.node:
            fits = all(not name or name in made or scope.has(name) for name in node.input)
            (ready if fits else scope.waiting).append(node)
        for node in _in_order(ready):
            results = self._node(node, scope)
            stored = constant_of_node(node) is not None
            for name, value in zip(node.output, results, strict=False):
                if name:
                    scope.put(name, value, stored=stored)

    def _node(self, node: NodeProto, scope: Scope) -> Sequence[Value]:
        least = _COUNTERS if node.op_type == "Loop" else 0
        values = [scope.get(name) if name else None for name in node.input]
        while len(values) > least and values[-1] is None:
            values.pop()
        subgraphs = {a.name: a.g for a in node.attribute if a.type == AttributeProto.GRAPH}
        function = self._functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            return self._call(function, node, scope)
        try:
            if not subgraphs:
                held = of_containers(node, values, _like)
                if held is not None:
                    return held
                return self._alone(node, values, [scope.is_stored(n) for n in node.input])
            if node.op_type == "If":
                return self._branches(subgraphs, _truth(values[0]), scope)
            if node.op_type == "Loop":
                return self._loop(subgraphs["body"], values, scope)
            if node.op_type == "Scan":
                return self._scan(node, subgraphs["body"], values, scope)
        except MissingOperator:
            raise
        except EngineFailed as error:
            key = (node.domain, node.op_type)
            raise MissingOperator(key, f"{node.op_type} by itself: {error.message}") from error
        key = (node.domain, node.op_type)
        raise MissingOperator(key, f"{node.op_type} is not read node by node")

    def _alone(
        self, node: NodeProto, values: list[Value], stored: Sequence[bool]
    ) -> Sequence[Value]:
        domain = normal_domain(node.domain)
        opset = self._opsets.get(domain, 0) if domain else self._opset_of(node)
        ready = promoted(node.op_type, takes(node.op_type, opset, domain), values, stored)
        engine = self._engine(node, ready, opset if not domain else self._opsets.get("", 1))
        names = [f"i{place}" for place in range(len(ready))]
        fed: Feed = {n: v for n, v in zip(names, ready, strict=True) if v is not None}
        found = engine.run(fed)
        return [found.get(f"o{place}") for place in range(len(node.output))]

    def _opset_of(self, node: NodeProto) -> int:
        """Return the opset nearest to that of the file at which the checker takes a node."""
        own = self._opsets.get("", 1)
        context = onnx.checker.C.CheckerContext()
        context.ir_version = 10
        newest = onnx.defs.onnx_opset_version()
        for version in sorted(range(1, newest + 1), key=lambda each: (abs(each - own), each)):
            context.opset_imports = {**self._opsets, "": version}
            try:
                onnx.checker.check_node(node, context)
            except (onnx.checker.ValidationError, RuntimeError):
                continue
            return version
        return own

    def _engine(self, node: NodeProto, values: Sequence[Value], opset: int) -> Engine:
        """Return what runs a node by itself on values of these types, at an opset."""
        single = NodeProto()
        single.CopyFrom(node)
        single.name = ""
        del single.input[:], single.output[:]
        infos: list[onnx.ValueInfoProto] = []
        for place, value in enumerate(values):
            single.input.append("" if value is None else f"i{place}")
            if value is not None:
                infos.append(onnx.helper.make_value_info(f"i{place}", _type(value)))
        single.output.extend(f"o{n}" if name else "" for n, name in enumerate(node.output))
        key = (opset, single.SerializeToString(), *(i.SerializeToString() for i in infos))
        if key not in self._engines:
            outputs = [onnx.ValueInfoProto(name=name) for name in single.output if name]
            graph = onnx.helper.make_graph([single], "node", infos, outputs)
            # A file may leave out the import of another domain, which a repair adds.
            imports = {normal_domain(node.domain): 1, **self._opsets, "": opset}
            model = onnx.helper.make_model(
                graph,
                opset_imports=[onnx.helper.make_opsetid(d, v) for d, v in imports.items()],
                ir_version=max(minimal_ir(opset), 8),
            )
            model = infer_shapes(model)  # no engine passes on a bfloat16 of which no one says so
            self._engines[key] = RunnableModel(model, "", self._evaluators).open()
        return self._engines[key]

    def _call(self, function: FunctionProto, node: NodeProto, outside: Scope) -> Sequence[Value]:
        """Run the nodes of a function on what it is called with."""
        given = {a.name: a for a in (*function.attribute_proto, *node.attribute)}
        scope = Scope()
        for name, fed in zip_longest(function.input, node.input, fillvalue=""):
            value = outside.get(fed) if fed else None
            scope.put(name, value, stored=outside.is_stored(fed))
        imports = self._opsets
        self._opsets = {**imports, **_versions(function.opset_import)}
        try:
            self._nodes(GraphProto(node=[bound(each, given) for each in function.node]), scope)
        finally:
            self._opsets = imports
        return [scope.get(name) for name in function.output]

    def _scan(
        self, node: NodeProto, body: GraphProto, values: Sequence[Value], scope: Scope
    ) -> Sequence[Value]:
        """Run the rounds of a Scan as those of a Loop that takes its inputs apart."""
        known = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        count = int(known["num_scan_inputs"])
        if self._opsets.get("", 1) < _SCAN_WITHOUT_LENGTHS:
            raise EngineFailed("a Scan of opset 8 runs over several sequences")
        first = len(values) - count
        axes = known.get("scan_input_axes") or [0] * count
        back = known.get("scan_input_directions") or [0] * count
        fed: list[Array] = []
        for value, axis, turned in zip(values[first:], axes, back, strict=True):
            moved = np.moveaxis(np.asarray(value), axis, 0)
            fed.append(moved[::-1] if turned else moved)
        rounds = len(fed[0])
        found = self._loop(body, [np.array(rounds), None, *values[:first]], scope, fed)
        rows = [np.asarray(row) for row in found[first:]]
        axes = known.get("scan_output_axes") or [0] * len(rows)
        back = known.get("scan_output_directions") or [0] * len(rows)
        joined = [
            np.moveaxis(row[::-1] if turned else row, 0, axis)
            for row, axis, turned in zip(rows, axes, back, strict=True)
        ]
        return [*found[:first], *joined]

    def _branches(
        self, subgraphs: Mapping[str, GraphProto], truth: bool, scope: Scope
    ) -> Sequence[Value]:
        found: dict[str, list[Value]] = {}
        for name, body in subgraphs.items():
            inner = self._entered(body, scope, {})
            self._nodes(body, inner)
            found[name] = [inner.get(info.name) for info in body.output]
        taken = found["then_branch" if truth else "else_branch"]
        other = found["else_branch" if truth else "then_branch"]
        return [_like(value, twin) for value, twin in zip(taken, other, strict=True)]

    def _loop(
        self,
        body: GraphProto,
        values: Sequence[Value],
        scope: Scope,
        fed: Sequence[Array] | None = None,
    ) -> Sequence[Value]:
        """Run a Loop, or with what is `fed` row by row a Scan, whose body has no counters."""
        wanted = list(values[_COUNTERS:])
        first = _COUNTERS if fed is None else 0
        for place, info in enumerate(body.input[first : first + len(wanted)]):
            if info.type.tensor_type.elem_type:
                declared = np.zeros(0, numpy_dtype(info.type.tensor_type.elem_type))
                wanted[place] = _like(wanted[place], declared)
        while True:
            states, scanned, seen = self._rounds(body, values, wanted, scope, fed)
            wider = [_like(value, then) for value, then in zip(wanted, seen, strict=True)]
            if all(_type(a) == _type(b) for a, b in zip(wider, wanted, strict=True)):
                return [*states, *scanned]
            wanted = wider

    def _rounds(
        self,
        body: GraphProto,
        values: Sequence[Value],
        begin: Sequence[Value],
        scope: Scope,
        fed: Sequence[Array] | None,
    ) -> tuple[list[Value], list[Value], list[Value]]:
        """Return the last states, what is scanned, and states of the types that they had."""
        most = int(np.asarray(values[0]).reshape(-1)[0]) if values[0] is not None else _MOST_ROUNDS
        truth = values[1] is None or _truth(values[1])
        states, seen = list(begin), list(begin)
        ends = 1 if fed is None else 0
        rows: list[list[Array]] = [[] for _ in body.output[ends + len(states) :]]
        count = 0
        while count < most and truth:
            if count == _MOST_ROUNDS:
                raise EngineFailed(f"a Loop takes more than {_MOST_ROUNDS} rounds")
            names = [info.name for info in body.input]
            given = [np.array(count, np.int64), np.array(truth), *states]
            if fed is not None:
                given = [*states, *(rows[count] for rows in fed)]
            inner = self._entered(body, scope, dict(zip(names, given, strict=False)))
            self._nodes(body, inner)
            found = [inner.get(info.name) for info in body.output]
            truth = fed is not None or _truth(found[0])
            seen = [_like(a, b) for a, b in zip(seen, found[ends:], strict=False)]
            states = [_like(a, b) for a, b in zip(found[ends:], begin, strict=False)]
            for row, value in zip(rows, found[ends + len(states) :], strict=True):
                row.append(np.asarray(value))
            count += 1
        if not count and rows:
            raise EngineFailed("a Loop without a round gives nothing to stack")
        return states, [np.stack(row) for row in rows], seen


def _in_order(nodes: Sequence[NodeProto]) -> list[NodeProto]:
    """Return nodes with each after those whose outputs it reads, itself or in a subgraph."""
    made = {name for node in nodes for name in node.output if name}
    waiting, ready, result = list(nodes), set[str](), list[NodeProto]()
    while waiting:
        left: list[NodeProto] = []
        for node in waiting:
            if (_read_by(node) & made) <= ready:
                result.append(node)
                ready.update(node.output)
            else:
                left.append(node)
        if len(left) == len(waiting):
            raise EngineFailed(f"nothing gives {', '.join(sorted(_read_by(left[0]) & made))}")
        waiting = left
    return result


def _read_by(node: NodeProto) -> set[str]:
    """Return the names that a node reads, and what its subgraphs read from around them."""
    read = set(node.input)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            body = attribute.g
            own = {info.name for info in body.input} | {t.name for t in body.initializer}
            own |= {name for inner in body.node for name in inner.output}
            inside = {info.name for info in body.output}.union(*map(_read_by, body.node))
            read |= inside - own
    return read


def _versions(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    return {normal_domain(each.domain): each.version for each in imports}


def _like(value: Value, other: Value) -> Value:
    """Return a value in the type that holds those of both."""
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray):
        return value
    if value.dtype == other.dtype:
        return value
    either = [Taken("", _ANY)]
    return promoted("If", either, [value, other.reshape(-1)[:0]], [False, False])[0]


def _truth(value: Value) -> bool:
    return bool(np.asarray(value).reshape(-1)[0])


def _type(value: Value) -> onnx.TypeProto:
    if isinstance(value, list):
        if not value:
            raise EngineFailed("an empty sequence has no type")
        return onnx.helper.make_sequence_type_proto(_type(value[0]))
    if not isinstance(value, np.ndarray):
        raise EngineFailed("neither a tensor nor a sequence")
    dtype = value.dtype
    strings = dtype == np.dtype(object)
    elem = onnx.TensorProto.STRING if strings else onnx.helper.np_dtype_to_tensor_dtype(dtype)
    return onnx.helper.make_tensor_type_proto(elem, None)
