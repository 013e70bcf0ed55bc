"""Types and shapes: of one node at once, of drafted nodes together, and of a whole model.

Of drafted nodes together more is known: values computed of shapes tell sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
from onnx import ModelProto, TensorProto, TypeProto

from graphfix.analysis.learned_sizes import learn_sizes
from graphfix.analysis.shape_inference import (
    as_called,
    infer_shapes,
    read_by_inference,
    stored_as_in,
)
from graphfix.ir.exporting import export_node, make_info
from graphfix.ir.graph import (
    Constant,
    Function,
    Graph,
    Node,
    Shape,
    Tensor,
    Variable,
    shape_of_type,
)
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Form, form_of, minimal_ir
from graphfix.ir.storage.weights import type_name

SMALL_ELEMENTS = 64
MAX_PROPAGATED = 1 << 20
_PROPAGATED = frozenset(
    {"Add", "Cast", "Concat", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Sub", "Unsqueeze"}
)
_COMPLAINTS = (
    onnx.shape_inference.InferenceError,
    onnx.checker.ValidationError,  # local functions that call themselves
    RuntimeError,
    ValueError,
)


_Values = Callable[[Tensor], "np.ndarray[Any, Any] | None"]


def type_of(tensor: Tensor) -> TypeProto | None:
    """Return what is known of a tensor as a TypeProto; None while nothing is."""
    if tensor.opaque is not None:
        return tensor.opaque
    if not tensor.elem_type:
        return None
    return make_info(tensor).type


def _read_type(tensor: Tensor) -> TypeProto | None:
    """Return the same as `type_of`, to be read only: many tensors are of one type."""
    if tensor.opaque is not None or not tensor.elem_type:
        return tensor.opaque
    return _plain_type(tensor.elem_type, tensor.shape)


@lru_cache(maxsize=1024)
def _plain_type(elem_type: int, shape: Shape | None) -> TypeProto:
    return make_info(Variable("", elem_type, shape)).type


@lru_cache(maxsize=256)
def _imports(opsets: tuple[tuple[str, int], ...]) -> list[onnx.OperatorSetIdProto]:
    return [onnx.helper.make_opsetid(domain, version) for domain, version in opsets]


def type_text(proto: TypeProto | None) -> str:
    """Return a type as reports write it: ``float32[2, N]``, ``sequence of int64[?]``."""
    if proto is None:
        return "unknown type"
    kind = proto.WhichOneof("value")
    if kind == "sequence_type":
        return f"sequence of {type_text(proto.sequence_type.elem_type)}"
    if kind == "optional_type":
        return f"optional {type_text(proto.optional_type.elem_type)}"
    if kind == "sparse_tensor_type":
        return f"sparse {type_name(proto.sparse_tensor_type.elem_type)}"
    if kind != "tensor_type":
        return str(kind or "unknown type").removesuffix("_type")
    elem_type, shape = shape_of_type(proto)
    if shape is None:
        return f"{type_name(elem_type)} of unknown rank"
    dims = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"{type_name(elem_type)}[{dims}]"


def form_at(node: Node) -> Form | None:
    """Return the form of a node's operator where it is; None where ONNX has none."""
    domain = normal_domain(node.domain)
    return form_of(node.op, node.graph.opsets.get(domain, 1), domain)


def shapes_contradict(one: Shape | None, two: Shape | None) -> bool:
    """Say whether two shapes cannot both be true of a tensor: other ranks, or other known sizes."""
    if one is None or two is None:
        return False
    return len(one) != len(two) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(one, two, strict=True)
    )


def infer_node(node: Node, values: _Values | None = None, form: Form | None = None) -> str:
    """Fill in types and shapes of the outputs of one node from those of its inputs.

    A node without schema, and one whose inference fails, leaves its outputs as they are: a
    missing type is unknown, never an error.

    Args:
        node: The node.
        values: Gives the value of a tensor that is computed, where it is known.
        form: What it is taken for; by default what it is where it is.

    Returns:
        Why the node cannot be what its inputs and attributes say it is; empty where it can.
    """
    inferred = types_given(node, values, form)
    if isinstance(inferred, str):
        return inferred
    for tensor in node.outputs:
        if tensor.name in inferred and isinstance(tensor, Variable):
            merge_type(tensor, inferred[tensor.name])
    learn_sizes(node)
    return ""


