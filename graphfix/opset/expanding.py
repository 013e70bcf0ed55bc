"""Replacing a node by the function body that its schema carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TypeProto

from graphfix.analysis.inference import SMALL_ELEMENTS, merge_type, type_of
from graphfix.authoring.building import Builder
from graphfix.authoring.reshaping import reshaped
from graphfix.ir.exporting import export_node
from graphfix.ir.graph import Graph, Variable, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef, Form, decode_attribute, default_of, form_of
from graphfix.ir.views import NodeView, Refuse, Value


def has_body(form: Form) -> bool:
    """Say whether the schema carries a function body for some opset."""
    return bool(_subgraphs(form).all_function_opset_versions)


def _subgraphs(form: Form) -> Any:
    # The stubs of onnx leave out what concerns the subgraphs of older opsets.
    return form.schema


def expand(node: NodeView, form: Form, build: Builder) -> tuple[Value | None, ...]:
    """Emit the function body of a node's operator, in the form of the node's own opset.

    Args:
        node: The node.
        form: The form of its operator.
        build: A builder for the node's own opset.

    Raises:
        Refuse: There is no body that holds at this opset, a type that the body depends on is
            unknown.
    """
    body = function_body(node, form, build.opset)
    values: dict[str, Value | None] = {"": None}
    for position, name in enumerate(body.input):
        values[name] = node.input(position)
    _emit(body.node, values, _given(node, form, body), build)
    outputs: list[Value | None] = []
    for position, old in enumerate(node.outputs):
        value = values.get(body.output[position]) if position < len(body.output) else None
        if old is not None and value is None:
            raise Refuse(f"the function body of {node.op} gives no output {position}")
        outputs.append(value if old is not None else None)
    return tuple(outputs)


def _emit(
    nodes: Iterable[NodeProto],
    values: dict[str, Value | None],
    attributes: Mapping[str, Any],
    build: Builder,
) -> None:
    for inner in nodes:
        inputs = [values[name] for name in inner.input]
        known = _cast_constant(inner, inputs, build)
        if known is not None:
            values[inner.output[0]] = known
            continue
        whole = _whole_shape(inner, inputs, build)
        if whole is not None:
            values[inner.output[0]] = whole
            continue
        given = _attributes(inner, attributes)
        for proto in inner.attribute:
            if proto.type == AttributeProto.GRAPH:
                given[proto.name] = _body(proto.g, values, attributes, build)
        results = build.multi(
            inner.op_type,
            *inputs,
            outputs=len(inner.output),
            domain=normal_domain(inner.domain),
            **given,
        )
        values.update(zip(inner.output, results, strict=True))


def _whole_shape(inner: NodeProto, inputs: Sequence[Value | None], build: Builder) -> Value | None:
    """Return a tensor in the shape that another one has, where a size of it may be 0.

    The subgraphs say Reshape there, to which a 0 means another thing. None for any other node.
    """
    if inner.op_type != "Reshape" or len(inputs) != 2 or inner.attribute:
        return None
    data, sizes = inputs
    if data is None or sizes is None:
        return None
    made = sizes.producer
    parts = [sizes] if made is None or made.op != "Concat" else made.inputs
    known = [part.array() for part in parts if part is not None]
    if all(part is not None for part in known):
        joined = [int(size) for part in known if part is not None for size in part.reshape(-1)]
        return _split_rest(data, joined, build)
    if made is None or made.op != "Shape":
        return None
    shape = made.need(0).static_shape
    return None if shape is not None and 0 not in shape else reshaped(data, sizes, build)


def _split_rest(data: Value, sizes: list[int], build: Builder) -> Value | None:
    """Split the last axis where a size that is copied may be 0, which leaves a -1 undefined.

    None where the sizes are not 0, 0, ..., some numbers and one -1, or no size can be 0.
    """
    kept = next((place for place, size in enumerate(sizes) if size), len(sizes))
    numbers = [size for size in sizes[kept:] if size != -1]
    if data.rank != kept + 1 or len(numbers) != len(sizes) - kept - 1 or 0 in numbers:
        return None
    if all(data.dim(axis) for axis in range(kept)):
        return None
    last, others = data.dim(kept), prod(numbers)
    if last is not None:
        return build.Reshape(data, [last // others if size == -1 else size for size in sizes])
    shape = build.Shape(data)
    ends = np.array([kept, kept + 1], dtype=np.int64)
    rest = build.Div(build.Slice(shape, ends[:1], ends[1:], [0]), others)
    parts = [build.Slice(shape, np.zeros(1, np.int64), ends[:1], [0])] if kept else []
    for size in sizes[kept:]:
        parts.append(rest if size == -1 else build.constant(np.array([size], dtype=np.int64)))
    return reshaped(data, build.Concat(*parts, axis=0), build)


def _body(
    graph: GraphProto,
    outer: Mapping[str, Value | None],
    attributes: Mapping[str, Any],
    build: Builder,
) -> Graph:
    """Build the body of an If, Loop or Scan of a function body."""

    def make(inner: Builder, *given: Value) -> list[Value]:
        values: dict[str, Value | None] = dict(outer)
        for name in sorted({name for node in graph.node for name in node.input}):
            # An engine that infers shapes in a body alone does not see constants around it.
            captured = values.get(name)
            known = captured.array() if captured is not None else None
            if known is not None and known.size <= SMALL_ELEMENTS:
                values[name] = inner.constant(known)
        for proto in graph.initializer:
            values[proto.name] = inner.constant(onnx.numpy_helper.to_array(proto))
        for info, value in zip(graph.input, given, strict=True):
            values[info.name] = value
            if isinstance(value.tensor, Variable) and info.HasField("type"):
                merge_type(value.tensor, info.type)  # a sequence, where it is no tensor
        _emit(graph.node, values, attributes, inner)
        outputs = [values[info.name] for info in graph.output]
        return [value for value in outputs if value is not None]

    return build.body([(info.name, 0, None) for info in graph.input], make)


def _cast_constant(
    inner: NodeProto, inputs: Sequence[Value | None], build: Builder
) -> Value | None:
    """Return a constant in the type that CastLike gives it; None for any other node."""
    if inner.op_type != "CastLike" or len(inputs) != 2:
        return None
    value, like = inputs
    array = value.array() if value is not None else None
    dtype = like.dtype if like is not None else None
    if array is None or dtype is None or array.size > 1:
        return None
    return build.constant(array.astype(dtype))


def function_body(node: NodeView, form: Form, opset: int) -> FunctionProto:
    """Return the function body of a node's operator that is valid at `opset`.

    Raises:
        Refuse: There is none, or a type that it depends on is unknown.
    """
    if not normal_domain(node.domain) and node.op == "Bernoulli":
        raise Refuse("the function body of Bernoulli draws 1 with probability 1 - p, not p")
    schema = _subgraphs(form)
    versions = [v for v in schema.all_function_opset_versions if v <= opset]
    if not versions:
        raise Refuse(f"the schema of {node.op} has no function body at opset {opset}")
    version = max(versions)
    body = FunctionProto()
    if version in schema.function_opset_versions:
        body.ParseFromString(schema.get_function_with_opset_version(version))
    else:
        if any(isinstance(value, AttributeRef) for value in node.node.attrs.values()):
            # onnx would take the value that is not known yet for 0.
            raise Refuse(
                f"an attribute of {node.op} is one of the function around it: inline-functions, "
                "run before, puts its value there"
            )
        try:
            data = schema.get_context_dependent_function_with_opset_version(
                version, export_node(node.node).SerializeToString(), _input_types(node)
            )
        except RuntimeError as error:
            raise Refuse(f"the function body of {node.op} cannot be made for this node") from error
        body.ParseFromString(data)
    if not body.node:
        raise Refuse(f"the schema of {node.op} gives no function body for this node")
    for inner in body.node:
        _check_inner(inner, version, opset)
    return body


def _check_inner(inner: NodeProto, version: int, opset: int) -> None:
    for attribute in inner.attribute:
        for deeper in attribute.g.node:
            _check_inner(deeper, version, opset)
    if normal_domain(inner.domain):
        raise Refuse(f"its function body needs {inner.domain}::{inner.op_type}")
    meant, found = form_of(inner.op_type, version), form_of(inner.op_type, opset)
    if meant is None or found is None or meant.since != found.since:
        raise Refuse(f"its function body is for opset {version}, where {inner.op_type} differs")


def _input_types(node: NodeView) -> list[bytes]:
    types: list[bytes] = []
    for tensor in node.node.inputs:
        known = TypeProto() if is_empty(tensor) else type_of(tensor)
        if known is None:
            raise Refuse(f"dtype of {tensor.name} is unknown")
        types.append(known.SerializeToString())
    return types


def _given(node: NodeView, form: Form, body: FunctionProto) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in form.attributes:
        default = default_of(form, name)
        if default is not None:
            given[name] = default
    given.update((proto.name, decode_attribute(proto)) for proto in body.attribute_proto)
    given.update((name, node.node.attrs[name]) for name in node.attributes)
    return given


def _attributes(inner: NodeProto, given: Mapping[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for proto in inner.attribute:
        if proto.type == AttributeProto.GRAPH:
            continue  # it becomes a body of its own
        value = decode_attribute(proto)
        if isinstance(value, AttributeRef):
            value = given.get(value.name)
        elif proto.type == AttributeProto.TENSOR:
            value = onnx.TensorProto()
            value.CopyFrom(proto.t)
        if value is not None:
            attributes[proto.name] = value
    return attributes
