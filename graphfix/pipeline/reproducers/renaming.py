"""A model without names, texts and metadata of its own: ``t0``, ``n0``, ``d0``, ``f0``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message
from msgspec import Struct, field
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorShapeProto, ValueInfoProto

from graphfix.difference.renaming import rename_tensors
from graphfix.ir.protos import FunctionKey, function_key, subgraphs_of

LOCAL = "local"
_TEXTS = (
    *("doc_string", "metadata_props", "denotation"),
    *("producer_name", "producer_version", "model_version"),
    *("training_info", "configuration", "device_configurations"),
)
_OPERATORS = re.compile(r"[+*/()-]")
_WORD = re.compile(r"[^\W\d]\w*")


class Renamer(Struct):
    """Gives every tensor, node, dimension and local function of a model a number for a name.

    Attributes:
        tensors: The new names of the tensors of the main graph, by the old ones.
    """

    tensors: dict[str, str] = field(default_factory=dict[str, str])
    _count: int = 0
    _nodes: int = 0
    _dims: dict[str, str] = field(default_factory=dict[str, str])
    _functions: dict[FunctionKey, str] = field(default_factory=dict[FunctionKey, str])
    _parameters: dict[FunctionKey, dict[str, str]] = field(
        default_factory=dict[FunctionKey, dict[str, str]]
    )

    def rename(self, model: ModelProto) -> None:
        """Rename all of a model, in place; operators and their attributes keep their names."""
        model.ClearField("domain")
        model.DiscardUnknownFields()
        self._clear(model)
        self._name_functions(model)
        rename_tensors(model.graph, self._tensor)
        self._graph(model.graph, {})
        for function in model.functions:
            self._function(function)
        self._imports(model)

    def _tensor(self, name: str, is_main: bool) -> str:
        fresh = f"t{self._count}"
        self._count += 1
        if is_main:
            self.tensors[name] = fresh
        return fresh

    def _clear(self, message: Message) -> None:
        """Drop texts, and rename dimensions, in a message and all below it."""
        for name in _TEXTS:
            if name in message.DESCRIPTOR.fields_by_name:
                message.ClearField(name)
        if isinstance(message, TensorShapeProto.Dimension) and message.dim_param:
            message.dim_param = self._dim(message.dim_param)
        for descriptor, value in message.ListFields():
            if descriptor.message_type is not None:
                for part in _several(value):
                    self._clear(part)

    def _dim(self, text: str) -> str:
        if _OPERATORS.search(text) is None:
            return self._dims.setdefault(text, f"d{len(self._dims)}")
        return _WORD.sub(lambda m: self._dims.setdefault(m[0], f"d{len(self._dims)}"), text)

    def _name_functions(self, model: ModelProto) -> None:
        for function in model.functions:
            key = function_key(function.domain, function.name, function.overload)
            self._functions[key] = f"f{len(self._functions)}"
            named = [*function.attribute, *(a.name for a in function.attribute_proto)]
            self._parameters[key] = {name: f"a{n}" for n, name in enumerate(named)}

    def _graph(self, graph: GraphProto, parameters: dict[str, str]) -> None:
        graph.name = "g"
        for node in graph.node:
            self._node(node, parameters)

    def _node(self, node: NodeProto, parameters: dict[str, str]) -> None:
        if node.name:
            node.name = f"n{self._nodes}"
            self._nodes += 1
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                attribute.ref_attr_name = parameters.get(
                    attribute.ref_attr_name, attribute.ref_attr_name
                )
        key = function_key(node.domain, node.op_type, node.overload)
        if key in self._functions:
            given = self._parameters[key]
            node.domain, node.op_type, node.overload = LOCAL, self._functions[key], ""
            for attribute in node.attribute:
                attribute.name = given.get(attribute.name, attribute.name)
        for body in subgraphs_of(node):
            self._graph(body, parameters)

    def _function(self, function: FunctionProto) -> None:
        key = function_key(function.domain, function.name, function.overload)
        parameters = self._parameters[key]
        function.domain, function.name, function.overload = LOCAL, self._functions[key], ""
        function.attribute[:] = [parameters[name] for name in function.attribute]
        for default in function.attribute_proto:
            default.name = parameters[default.name]
        # Tensors of a function are renamed as those of a graph with the same nodes.
        graph = GraphProto(
            input=[ValueInfoProto(name=name) for name in function.input],
            output=[ValueInfoProto(name=name) for name in function.output],
            node=function.node,
            value_info=function.value_info,
        )
        rename_tensors(graph, lambda name, _main: self._tensor(name, False))
        self._graph(graph, parameters)
        function.input[:] = [info.name for info in graph.input]
        function.output[:] = [info.name for info in graph.output]
        for ours, theirs in ((function.node, graph.node), (function.value_info, graph.value_info)):
            del ours[:]
            ours.extend(theirs)  # type: ignore[arg-type]

    def _imports(self, model: ModelProto) -> None:
        """Import the local domain where the domains of functions were, which nothing uses now."""
        if not self._functions:
            return
        gone = {domain for domain, _, _ in self._functions}
        for imports in (model.opset_import, *(f.opset_import for f in model.functions)):
            kept = [entry for entry in imports if not entry.domain or entry.domain not in gone]
            del imports[:]
            imports.extend(kept)
            imports.add(domain=LOCAL, version=1)


def _several(value: Any) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
    else:
        yield from value
