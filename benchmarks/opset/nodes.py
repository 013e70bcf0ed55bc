"""The node tests of onnx as models to convert: stamped, in two variants, and which count.

A test is stamped with the source opset where every operator of it has the same schema there, and
keeps its own otherwise. Inexpressible tests are left out of the count, and nothing else is: some
graph input or output has a type that no operator of the target opset takes; or the node is one of
StringConcat, StringSplit, RegexFullMatch, ImageDecoder, and below 10 StringNormalizer; or an input
or output is a sequence (below 11) or an optional (below 15).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
import onnx
from onnx import TensorProto, TypeProto
from onnx.backend.test.loader import load_model_tests

from benchmarks.opset.comparison import opset_of, stamped

VARIANTS = ("whole", "initializers")
_NO_COUNTERPART = frozenset({"StringConcat", "StringSplit", "RegexFullMatch", "ImageDecoder"})
_STRINGS_SINCE = 10  # StringNormalizer
_SEQUENCES_SINCE = 11
_OPTIONALS_SINCE = 15
_STORED_ALONE = 4  # before this IR version an initializer had to be an input as well


@dataclass(frozen=True)
class NodeTest:
    """One node test in one variant.

    Attributes:
        name: Its name in onnx.
        model: The model, stamped.
        sets: Inputs by name, and the outputs expected for them.
    """

    name: str
    model: onnx.ModelProto
    sets: list[tuple[dict[str, Any], list[Any]]]

    def leads_to(self, target: int, source: int) -> bool:
        """Say whether the test goes the way that leads from the source opset to the target."""
        own = opset_of(self.model)
        return own > target if source > target else own < target


def node_tests(source: int, variant: str) -> Iterator[NodeTest]:
    """Yield the node tests that import the default domain, none above opset `source`.

    Args:
        source: The opset to stamp with.
        variant: ``whole`` as they come, ``initializers`` with all inputs but the first stored.
    """
    for test in _loaded():
        own = opset_of(test.model)
        if not own or own > source:
            continue
        model = stamped(test.model, source) or test.model
        names = [info.name for info in model.graph.input]
        sets: list[tuple[dict[str, Any], list[Any]]] = []
        for inputs, outputs in test.data_sets:
            given = dict(zip(names, inputs, strict=False))
            if variant == "initializers":
                model, given = _stored(model, given)
            feed = {name: _array(value) for name, value in given.items()}
            sets.append((feed, [_array(value) for value in outputs]))
        yield NodeTest(str(test.name), model, sets)


@cache
def _loaded() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return list(load_model_tests(kind="node"))


def _stored(
    model: onnx.ModelProto, given: dict[str, Any]
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Make tensors out of all inputs but the first."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    result.ir_version = max(result.ir_version, _STORED_ALONE)
    tensors: dict[str, TensorProto] = {}
    for name, value in list(given.items())[1:]:
        tensor = _tensor(value)
        if tensor is not None:
            tensors[name] = tensor
    del result.graph.input[:]
    result.graph.input.extend(i for i in model.graph.input if i.name not in tensors)
    for name, tensor in tensors.items():
        result.graph.initializer.add().CopyFrom(tensor)
        result.graph.initializer[-1].name = name
    return result, {name: value for name, value in given.items() if name not in tensors}


def _tensor(value: Any) -> TensorProto | None:
    """Return a tensor; None for sequences and optionals."""
    if isinstance(value, TensorProto):
        return value
    if isinstance(value, list | tuple) or value is None:
        return None
    return onnx.numpy_helper.from_array(np.asarray(value))


def _array(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return onnx.numpy_helper.to_array(value)
    if value is None or isinstance(value, list | tuple):
        return cast("object", value)
    return np.asarray(value)


def inexpressible(model: onnx.ModelProto, target: int) -> bool:
    """Say whether no model of an opset can have this interface, or do what the node does."""
    for node in model.graph.node:
        if node.op_type in _NO_COUNTERPART:
            return True
        if node.op_type == "StringNormalizer" and target < _STRINGS_SINCE:
            return True
    types = [info.type for info in (*model.graph.input, *model.graph.output)]
    return any(not _expressible(proto, target) for proto in types)


def _expressible(proto: TypeProto, target: int) -> bool:
    kind = proto.WhichOneof("value")
    if kind == "optional_type":
        return target >= _OPTIONALS_SINCE and _expressible(proto.optional_type.elem_type, target)
    if kind == "sequence_type":
        inner = proto.sequence_type.elem_type
        return target >= _SEQUENCES_SINCE and _expressible(inner, target)
    if kind != "tensor_type":
        return True
    name = str(TensorProto.DataType.Name(proto.tensor_type.elem_type)).lower()
    return f"tensor({name})" in _taken(target)


@cache
def _taken(target: int) -> frozenset[str]:
    """Return every type that an operator of the default domain takes at an opset."""
    found: set[str] = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain or schema.since_version > target or schema.deprecated:
            continue
        newest = onnx.defs.get_schema(schema.name, target, "")
        if newest.since_version == schema.since_version:
            for parameter in schema.inputs:
                found |= set(parameter.types)
    return frozenset(found)
