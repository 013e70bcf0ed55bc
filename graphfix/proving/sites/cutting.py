"""Cutting a site out of its model: two small models with the same inputs and outputs.

Names are replaced by numbers in the order in which they are met, so that sites that do the same
give the same bytes and one proof serves for all of them. Attributes that refer to attributes of a
function get the values that the calls give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import onnx
from msgspec import Struct, field
from msgspec.structs import replace
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.authoring.evidence import Evidence, TensorFacts
from graphfix.errors import GraphfixError
from graphfix.ir.graph import Weights
from graphfix.ir.protos import (
    FunctionKey,
    Functions,
    all_nodes,
    bound,
    called_functions,
    function_key,
    functions_of,
    names_read,
    normal_domain,
)
from graphfix.ir.schemas import minimal_ir
from graphfix.operators.table import RANDOM

Given = Mapping[str, AttributeProto]

# A function that is called in more ways than this is proved for the first of them.
MOST_WAYS = 3


def call_bindings(model: ModelProto) -> dict[FunctionKey, list[Given]]:
    """Return, for each local function, the sets of attributes that it is called with.

    Calls that pass on an attribute of their own function are bound by the calls of that one.
    """
    functions = functions_of(model)
    ways: dict[FunctionKey, dict[bytes, Given]] = {key: {} for key in functions}
    pending: list[tuple[NodeProto, Given]] = [(n, {}) for n in all_nodes(model.graph.node)]
    while pending:
        node, given = pending.pop(0)
        key = function_key(node.domain, node.op_type, node.overload)
        function = functions.get(key)
        if function is None or len(ways[key]) >= MOST_WAYS:
            continue
        way = _way(function, bound(node, given))
        mark = b"".join(way[name].SerializeToString(deterministic=True) for name in sorted(way))
        if mark not in ways[key]:
            ways[key][mark] = way
            pending.extend((inner, way) for inner in all_nodes(function.node))
    return {key: list(found.values()) for key, found in ways.items()}


def _refers(nodes: Iterable[NodeProto]) -> bool:
    """Say whether an attribute refers to an attribute of a function."""
    return any(a.ref_attr_name for node in all_nodes(nodes) for a in node.attribute)


def instantiate(evidence: Evidence, ways: Iterable[Given]) -> list[Evidence]:
    """Return the evidence of a site once for each way in which its function is called.

    A site that refers to no attribute of its function is the same in all of them.
    """
    if not _refers((*evidence.before, *evidence.after, *evidence.context)):
        return [evidence]
    return [
        replace(
            evidence,
            before=[bound(node, given) for node in evidence.before],
            after=[bound(node, given) for node in evidence.after],
            context=[bound(node, given) for node in evidence.context],
        )
        for given in ways
    ]


def _way(function: FunctionProto, call: NodeProto) -> Given:
    way = {attribute.name: attribute for attribute in function.attribute_proto}
    way.update((attribute.name, attribute) for attribute in call.attribute)
    return way


# Initializers up to this size are part of a site; bigger ones become inputs with made values.
TAKEN_IN = 64 * 1024
# The most that is read where made values would not do.
READ_AT_MOST = 64 * 2**20


class CannotCut(Exception):  # noqa: N818 - an answer, not an error
    """Raised where a site cannot be run on its own; the text says why."""


class Cut(Struct, frozen=True):
    """A site as two models.

    Attributes:
        before: What was removed.
        after: What was added; the same inputs, and outputs of the same names.
        names: The names of the inputs and outputs in the model that the site was cut from.
        made_up: Whether big initializers became inputs.
        claims: The special numbers that go through as they did.
    """

    before: ModelProto
    after: ModelProto
    names: dict[str, str]
    made_up: bool
    claims: frozenset[str] = frozenset()


def cut(evidence: Evidence, functions: Functions, taken_in: int = TAKEN_IN) -> Cut:
    """Cut out a site.

    Args:
        evidence: Both sides of the site.
        functions: The local functions of the model.
        taken_in: The size up to which initializers are taken in; the rest becomes inputs.

    Raises:
        CannotCut: The site refers to what is not there, or needs values that are too big.
    """
    if not evidence.results:
        raise CannotCut("it has no output that is used")
    names = _Names()
    sides = (
        Side(evidence.before, evidence.context, [r.before for r in evidence.results]),
        Side(evidence.after, evidence.context, [r.after for r in evidence.results]),
    )
    constants: dict[str, Weights] = {}
    inputs: dict[str, TensorFacts] = {}
    made_up = False
    for name in dict.fromkeys((*sides[0].borders, *sides[1].borders)):
        known = evidence.known.get(name)
        if known is None:
            raise CannotCut(f"nothing is known of {name!r}")
        one_sided = (name in sides[0].borders) != (name in sides[1].borders)
        weights = known.weights
        if weights is None:
            inputs[name] = known
        elif weights.nbytes <= (READ_AT_MOST if one_sided else taken_in):
            constants[name] = weights
        elif one_sided:
            raise CannotCut(f"{name!r} has {weights.nbytes} bytes, too many to read for a proof")
        else:
            inputs[name] = known
            made_up = True
    for name, known in inputs.items():
        if not known.elem_type and known.opaque is None:
            raise CannotCut(f"the type of {name!r} is not known")
    elements = [result.elem_type for result in evidence.results]
    before = _model(sides[0], evidence.opsets, names, functions, elements)
    after = _model(sides[1], evidence.opsets_after, names, functions, elements)
    dims: dict[str, str] = {}
    for name, known in inputs.items():
        for model in (before, after):
            _declare(model.graph, names.border(name), known, dims)
    for name, weights in constants.items():
        tensor = constant_tensor(weights, names.border(name))
        for side, model in zip(sides, (before, after), strict=True):
            if name in side.borders:
                model.graph.initializer.append(tensor)
    borders = {names.border(name): name for name in inputs}
    borders.update((f"r{n}", result.before) for n, result in enumerate(evidence.results))
    return Cut(before, after, borders, made_up, evidence.claims)


class _Names:
    """Short names in the order of first use; borders are the same on both sides."""

    def __init__(self) -> None:
        self._borders: dict[str, str] = {}

    def border(self, name: str) -> str:
        return self._borders.setdefault(name, f"b{len(self._borders)}")


class Side(Struct):
    """The nodes of one side that its outputs need, in an order that runs, and what they read.

    Attributes:
        own: The nodes of the site.
        context: Nodes that stay, which may be needed.
        outputs: The names of what is wanted.
        nodes: Those that the outputs need, in order.
        borders: What they read and do not make, in order of first use.
    """

    own: list[NodeProto]
    context: list[NodeProto]
    outputs: list[str]
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    borders: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        producers: dict[str, NodeProto] = {}
        for node in (*self.context, *self.own):
            for name in node.output:
                if name:
                    producers[name] = node
        # Depth first and without recursion: a site may be a chain of thousands of nodes.
        done: set[int] = set()
        pending: list[tuple[str, bool]] = [(name, False) for name in reversed(self.outputs)]
        while pending:
            name, ready = pending.pop()
            producer = producers.get(name)
            if producer is None:
                self.borders.setdefault(name)
            elif id(producer) in done:
                continue
            elif ready:
                done.add(id(producer))
                self.nodes.append(producer)
            else:
                pending.append((name, True))
                pending.extend((read, False) for read in reversed(list(names_read(producer))))


def _model(
    side: Side,
    opsets: Mapping[str, int],
    names: _Names,
    functions: Functions,
    elements: list[int],
) -> ModelProto:
    graph = GraphProto(name="site")
    renamed = {name: names.border(name) for name in side.borders}
    made = {name for node in side.nodes for name in node.output}
    # An output that stands for one result only bears its name; any other is passed on.
    passed: list[tuple[int, str]] = []
    for number, name in enumerate(side.outputs):
        if name in made and name not in renamed:
            renamed[name] = f"r{number}"
        else:
            passed.append((number, name))
    for node in side.nodes:
        graph.node.append(_node(node, renamed))
    for number, name in passed:
        graph.node.add(op_type="Identity", input=[renamed[name]], output=[f"r{number}"])
    for number, element in enumerate(elements):
        info = graph.output.add(name=f"r{number}")
        if element:
            info.type.tensor_type.elem_type = element
    imports = {domain: version for domain, version in opsets.items() if version}
    if passed and "" not in imports:
        imports[""] = 17
    return assembled(graph, imports, functions)


def assembled(graph: GraphProto, opsets: Mapping[str, int], functions: Functions) -> ModelProto:
    """Return the model of a graph that imports `opsets`, with the local functions that it calls.

    Raises:
        CannotCut: Something in it draws at random.
    """
    called = called_functions(graph.node, functions)
    for node in all_nodes((*graph.node, *(node for each in called for node in each.node))):
        if node.op_type in RANDOM and not node.domain:
            raise CannotCut(f"{node.op_type} draws at random")
    imports = {domain: version for domain, version in opsets.items() if version}
    model = ModelProto(graph=graph, ir_version=max(minimal_ir(imports.get("", 1)), 4))
    for function in called:
        model.functions.add().CopyFrom(function)
        for entry in function.opset_import:
            imports.setdefault(normal_domain(entry.domain), entry.version)
        model.ir_version = max(model.ir_version, 10 if function.overload else 8)
    for domain in sorted(imports):
        model.opset_import.add(domain=domain, version=imports[domain])
    return model


def _node(node: NodeProto, renamed: dict[str, str]) -> NodeProto:
    fresh = NodeProto(op_type=node.op_type, domain=node.domain, overload=node.overload)
    fresh.input.extend(_name(name, renamed) for name in node.input)
    fresh.output.extend(_name(name, renamed) for name in node.output)
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            raise CannotCut(f"{node.op_type} refers to an attribute of its function")
        copy = fresh.attribute.add()
        copy.CopyFrom(attribute)
        copy.ClearField("doc_string")
        if attribute.type == AttributeProto.GRAPH:
            copy.g.CopyFrom(_body(attribute.g, renamed))
        elif attribute.type == AttributeProto.GRAPHS:
            del copy.graphs[:]
            copy.graphs.extend(_body(body, renamed) for body in attribute.graphs)
        elif attribute.type == AttributeProto.TENSOR:
            copy.t.ClearField("name")
            copy.t.ClearField("doc_string")
            if copy.t.data_location == TensorProto.EXTERNAL:
                raise CannotCut(f"an attribute of {node.op_type} lies outside the file")
    return fresh


def _name(name: str, renamed: dict[str, str]) -> str:
    return renamed.setdefault(name, f"v{len(renamed)}") if name else ""


def _body(body: GraphProto, renamed: dict[str, str]) -> GraphProto:
    fresh = GraphProto(name="body")
    for source, target in ((body.input, fresh.input), (body.output, fresh.output)):
        for info in source:
            copy = target.add()
            copy.CopyFrom(info)
            copy.name = _name(info.name, renamed)
            copy.ClearField("doc_string")
    for tensor in body.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            raise CannotCut("an initializer of a body lies outside the file")
        copied = fresh.initializer.add()
        copied.CopyFrom(tensor)
        copied.name = _name(tensor.name, renamed)
    for sparse in body.sparse_initializer:
        thin = fresh.sparse_initializer.add()
        thin.CopyFrom(sparse)
        thin.values.name = _name(sparse.values.name, renamed)
    fresh.node.extend(_node(node, renamed) for node in body.node)
    return fresh


def _declare(graph: GraphProto, name: str, known: TensorFacts, dims: dict[str, str]) -> None:
    info = graph.input.add(name=name)
    if known.opaque is not None:
        info.type.CopyFrom(known.opaque)
        return
    info.type.tensor_type.elem_type = known.elem_type
    if known.shape is None:
        return
    info.type.tensor_type.shape.SetInParent()
    for dim in known.shape:
        entry = info.type.tensor_type.shape.dim.add()
        if isinstance(dim, int):
            entry.dim_value = dim
        elif dim is not None:
            entry.dim_param = _symbol(dim, dims)


def _symbol(dim: str, dims: dict[str, str]) -> str:
    """Name a dimension by number; sums of others keep their text, which the feeds compute."""
    if not dim.isidentifier():
        return dim
    kind = "batch" if "batch" in dim.lower() else "seq" if "seq" in dim.lower() else "d"
    return dims.setdefault(dim, f"{kind}{len(dims)}")


def constant_tensor(weights: Weights, name: str) -> TensorProto:
    """Return an initializer with the values of a constant.

    Raises:
        CannotCut: They cannot be read.
    """
    proto = weights.proto
    if isinstance(proto, TensorProto) and proto.data_location != TensorProto.EXTERNAL:
        tensor = TensorProto()
        tensor.CopyFrom(proto)
        tensor.ClearField("doc_string")
    else:
        try:
            tensor = onnx.numpy_helper.from_array(np.asarray(weights.load()))
        except GraphfixError as error:
            raise CannotCut(error.message) from error
        tensor.data_type = weights.elem_type
    tensor.name = name
    return tensor
