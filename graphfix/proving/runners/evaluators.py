"""Numpy models of operators that no engine has, and how much memory a model needs."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from graphfix.authoring import Refuse
from graphfix.authoring.accounted_models import modelled
from graphfix.authoring.registry import LOADED, module_of
from graphfix.errors import EngineFailed, PassBug, UsageError
from graphfix.ir.protos import all_graphs, all_nodes
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.runners.made_up import is_made_up
from graphfix.proving.values.kinds import Array

Evaluate = Callable[["list[Array | None]", "dict[str, object]"], "tuple[Array, ...]"]

OpKey = tuple[str, str]
# Domain, operator and place of functions, as a request to a child names them.
Listed = tuple[tuple[str, str, str], ...]


def key_of(node: onnx.NodeProto) -> OpKey:
    """Return (domain, operator) of a node; the default domain is the empty one.

    An ATen node calls what its ``operator`` attribute names: its key is ``ATen.linalg_inv``.
    """
    op = node.op_type
    if op == "ATen":
        called = [a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "operator"]
        op = f"{op}.{called[0]}" if called else op
    return ("" if node.domain == "ai.onnx" else node.domain, op)


def operators_of(model: onnx.ModelProto) -> set[OpKey]:
    """Return the operators of the nodes of a model, of their subgraphs and of its functions."""
    found = {key_of(node) for node in all_nodes(model.graph.node)}
    for function in model.functions:
        found |= {key_of(node) for node in function.node}
    return found


def listed(places: Mapping[OpKey, str]) -> Listed:
    """Return places of functions as a request to a child names them, files by their whole path."""
    return tuple((domain, op, _absolute(place)) for (domain, op), place in places.items())


def _absolute(place: str) -> str:
    source, _, name = place.rpartition(":")
    return f"{Path(source).absolute()}:{name}" if source.endswith(".py") else place


class Evaluators:
    """Functions by (domain, operator), imported when they are first needed."""

    def __init__(self, places: Mapping[tuple[str, str], str]) -> None:
        """Take places such as ``module:function`` or ``/path/file.py:function``."""
        self._places = {
            ("" if domain == "ai.onnx" else domain, op): place
            for (domain, op), place in places.items()
        }
        self._loaded: dict[tuple[str, str], Evaluate] = {}

    @classmethod
    def of(cls, places: Listed) -> Evaluators:
        """Return those that a request names."""
        return cls({(domain, op): place for domain, op, place in places})

    def made_up(self) -> list[str]:
        """Return the operators that made-up functions stand for, by name."""
        return sorted(
            f"{domain}::{op}" if domain else op
            for (domain, op), place in self._places.items()
            if is_made_up(place)
        )

    def __contains__(self, key: tuple[str, str]) -> bool:
        """Whether an operator has a function."""
        return key in self._places

    def get(self, key: tuple[str, str]) -> Evaluate:
        """Return the function of an operator.

        Raises:
            UsageError: Its module or file cannot be imported or lacks the function.
        """
        if key not in self._loaded:
            self._loaded[key] = _imported(self._places[key])
        return self._loaded[key]

    def evaluate(self, node: onnx.NodeProto, inputs: list[Array | None]) -> tuple[Array, ...]:
        """Run the function of a node.

        Raises:
            EngineFailed: It raises, or returns too few arrays.
        """
        function = self.get(key_of(node))
        attributes = {attribute.name: attribute_value(attribute) for attribute in node.attribute}
        return call(function, node, inputs, attributes)


class GivenEvaluators(Evaluators):
    """Functions that are there already, for tests of passes."""

    def __init__(self, functions: Mapping[tuple[str, str], Evaluate]) -> None:
        """Take the functions by (domain, operator)."""
        super().__init__(dict.fromkeys(functions, ""))
        self._loaded.update(functions)


# What no input makes a function raise that is written as it should be.
_FAULTS = (NameError, AttributeError)


def call(
    function: Evaluate,
    node: onnx.NodeProto,
    inputs: list[Array | None],
    attributes: dict[str, object],
) -> tuple[Array, ...]:
    """Call a numpy model and check that it returns as many arrays as the node has outputs.

    It has to read every argument that the node gives, see `modelled`.

    Raises:
        EngineFailed: It raises, as for inputs that it does not take, leaves out an argument, or
            returns too few arrays.
        PassBug: It is written wrongly: a name or an attribute is not there.
    """
    op, count = node.op_type, len(node.output)
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        found = modelled(function, op, domain, inputs, attributes)
        results = tuple(np.asarray(result) for result in found)
    except Refuse as error:
        raise EngineFailed(error.reason, where=op) from error
    except _FAULTS as error:
        raise PassBug(f"the numpy model of {op} failed: {type(error).__name__}: {error}") from error
    except Exception as error:  # whatever a pass file's function raises is a failed run
        raise EngineFailed(f"the numpy model of {op} raised {error!r}", where=op) from error
    if len(results) < count:
        raise EngineFailed(f"the numpy model of {op} returned {len(results)} arrays of {count}")
    return results[:count]


def _imported(place: str) -> Evaluate:
    source, _, name = place.rpartition(":")
    try:
        if source.endswith(".py"):
            module = module_of(f"{LOADED}{Path(source).stem}", Path(source))
        else:
            module = importlib.import_module(source)
        function: Evaluate = attrgetter(name)(module)
    except (ImportError, OSError, AttributeError, SyntaxError) as error:
        raise UsageError(f"cannot import the numpy model: {error}", where=place) from None
    return function


def attribute_value(attribute: onnx.AttributeProto) -> object:
    """Return an attribute as Python: numbers, str, lists, arrays; other kinds as their proto.

    Unlike the reference evaluator's own conversion, floats are Python floats and bytes that are
    not UTF-8 stay bytes.
    """
    kinds = onnx.AttributeProto
    if attribute.type == kinds.STRING:
        return _text(attribute.s)
    if attribute.type == kinds.STRINGS:
        return [_text(text) for text in attribute.strings]
    if attribute.type == kinds.TENSOR:
        return onnx.numpy_helper.to_array(attribute.t)
    if attribute.type == kinds.TENSORS:
        return [onnx.numpy_helper.to_array(tensor) for tensor in attribute.tensors]
    value: Any = onnx.helper.get_attribute_value(attribute)
    repeated = (kinds.FLOATS, kinds.INTS, kinds.GRAPHS)
    return list(value) if attribute.type in repeated else value


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


# Where all engines of a comparison are loaded at once, they hold the weights of each model, a copy
# from parsing and the activations.
COPIES = 3


def weight_bytes(model: onnx.ModelProto) -> int:
    """Return the bytes of all initializers, by their dims; external data is not read."""
    return sum(_size(tensor) for g in all_graphs(model.graph) for tensor in g.initializer)


def _size(tensor: onnx.TensorProto) -> int:
    if tensor.data_type == onnx.TensorProto.STRING:
        return sum(len(text) for text in tensor.string_data)
    if tensor.data_type == onnx.TensorProto.UNDEFINED:
        return len(tensor.raw_data)
    return math.prod(tensor.dims) * numpy_dtype(tensor.data_type).itemsize
