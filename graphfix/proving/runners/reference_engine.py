"""The reference evaluator of ONNX as an engine, with numpy models of further operators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.external_data_helper

from graphfix.errors import EngineFailed, PassBug, UsageError
from graphfix.ir.protos import all_nodes, copied
from graphfix.proving.runners.engine import MissingForm
from graphfix.proving.runners.evaluators import Evaluators, attribute_value, call, key_of
from graphfix.proving.runners.old_forms import (
    later_form,
    old_form,
    with_later_operators,
    without_ended,
)
from graphfix.proving.runners.spectra import short_time_spectra
from graphfix.proving.values.kinds import Feed, Value

_LONGEST_TEXT = 2000
_NEWER = 99
_UNIMPLEMENTED = "not implemented"
_OLDEST = 7  # the forms of earlier opsets are in `old_forms`


def _evaluator_class(evaluators: Evaluators) -> Any:
    """Make a ReferenceEvaluator that knows the numpy models in subgraphs and functions as well.

    Its own ``new_ops`` does not reach into local functions (onnx 1.23: functions are built
    without it), and its OpRun keeps attributes as Python attributes of the object, where one
    called ``input`` or ``run`` clashes. Hence the class below overrides the look-up instead.
    """
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun, RefAttrName
    from onnx.reference.ops import load_op

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

        def _function(self) -> Any:
            return evaluators.get(key_of(self.onnx_node))

        def _run(self, *args: Any, **kwargs: Any) -> Any:
            return call(self._function(), self.onnx_node, list(args), kwargs)

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
            opset = self.opsets.get("", _NEWER)
            known = short_time_spectra if node.op_type == "STFT" else old_form(node, opset)
            if known is not None:

                class OldForm(NumpyModel):
                    """One node in a form that ended, or that the evaluator gets wrong."""

                    def _function(self) -> Any:
                        return known

                return OldForm
            if later_form(node, opset) != opset:
                return load_op("", node.op_type, later_form(node, opset))
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
            copy = copied(model)
            onnx.external_data_helper.load_external_data_for_model(copy, folder)
            model = copy
        self._at: list[onnx.NodeProto] = []
        readable = _readable(model)
        try:
            self._evaluator = _evaluator_class(evaluators)(readable)
        except (UsageError, MemoryError):
            raise
        except Exception as error:  # it raises whatever its operators raise
            raise EngineFailed(
                " ".join(str(error).split())[:_LONGEST_TEXT], where=self.name
            ) from error

        for node in self._evaluator.rt_nodes_:
            node.run = self._noted(node.onnx_node, node.run)

    def _noted(self, node: onnx.NodeProto, run: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any, **kwargs: Any) -> Any:
            self._at = [node]
            return run(*args, **kwargs)

        return noting

    def at_work(self) -> list[onnx.NodeProto]:
        """Return the node of the main graph that is at work, or was last."""
        return self._at

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; see `graphfix.proving.runners.engine.Engine`.

        Raises:
            MissingForm: The evaluator says of a node that it has not implemented it.
        """
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results = self._evaluator.run(None, dict(feed))
        except (UsageError, EngineFailed, MemoryError, PassBug):
            raise
        except Exception as error:  # as above
            text = f"{error} {error.__cause__ or ''}"
            message = " ".join(text.split())[:_LONGEST_TEXT]
            if self._at and _is_unimplemented(error):
                raise MissingForm(key_of(self._at[0]), message) from error
            raise EngineFailed(message, where=self.name) from error
        return dict(zip(self._evaluator.output_names, results, strict=True))


def _is_unimplemented(error: BaseException | None) -> bool:
    """Say whether an operator of the evaluator calls itself unfinished.

    Most raise NotImplementedError; Upsample, MaxPool, Scan and OneHotEncoder a RuntimeError that
    says so (onnx 1.23, onnx/reference/ops), and a body wraps what its nodes raise.
    """
    while error is not None:
        if isinstance(error, NotImplementedError) or _UNIMPLEMENTED in str(error).lower():
            return True
        error = error.__cause__
    return False


def _readable(model: onnx.ModelProto) -> onnx.ModelProto:
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), _NEWER)
    model = without_ended(model) if opset < _OLDEST else with_later_operators(model, opset)
    return _with_new_modes(model)


def _with_new_modes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Call the modes of GridSample what they are called from opset 20 on.

    The evaluator knows no others; for images both versions define the same (operator page). What
    it makes of bicubic with border padding is not what onnxruntime does, and stays refused.
    """
    if not any(node.op_type == "GridSample" for node in all_nodes(model.graph.node)):
        return model
    copy = copied(model)
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
