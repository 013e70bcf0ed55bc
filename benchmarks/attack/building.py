"""Building models of a few nodes, in each of the places where nodes can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks.attack.pytorch import Called

Array = np.ndarray[Any, Any]
Feed = dict[str, Any]
SCOPES = ("main", "function", "if", "loop", "nested")
DOMAIN = "local"
IR = {opset: 3 if opset < 9 else 4 if opset < 10 else 8 for opset in range(1, 21)}


@dataclass(frozen=True)
class Job:
    """What graphfix is asked to do with a model.

    Attributes:
        name: How the command line says it.
        how: ``run`` or ``edit``.
        arguments: Of `graphfix.run`, or those of the edit.
        inputs: How the result calls the inputs; None for as before.
        outputs: What is compared, as the original and as the result call it; all if empty.
        only: The feeds, by place, that the result is made for; None for all.
    """

    name: str
    how: str
    arguments: Mapping[str, Any]
    inputs: Mapping[str, str] | None = None
    outputs: tuple[tuple[str, str], ...] = ()
    only: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Case:
    """A model, what it is fed, and what is asked.

    Attributes:
        name: Unique in its family.
        family: What it attacks.
        model: The model.
        feeds: What the judge feeds; a key that is an initializer overrides it.
        jobs: What is asked.
        special: The feeds that hold NaN, infinities or what comes close to them, by place.
        wide: Those that hold numbers for which an approximate repair does not be.
        undefined: Those for which ONNX defines no result.
        called: What PyTorch is to compute, where the original is a call that no runtime has.
    """

    name: str
    family: str
    model: ModelProto
    feeds: Sequence[Feed]
    jobs: Sequence[Job]
    special: frozenset[int] = frozenset()
    wide: frozenset[int] = frozenset()
    undefined: frozenset[int] = frozenset()
    called: Called | None = None


def target(name: str, **more: Any) -> Job:
    """Return the job of a repair."""
    return Job(f"run --target {name}", "run", {"target": name, **more})


def opset(version: int) -> Job:
    """Return the job of a conversion."""
    return Job(f"run --opset {version}", "run", {"opset": version})


def passes(*names: str) -> Job:
    """Return the job of named passes."""
    return Job(f"run --passes {','.join(names)}", "run", {"passes": list(names)})


@dataclass
class Net:
    """A graph under construction."""

    opset: int = 17
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list[Any])
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list[Any])
    nodes: list[NodeProto] = field(default_factory=list[Any])
    stored: list[TensorProto] = field(default_factory=list[Any])
    by_node: bool = False
    imports: dict[str, int] = field(default_factory=dict[str, int])
    infos: list[onnx.ValueInfoProto] = field(default_factory=list[Any])

    def take(self, name: str, kind: int, dims: Sequence[Any] | None) -> str:
        """Add an input."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def give(self, name: str, kind: int, dims: Sequence[Any] | None = None) -> str:
        """Add an output."""
        self.outputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def hold(self, value: Any, dtype: Any = np.int64, name: str = "") -> str:
        """Store a constant."""
        array = np.asarray(value, dtype=dtype)
        name = name or f"c{len(self.stored) + len(self.nodes)}"
        proto = numpy_helper.from_array(array, name)
        if self.by_node:
            self.nodes.append(helper.make_node("Constant", [], [name], value=proto))
        else:
            self.stored.append(proto)
        return name

    def add(self, op: str, *inputs: str, out: str = "", domain: str = "", **attrs: Any) -> str:
        """Add a node of one output."""
        name = out or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], domain=domain, **attrs))
        return name

    def many(self, op: str, inputs: Sequence[str], count: int, **attrs: Any) -> list[str]:
        """Add a node of several outputs."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attrs))
        return names

    def graph(self, name: str = "g") -> GraphProto:
        """Return the graph."""
        return helper.make_graph(
            self.nodes, name, self.inputs, self.outputs, self.stored, value_info=self.infos
        )

    def model(self, scope: str = "main", *, overridable: Sequence[str] = ()) -> ModelProto:
        """Return the model, the nodes in one of `SCOPES`.

        Args:
            scope: Where the nodes are.
            overridable: Initializers that are inputs too.
        """
        core = self.graph()
        imports = [helper.make_opsetid("", self.opset)]
        imports += [helper.make_opsetid(d, v) for d, v in self.imports.items()]
        functions: list[onnx.FunctionProto] = []
        if scope == "main":
            graph = core
        elif scope == "function":
            graph, function = _as_function(core, imports)
            functions.append(function)
            imports = [*imports, helper.make_opsetid(DOMAIN, 1)]
        elif scope == "if":
            graph = _as_branches(core)
        elif scope == "loop":
            graph = _as_loop(core)
        elif scope == "nested":
            graph = _as_loop(_as_branches(core))
        else:
            raise ValueError(scope)
        for stored in core.initializer:
            if stored.name in overridable:
                graph.input.append(
                    helper.make_tensor_value_info(stored.name, stored.data_type, None)
                )
        made = helper.make_model(graph, opset_imports=imports, functions=functions)
        made.ir_version = max(IR.get(self.opset, 10), 8 if functions else 3)
        return made


def _as_function(core: GraphProto, imports: list[Any]) -> tuple[GraphProto, onnx.FunctionProto]:
    constants = [helper.make_node("Constant", [], [t.name], value=t) for t in core.initializer]
    ins, outs = [i.name for i in core.input], [o.name for o in core.output]
    function = helper.make_function(DOMAIN, "F", ins, outs, [*constants, *core.node], imports)
    call = helper.make_node("F", ins, outs, domain=DOMAIN, name="call")
    return helper.make_graph([call], "g", core.input, core.output), function


def _as_branches(core: GraphProto) -> GraphProto:
    outs = [helper.make_tensor_value_info(o.name, o.type.tensor_type.elem_type, None)
            for o in core.output]  # fmt: skip
    body = helper.make_graph(core.node, "branch", [], core.output, core.initializer)
    names = [f"{o.name}_if" for o in core.output]
    node = helper.make_node("If", ["cond"], names, name="If", then_branch=body, else_branch=body)
    for out, name in zip(outs, names, strict=True):
        out.name = name
    cond = helper.make_tensor_value_info("cond", TensorProto.BOOL, [])
    return helper.make_graph([node], "g", [cond, *core.input], outs)


def _as_loop(core: GraphProto) -> GraphProto:
    own = list(core.input)
    trip = helper.make_tensor_value_info("iteration", TensorProto.INT64, [])
    keep = helper.make_tensor_value_info("keep", TensorProto.BOOL, [])
    goes = helper.make_tensor_value_info("goes", TensorProto.BOOL, [])
    again = helper.make_node("Identity", ["keep"], ["goes"])
    body = helper.make_graph(
        [*core.node, again], "body", [trip, keep], [goes, *core.output], core.initializer
    )
    names = [f"{o.name}_loop" for o in core.output]
    node = helper.make_node("Loop", ["trips", ""], names, name="Loop", body=body)
    outs = [helper.make_tensor_value_info(n, o.type.tensor_type.elem_type, None)
            for n, o in zip(names, core.output, strict=True)]  # fmt: skip
    trips = helper.make_tensor_value_info("trips", TensorProto.INT64, [])
    return helper.make_graph([node], "g", [trips, *own], outs)


def feeds_in(scope: str, feeds: Sequence[Feed]) -> list[Feed]:
    """Return feeds with what the place of the nodes takes as well."""
    found: list[Feed] = []
    for place, feed in enumerate(feeds):
        more: Feed = {}
        if scope in ("if", "nested"):
            more["cond"] = np.array(place % 2 == 0)
        if scope in ("loop", "nested"):
            more["trips"] = np.array((2, 1, 3)[place % 3], dtype=np.int64)
        found.append({**feed, **more})
    return found
