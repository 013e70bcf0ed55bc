"""Numpy models of operators that no engine has, and the reference evaluator that uses them."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.external_data_helper

from graphfix.errors import EngineFailed, UsageError
from graphfix.protos import all_nodes
from graphfix.proving.values.kinds import Array, Feed, Value

Evaluate = Callable[["list[Array | None]", "dict[str, object]"], "tuple[Array, ...]"]

OpKey = tuple[str, str]

_LONGEST_TEXT = 2000


def key_of(node: onnx.NodeProto) -> OpKey:
    """Return (domain, operator) of a node; the default domain is the empty one.

    An ATen node calls what its ``operator`` attribute names: its key is ``ATen.linalg_inv``.
    """
    op = node.op_type
    if op == "ATen":
        called = [a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "operator"]
        op = f"{op}.{called[0]}" if called else op
    return ("" if node.domain == "ai.onnx" else node.domain, op)


class Evaluators:
    """Functions by (domain, operator), imported when they are first needed."""

    def __init__(self, places: Mapping[tuple[str, str], str]) -> None:
        """Take places such as ``module:function`` or ``/path/file.py:function``."""
        self._places = {
            ("" if domain == "ai.onnx" else domain, op): place
            for (domain, op), place in places.items()
        }
        self._loaded: dict[tuple[str, str], Evaluate] = {}

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
        return call(function, node.op_type, inputs, attributes, len(node.output))


class GivenEvaluators(Evaluators):
    """Functions that are there already, for tests of passes."""

    def __init__(self, functions: Mapping[tuple[str, str], Evaluate]) -> None:
        """Take the functions by (domain, operator)."""
        super().__init__(dict.fromkeys(functions, ""))
        self._loaded.update(functions)


def call(
    function: Evaluate,
    op: str,
    inputs: list[Array | None],
    attributes: dict[str, object],
    count: int,
) -> tuple[Array, ...]:
    """Call a numpy model and check that it returns as many arrays as the node has outputs.

    Where no attribute says which operator is meant, as that of an ATen node does, it is `op`.
    """
    named = {"operator": op, **attributes}
    try:
        results = tuple(np.asarray(result) for result in function(inputs, named))
    except Exception as error:  # whatever a pass file's function raises is a failed run
        raise EngineFailed(f"the numpy model of {op} raised {error!r}", where=op) from error
    if len(results) < count:
        raise EngineFailed(f"the numpy model of {op} returned {len(results)} arrays of {count}")
    return results[:count]


def _imported(place: str) -> Evaluate:
    source, _, name = place.rpartition(":")
    try:
        if source.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(source).stem, source)
            if spec is None or spec.loader is None:
                raise ImportError(f"cannot import {source}")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(source)
        function: Evaluate = getattr(module, name)
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


def _evaluator_class(evaluators: Evaluators) -> Any:
    """Make a ReferenceEvaluator that knows the numpy models in bodies and functions as well.

    Its own ``new_ops`` does not reach into local functions (onnx 1.23: functions are built
    without it), and its OpRun keeps attributes as Python attributes of the object, where one
    called ``input`` or ``run`` clashes. Hence the class below overrides the look-up instead.
    """
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun, RefAttrName

    class NumpyModel(OpRun):
        """One node whose operator has a numpy model."""

        def _load_attributes(self) -> None:
            self.attributes_names_: set[str] = set()
            self.has_linked_attribute = False
            self.values: dict[str, object] = {}
            for attribute in self.onnx_node.attribute:
                if attribute.ref_attr_name:
                    self.has_linked_attribute = True
                    self.values[attribute.name] = RefAttrName(attribute.ref_attr_name)
                else:
                    self.values[attribute.name] = attribute_value(attribute)

        def _run(self, *args: Any, **kwargs: Any) -> Any:
            function = evaluators.get(key_of(self.onnx_node))
            count = len(self.onnx_node.output)
            return call(function, self.onnx_node.op_type, list(args), kwargs, count)

        def run(self, *args: Any, linked_attributes: Any = None, **_: Any) -> Any:
            values = dict(self.values)
            for name, value in self.values.items():
                if isinstance(value, RefAttrName):
                    if value.name in (linked_attributes or {}):
                        values[name] = linked_attributes[value.name]
                    else:
                        del values[name]
            return self._run(*args, **values)

    class Evaluator(ReferenceEvaluator):
        """The reference evaluator with numpy models."""

        def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
            if key_of(node) in evaluators:
                return NumpyModel
            return super()._load_impl(node, input_types)

    return Evaluator


class ReferenceEngine:
    """onnx.reference, with numpy models of further operators."""

    name = "onnx.reference"

    def __init__(self, model: onnx.ModelProto, folder: str, evaluators: Evaluators) -> None:
        """Load a model and its external data.

        Raises:
            EngineFailed: The evaluator lacks an operator or refuses the model.
        """
        if folder and any(
            onnx.external_data_helper.uses_external_data(tensor)
            for tensor in model.graph.initializer
        ):
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            onnx.external_data_helper.load_external_data_for_model(copy, folder)
            model = copy
        try:
            self._evaluator = _evaluator_class(evaluators)(_with_new_modes(model))
        except (UsageError, MemoryError):
            raise
        except Exception as error:  # it raises whatever its operators raise
            raise EngineFailed(
                " ".join(str(error).split())[:_LONGEST_TEXT], where=self.name
            ) from error

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; see `graphfix.proving.runners.engines.Engine`."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results = self._evaluator.run(None, dict(feed))
        except (UsageError, EngineFailed, MemoryError):
            raise
        except Exception as error:  # as above
            text = f"{error} {error.__cause__ or ''}"
            raise EngineFailed(" ".join(text.split())[:_LONGEST_TEXT], where=self.name) from error
        return dict(zip(self._evaluator.output_names, results, strict=True))


def _with_new_modes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Call the modes of GridSample what they are called from opset 20 on.

    The evaluator knows no others; for images both versions define the same (operator page). What
    it makes of bicubic with border padding is not what onnxruntime does, and stays refused.
    """
    if not any(node.op_type == "GridSample" for node in all_nodes(model.graph.node)):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in all_nodes(copy.graph.node):
        if node.op_type == "GridSample" and not node.domain:
            given = {attribute.name: attribute for attribute in node.attribute}
            padding = given["padding_mode"].s if "padding_mode" in given else b"zeros"
            if "mode" not in given:
                node.attribute.add(name="mode", type=onnx.AttributeProto.STRING, s=b"linear")
            elif given["mode"].s == b"bilinear":
                given["mode"].s = b"linear"
            elif given["mode"].s == b"bicubic" and padding != b"border":
                given["mode"].s = b"cubic"
    return copy