def types_given(
    node: Node, values: _Values | None = None, form: Form | None = None
) -> Mapping[str, TypeProto] | str:
    """Return what a node gives by its inputs alone, or why it cannot; see `infer_node`."""
    form = form or form_at(node)
    if form is None:
        return ""
    types: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for tensor in node.inputs:
        if not tensor.name:
            continue
        known = _read_type(tensor)
        if known is None:
            return ""
        types[tensor.name] = known
        constant = small_constant(tensor)
        if constant is None and values is not None:
            constant = _small(values(tensor))
        if constant is not None:
            data[tensor.name] = constant
    imports = _imports(tuple(node.graph.opsets.items()))
    proto = read_by_inference(export_node(node), types)
    try:
        return onnx.shape_inference.infer_node_outputs(
            form.schema, proto, types, data, opset_imports=imports
        )
    except (
        onnx.shape_inference.InferenceError,
        onnx.checker.ValidationError,
        RuntimeError,
    ) as error:
        return str(error).strip().partition("\n")[0] or type(error).__name__
    except ValueError:
        return ""  # a body that outputs a tensor of unknown type cannot be written yet


def _small(value: np.ndarray[Any, Any] | None) -> TensorProto | None:
    if value is None or value.size > SMALL_ELEMENTS or value.dtype.kind not in "biuf":
        return None
    return onnx.numpy_helper.from_array(value)


def small_constant(tensor: Tensor) -> TensorProto | None:
    """Return the value of a small constant, for shape inference; None for anything else."""
    if isinstance(tensor, Constant):
        proto = tensor.weights.proto
        count = 1
        for dim in tensor.weights.shape:
            count *= dim
        if tensor.overridable or not isinstance(proto, TensorProto) or count > SMALL_ELEMENTS:
            return None
        return None if proto.data_location == TensorProto.EXTERNAL else proto
    node = tensor.inputs[0] if tensor.inputs else tensor.draft
    if node is not None and node.op == "Constant" and not node.domain and "value" in node.attrs:
        value = node.attrs["value"]
        if not isinstance(value, TensorProto) or value.data_location == TensorProto.EXTERNAL:
            return None
        return value
    return None


def merge_type(tensor: Variable, proto: TypeProto) -> bool:
    """Add what `proto` knows to what is known of `tensor`; say whether that was news.

    What is known is never given up: a dimension that both know differently keeps its old value.
    """
    if not proto.HasField("tensor_type"):
        if tensor.opaque is None and not tensor.elem_type and proto.WhichOneof("value"):
            tensor.opaque = proto
            return True
        return False
    elem_type, shape = shape_of_type(proto)
    news = False
    if not tensor.elem_type and elem_type and tensor.opaque is None:
        tensor.elem_type = elem_type
        news = True
    if shape is None:
        return news
    if tensor.shape is None:
        tensor.shape = shape
        return True
    if tensor.shape == shape or len(tensor.shape) != len(shape):
        return news
    merged = tuple(
        new if old is None or (isinstance(new, int) and not isinstance(old, int)) else old
        for old, new in zip(tensor.shape, shape, strict=True)
    )
    if merged != tensor.shape:
        tensor.shape = merged
        return True
    return news


def infer_model(model: Model) -> None:
    """Infer types and shapes of every tensor of the main graph, its subgraphs and the functions.

    Types in function bodies come from the call sites; where call sites disagree, what they
    disagree on stays unknown.
    """
    # The proto is gone by the time that its bytes are looked at.
    inferred = _inferred(*_packed(_nameless(model.light_proto())))
    if inferred is None:  # one node made it fail; the others have types all the same
        infer_walk(model.graph)
    else:
        _take(model.graph, inferred.graph)
    if model.functions:
        _infer_functions(model)


