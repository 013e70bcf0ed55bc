"""A loaded file: the graph that passes edit, what travels untouched, and both as a ModelProto.

Shape inference and the checker are given one without the values of big initializers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx
from msgspec import Struct, field
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from graphfix.ir.exporting import encode_attribute, export_node, make_info, write_graph, write_nodes
from graphfix.ir.graph import Constant, Function, Graph, Node, Shape, Variable, Weights
from graphfix.ir.importing import UndefinedName, import_function, import_main
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.aside import LEAST, Aside
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external


class Model:
    """A model in memory.

    Attributes:
        proto: The model as it was loaded, or as a pass loaded it again; never changed.
        graph: The main graph.
        functions: The local functions, in the order of the file.
        ir_version: The IR version that the model is to be written with.
        metadata: Entries to add to (or replace in) ``metadata_props``.
        path: The file it was read from; None when it was made in memory.
        base_dir: The folder that external data is looked up in; empty in memory.
        sha256: Of the .onnx file; empty when made in memory.
        is_text: Whether it came as a text, and no pass has seen to it.
        misplaced: What nodes write that the file has outside of the subgraph that they belong to,
            and that are in it here; empty where a pass has seen to it.
    """

    def __init__(
        self,
        proto: ModelProto,
        *,
        path: Path | None = None,
        sha256: str = "",
        size: int = 0,
        base_dir: str | None = None,
        is_text: bool = False,
    ) -> None:
        """Import `proto`, which must not be changed afterwards.

        Args:
            proto: The model.
            path: The file that holds just this model; None where there is none.
            sha256: Of that file.
            size: Of that file, in bytes.
            base_dir: The folder of the external data; None for that of `path`.
            is_text: Whether that file has the text form of the model.

        Raises:
            InvalidModel: A name is used that nothing defines.
        """
        self.proto = proto
        self._file = proto
        self.path = path
        if base_dir is None:
            base_dir = str(path.parent) if path is not None else ""
        self.base_dir = base_dir
        self.sha256 = sha256
        self.size = size
        self.is_text = is_text
        self._outside: bool | None = None
        self._aside: Aside | None = None
        self.ir_version: int = proto.ir_version
        self.metadata: dict[str, str] = {}
        self.functions: list[Function] = [
            import_function(function, self.base_dir) for function in proto.functions
        ]
        self.misplaced: tuple[str, ...] = ()
        try:
            self.graph: Graph = import_main(proto, self.base_dir)
        except UndefinedName:
            from graphfix.ir.misplaced import placed_in_subgraphs

            placed = placed_in_subgraphs(proto)
            if placed is None:
                raise
            self.proto, self.misplaced = placed
            self._file = self.proto
            self.graph = import_main(self.proto, self.base_dir)
        known = frozenset(function.key for function in self.functions)
        for root in self.roots():
            root.known_functions = known
            root.base_dir = self.base_dir
            root.producer = proto.producer_name

    def lay_aside(self, constant: Constant) -> None:
        """Move a new constant to a file if it is big, and the model has weights in files.

        What holds no more than the model itself in memory stays so, however much passes rewrite.
        """
        proto = constant.weights.proto
        if not isinstance(proto, TensorProto) or len(proto.raw_data) < LEAST:
            return
        if self._outside is None:
            self._outside = any(is_external(tensor) for tensor in walk_tensors(self.proto))
        with contextlib.suppress(OSError):  # it stays in memory
            if self._outside:
                self._aside = self._aside or Aside(self.base_dir)
                constant.weights = Weights(self._aside.put(proto), self.base_dir, self._aside)

    def hold(self, aside: Aside) -> None:
        """Keep a file of weights that the model refers to as long as the model."""
        self._aside = aside

    @classmethod
    def empty(cls, opset: int, ir_version: int = 10) -> Model:
        """Return a model without nodes, inputs and outputs.

        Args:
            opset: The opset of the default domain.
            ir_version: The IR version; 10 is read by onnxruntime 1.18 and newer.
        """
        proto = ModelProto(ir_version=ir_version)
        proto.graph.name = "graph"
        proto.opset_import.add(domain="", version=opset)
        return cls(proto)

    @property
    def opset(self) -> int:
        """The opset of the default domain; 0 where the model does not import it."""
        return self.graph.opsets.get("", 0)

    def roots(self) -> Iterator[Graph]:
        """Walk the main graph and the local functions."""
        yield self.graph
        yield from self.functions

    def graphs(self) -> Iterator[Graph]:
        """Walk every scope: main graph, subgraphs, functions and their subgraphs."""
        for root in self.roots():
            yield from root.walk()

    def nodes(self) -> Iterator[Node]:
        """Walk the nodes of every scope."""
        for graph in self.graphs():
            yield from graph.nodes

    def node_count(self) -> int:
        """Count the nodes of every scope."""
        return sum(len(graph.nodes) for graph in self.graphs())

    def has_external_data(self) -> bool:
        """Say whether any tensor of the file as it came lies outside it."""
        return any(is_external(tensor) for tensor in walk_tensors(self.proto))

    def to_proto(self) -> ModelProto:
        """Return the model as a proto; external data stays where it is.

        What passes laid aside is in a file that is gone with the model: `graphfix.save` keeps it.
        """
        return self._finished(export_model(self.proto, self.graph, self.functions))

    def light_proto(self) -> ModelProto:
        """Return the model with big initializers as inputs, for inference and the checker."""
        return self._finished(export_model(self.proto, self.graph, self.functions, weights=False))

    def _finished(self, result: ModelProto) -> ModelProto:
        if result.ir_version != self.ir_version:
            result.ir_version = self.ir_version
        entries = {entry.key: entry for entry in result.metadata_props}
        for key, value in self.metadata.items():
            entry = entries.get(key) or result.metadata_props.add(key=key)
            entry.value = value
        return result

    def become(self, other: Model) -> None:
        """Be what another model is, which is not to be used any more; its file is none of ours."""
        self.__dict__.update(other.__dict__)

    def copy(self) -> Model:
        """Return an independent copy as the model is now; an edited one has no file any more."""
        proto = self.to_proto()
        if proto == self._file:
            fresh = Model(
                proto, path=self.path, sha256=self.sha256, size=self.size, base_dir=self.base_dir
            )
        else:
            fresh = Model(proto, base_dir=self.base_dir)
        fresh.is_text = self.is_text
        fresh.misplaced = self.misplaced
        keep_places(self.graphs(), fresh.graphs())
        return fresh


def keep_places(before: Iterable[Graph], after: Iterable[Graph]) -> None:
    """Give nodes that were loaded again the place in the file that they had; others have none."""
    known: dict[tuple[str, str, tuple[str, ...]], Node] = {}
    for graph in before:
        scope = graph.scope
        for node in graph.nodes:
            known[scope, node.op, tuple(t.name for t in node.outputs)] = node
    for graph in after:
        scope = graph.scope
        for node in graph.nodes:
            old = known.get((scope, node.op, tuple(t.name for t in node.outputs)))
            node.index = old.index if old is not None else -1
            node.origin = old.origin if old is not None else None


def export_model(
    original: ModelProto, graph: Graph, functions: list[Function], *, weights: bool = True
) -> ModelProto:
    """Return a new ModelProto.

    Args:
        original: The model as it was loaded; everything that the graph does not hold is its.
        graph: The main graph.
        functions: The local functions that are left.
        weights: False leaves the values of big initializers out and makes graph inputs of
            them, for shape inference and the checker.
    """
    result = ModelProto()
    if weights:
        result.CopyFrom(original)
    else:
        _copy_without(original, result, {"graph", "functions", "training_info"})
    _write_opsets(result.opset_import, graph.opsets)
    if weights:
        write_graph(graph, result.graph)
    else:
        result.graph.name = graph.name
        write_light(graph, result.graph)
    _write_functions(result, original, functions, copied=weights)
    return result


def _copy_without(source: Any, target: Any, names: set[str]) -> None:
    for descriptor, value in source.ListFields():
        if descriptor.name in names:
            continue
        if descriptor.is_repeated:
            getattr(target, descriptor.name).extend(value)
        elif descriptor.message_type is not None:
            getattr(target, descriptor.name).CopyFrom(value)
        else:
            setattr(target, descriptor.name, value)


def _write_functions(
    result: ModelProto, original: ModelProto, functions: list[Function], *, copied: bool
) -> None:
    protos: list[onnx.FunctionProto] = []
    changed = len(functions) != len(original.functions)
    for function in functions:
        proto = onnx.FunctionProto()
        proto.CopyFrom(function.function)
        touched = write_nodes(function, proto)
        names = [tensor.name for tensor in function.outputs]
        if names != list(proto.output):
            touched = True
            del proto.output[:]
            proto.output.extend(names)
        before = {normal_domain(o.domain): o.version for o in proto.opset_import}
        if before != function.opsets:
            touched = True
            _write_opsets(proto.opset_import, function.opsets)
        changed = changed or touched
        protos.append(proto)
    if changed or not copied:
        del result.functions[:]
        result.functions.extend(protos)


def _write_opsets(target: Any, opsets: dict[str, int]) -> None:
    seen: set[str] = set()
    kept: list[int] = []
    for position, entry in enumerate(target):
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if domain in opsets and domain not in seen:
            seen.add(domain)
            if entry.version != opsets[domain]:
                entry.version = opsets[domain]
            kept.append(position)
    for position in reversed(range(len(target))):
        if position not in kept:
            del target[position]
    for domain, version in opsets.items():
        if domain not in seen:
            target.add(domain=domain, version=version)


_SMALL_BYTES = 4096
# Inference reads integers, such as the sizes of a Split, and of floats the scales of a Resize.
_SMALL_OTHERS = 256
_SIZES = frozenset({TensorProto.INT32, TensorProto.INT64})


class _Light(Struct):
    """A light model while it is written: big initializers of subgraphs become inputs of `main`.

    Two subgraphs may have an initializer of the same name, so these inputs have names of their own.
    """

    graph: Graph
    main: GraphProto
    renamed: dict[int, str] = field(default_factory=dict[int, str])
    taken: set[str] = field(default_factory=set[str])

    def stub(self, constant: Constant) -> str:
        """Name the input that stands for an initializer of a body."""
        if not self.taken:
            for graph in self.graph.walk():
                self.taken.update(t.name for t in (*graph.inputs, *graph.initializers))
                self.taken.update(t.name for node in graph.nodes for t in node.outputs)
        count = 0
        while (name := f"{constant.name}/stub_{count}") in self.taken:
            count += 1
        self.taken.add(name)
        self.renamed[id(constant)] = name
        return name

    def name(self, tensor: Variable | Constant) -> str:
        """Return the name of a tensor in the light model."""
        return self.renamed.get(id(tensor), tensor.name)


def write_light(graph: Graph, target: GraphProto) -> None:
    """Write a main graph whose big initializers, and those of its subgraphs, are inputs.

    Args:
        graph: The main graph.
        target: What it is written to, which has its name and nothing else.
    """
    _write_light(graph, target, _Light(graph, target))


def _write_light(graph: Graph, target: GraphProto, light: _Light) -> None:
    """Write a graph whose big initializers are inputs of main, with the types that are known."""
    inside = target is not light.main
    declared: set[str] = set()
    for tensor in graph.inputs:
        if isinstance(tensor, Variable):
            target.input.add().CopyFrom(tensor.info or make_info(tensor))
            declared.add(tensor.name)
        else:
            target.input.add().CopyFrom(make_info(tensor))
            if tensor.overridable or _is_big(tensor):
                declared.add(tensor.name)
    last = {constant.name: constant for constant in graph.initializers}  # of one name, it counts
    for constant in graph.initializers:
        if constant.name not in declared and last[constant.name] is constant:
            _write_light_constant(constant, target, light, inside=inside)
    target.node.extend(_light_node(node, light) for node in graph.nodes)
    outputs = {tensor.name for tensor in graph.outputs}
    for tensor in graph.outputs:
        info = tensor.info if isinstance(tensor, Variable) else None
        target.output.add().CopyFrom(info or make_info(tensor))
        if id(tensor) in light.renamed:  # a graph outputs what it computes, not what it sees
            target.node.add(op_type="Identity", input=[light.name(tensor)], output=[tensor.name])
    _write_types(graph, target, outputs)


def _write_types(graph: Graph, target: GraphProto, outputs: set[str]) -> None:
    """Declare what is known of the tensors between the nodes; many are of one type."""
    types: dict[tuple[int, Shape | None], TypeProto] = {}
    for node in graph.nodes:
        for tensor in node.outputs:
            name, elem_type = tensor.name, tensor.elem_type
            if not name or name in outputs:
                continue
            if tensor.opaque is not None:
                target.value_info.add(name=name, type=tensor.opaque)
            elif elem_type:
                key = elem_type, tensor.shape
                known = types.get(key)
                if known is None:
                    known = types[key] = make_info(tensor).type
                target.value_info.add(name=name, type=known)


def _is_big(constant: Constant) -> bool:
    weights = constant.weights
    if not isinstance(weights.proto, TensorProto):
        return True
    most = _SMALL_BYTES if weights.proto.data_type in _SIZES else _SMALL_OTHERS
    return weights.nbytes > most


def _write_light_constant(
    constant: Constant, target: GraphProto, light: _Light, *, inside: bool
) -> None:
    proto = constant.weights.proto
    if not isinstance(proto, TensorProto) or _is_big(constant):
        # A body cannot have further inputs; it sees those of the main graph.
        name = light.stub(constant) if inside else constant.name
        light.main.input.add().CopyFrom(make_info(constant, name))
        return
    small = target.initializer.add()
    if proto.data_location == TensorProto.EXTERNAL:
        small.CopyFrom(onnx.numpy_helper.from_array(constant.weights.load()))
        small.data_type = proto.data_type
    else:
        small.CopyFrom(proto)
    small.name = constant.name


def _light_node(node: Node, light: _Light) -> NodeProto:
    if not node.attrs.own and not light.renamed:
        return export_node(node)
    subgraphs = list(node.graphs())
    inputs = [light.name(tensor) for tensor in node.inputs] if light.renamed else None
    if not subgraphs:
        proto = export_node(node)
        if inputs is None or inputs == list(proto.input):
            return proto
        copy = NodeProto()
        copy.CopyFrom(proto)
        del copy.input[:]
        copy.input.extend(inputs)
        return copy
    fresh = NodeProto(
        op_type=node.op,
        domain=node.domain,
        name=node.name,
        overload=node.overload,
        input=[light.name(tensor) for tensor in node.inputs],
        output=[tensor.name for tensor in node.outputs],
    )
    inner = dict(subgraphs)
    for name in node.attrs:
        if name in inner:
            attribute = fresh.attribute.add(name=name, type=AttributeProto.GRAPH)
            attribute.g.name = inner[name].name
            _write_light(inner[name], attribute.g, light)
        else:
            known = node.attrs.proto(name)
            fresh.attribute.add().CopyFrom(
                known if known is not None else encode_attribute(node, name, node.attrs[name])
            )
    return fresh