def infer_proto(proto: ModelProto) -> ModelProto:
    """Run ONNX shape inference; where a node makes it fail, what was known before stays."""
    shown = as_called(proto)
    inferred = _inferred(*_packed(shown))
    if inferred is None:
        return proto
    if shown is not proto:
        stored_as_in(proto, inferred)
    return inferred


def _nameless(proto: ModelProto) -> ModelProto:
    """Take the names of its nodes from a model: inference copies them, and tells no one."""
    for node in proto.graph.node:
        node.ClearField("name")
    return proto


def _packed(proto: ModelProto) -> tuple[bytes, bool]:
    """Return the bytes of a model, and whether what is computed of shapes would outgrow it."""
    return proto.SerializeToString(), _grows(proto.graph)


def _inferred(raw: bytes, grows: bool) -> ModelProto | None:
    if not grows:
        try:
            return infer_shapes(raw, data_prop=True)
        except (*_COMPLAINTS, MemoryError):  # it lists each element of a vector that it adds to
            pass
    try:
        return infer_shapes(raw)
    except _COMPLAINTS:
        return None


def _grows(graph: onnx.GraphProto) -> bool:
    """Say whether what ONNX's inference computes of shapes would outgrow the file.

    It writes out every Concat and Gather of what it knows, whatever the number of elements
    (onnx/defs/data_propagators.h): 60 nodes that each join a vector with itself fill any memory.
    """
    sizes: dict[str, int] = {}
    for node in graph.node:
        if node.op_type not in _PROPAGATED or not node.output:
            continue
        if node.op_type == "Concat":
            size = sum(sizes.get(name, SMALL_ELEMENTS) for name in node.input)
        elif node.op_type == "Gather":
            size = sizes.get(node.input[-1], SMALL_ELEMENTS) if node.input else 0
        else:
            size = max((sizes.get(name, 0) for name in node.input), default=0)
        if size > MAX_PROPAGATED:
            return True
        if size > SMALL_ELEMENTS:
            sizes[node.output[0]] = size
    return False


def _take(graph: Graph, proto: onnx.GraphProto) -> None:
    infos = {info.name: info.type for info in proto.value_info}
    infos.update((info.name, info.type) for info in proto.output)
    subgraphs: dict[int, Node] = {}
    shapes: dict[Shape, Shape] = {}
    for position, node in enumerate(graph.nodes):
        for tensor in node.outputs:
            found = infos.get(tensor.name) if tensor.name else None
            if found is not None and isinstance(tensor, Variable):
                merge_type(tensor, found)
                if tensor.shape is not None:  # many are the same, and held once
                    held = shapes.setdefault(tensor.shape, tensor.shape)
                    if held is not tensor.shape:
                        tensor.shape = held
        if any(True for _ in node.graphs()):
            subgraphs[position] = node
    for position, node in subgraphs.items():
        attributes = {a.name: a.g for a in proto.node[position].attribute if a.HasField("g")}
        for name, body in node.graphs():
            if name in attributes:
                inner = attributes[name]
                for tensor, info in zip(body.inputs, inner.input, strict=False):
                    if isinstance(tensor, Variable):
                        merge_type(tensor, info.type)
                _take(body, inner)
                if any(map(_depends_on_a_constant, body.nodes)):
                    infer_walk(body)


def _depends_on_a_constant(node: Node) -> bool:
    """Say whether a constant may give the shape of what a node computes, which is not known.

    ONNX's inference of a body does not see the values of constants around it.
    """
    return (
        any(tensor.elem_type and tensor.shape is None for tensor in node.outputs)
        and all(tensor.shape is not None for tensor in node.inputs if tensor.name)
        and any(small_constant(tensor) is not None for tensor in node.inputs if tensor.name)
    )


def infer_walk(graph: Graph) -> None:
    """Infer node by node, in order; used where the whole-model inference does not look."""
    for node in graph.nodes:
        for _, body in node.graphs():
            infer_walk(body)
        infer_node(node)


def _infer_functions(model: Model) -> None:
    calls: dict[tuple[str, str, str], list[Node]] = {}
    known = {function.key: function for function in model.functions}
    for node in model.nodes():
        key = (node.domain or "", node.op, node.overload)
        if key in known:
            calls.setdefault(key, []).append(node)
    # A function may be called from another one, so types settle in at most one round per level.
    for _ in range(len(known) + 1):
        news = False
        for key, sites in calls.items():
            news = _bind_inputs(known[key], sites) or news
            infer_walk(known[key])
        if not news:
            return


def _bind_inputs(function: Function, sites: list[Node]) -> bool:
    news = False
    for position, tensor in enumerate(function.inputs):
        if not isinstance(tensor, Variable):
            continue
        given = [s.inputs[position] for s in sites if position < len(s.inputs)]
        types = {g.elem_type for g in given}
        if len(given) != len(sites) or len(types) != 1 or not given[0].elem_type:
            continue
        if not tensor.elem_type:
            tensor.elem_type = given[0].elem_type
            news = True
        shapes = [g.shape for g in given]
        ranks = {None if s is None else len(s) for s in shapes}
        if len(ranks) == 1 and shapes[0] is not None and tensor.shape is None:
            columns = zip(*(s for s in shapes if s is not None), strict=True)
            tensor.shape = tuple(
                c[0] if len(set(c)) == 1 and isinstance(c[0], int) else None for c in columns
            )
            news = True
    return news


def infer_together(
    nodes: Sequence[Node], wanted: Sequence[Tensor], opsets: Mapping[str, int]
) -> None:
    """Complete the types of drafted tensors; `nodes` are all that were drafted, in order.

    A symbol that inference makes up for an unknown size is left out: it says nothing elsewhere.
    """
    if not any(_is_open(tensor) for tensor in wanted):
        return
    model = ModelProto(ir_version=minimal_ir(opsets[""]))
    model.opset_import.extend(onnx.helper.make_opsetid(*one) for one in opsets.items())
    graph = model.graph
    drafted = {id(tensor) for node in nodes for tensor in node.outputs}
    given: dict[str, Tensor] = {}
    for node in nodes:
        graph.node.append(export_node(node))
        given.update((t.name, t) for t in _read(node) if t.name and id(t) not in drafted)
        graph.value_info.extend(make_info(t) for t in node.outputs if t.name and t.elem_type)
    for name, tensor in given.items():
        constant = small_constant(tensor)
        if constant is None:
            graph.input.append(make_info(tensor))
        else:
            graph.initializer.append(constant)
            graph.initializer[-1].name = name
    known = {size for tensor in given.values() for size in tensor.shape or ()}
    found = {info.name: info.type for info in infer_proto(model).graph.value_info}
    for tensor in wanted:
        if not isinstance(tensor, Variable) or tensor.name not in found:
            continue
        merge_type(tensor, found[tensor.name])
        if tensor.shape is not None:
            tensor.shape = tuple(
                size if isinstance(size, int) or size in known else None for size in tensor.shape
            )


def _is_open(tensor: Tensor) -> bool:
    return isinstance(tensor, Variable) and (
        not tensor.elem_type or tensor.shape is None or None in tensor.shape
    )


def _read(node: Node) -> Iterator[Tensor]:
    """Yield what a node reads, with what its subgraphs read of the graphs around them."""
    yield from node.inputs
    for _, body in node.graphs():
        inside = {id(t) for inner in body.nodes for t in inner.outputs}
        inside.update(id(t) for t in (*body.inputs, *body.initializers))
        for inner in body.nodes:
            yield from (t for t in _read(inner) if id(t) not in inside)
        yield from (t for t in body.outputs if id(t) not in inside)
