"""onnxruntime as an engine: what it is given, and what it means by its refusals."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from graphfix.analysis.packed_products import by_formula
from graphfix.analysis.saturation import unsaturated
from graphfix.errors import EngineFailed
from graphfix.ir.protos import all_graphs, all_nodes, copied, subgraphs_of
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.runners.engine import MissingOperator
from graphfix.proving.runners.evaluators import OpKey, operators_of, weight_bytes
from graphfix.proving.runners.softmax_rows import moving_one_axis
from graphfix.proving.values.kinds import Feed, Value, is_native
from graphfix.worker.sessions import open_session

# onnxruntime's own texts (model_load_utils.h, model.cc, session_state.cc, graph.cc).
_NO_KERNEL = re.compile(r"Could not find an implementation for ([\w.]+)\(-?\d+\)")
_NOT_REGISTERED = re.compile(
    r"Fatal error: ([\w.]*):(\w+)\(-?\d+\) is not a registered function/op"
)
_DEPRECATED = re.compile(r"Op registered for (\w+) is deprecated in domain_version of")
_NO_SCHEMA = re.compile(
    r'In Node, \("[^"]*", (\w+), "([^"]*)", -?\d+\).*?Error No [Oo]p', re.DOTALL
)
_OPSET_TOO_NEW = re.compile(r"till opset (\d+)")
# Two threads take a fifth more of the processors than one. Models with more weights are worth it.
_MUCH = 2**25
LONGEST_TEXT = 2000  # the shapes are at the end of what onnxruntime says
_IR_TOO_NEW = re.compile(r"max supported IR version: (\d+)")


class TooNew(EngineFailed):
    """An engine refuses an IR or opset number alone; `lowered` means the same with a lower one."""

    def __init__(self, lowered: onnx.ModelProto, message: str) -> None:
        """Keep the model with the lower number."""
        super().__init__(message)
        self.lowered = lowered


class OrtEngine:
    """onnxruntime on the CPU; optimisations off unless asked for."""

    def __init__(
        self,
        model: onnx.ModelProto,
        folder: str,
        *,
        optimised: bool = False,
        mapped: bool = False,
        profile: str = "",
    ) -> None:
        """Load a model.

        Args:
            model: The model, its external data unread.
            folder: Where its external data lies.
            optimised: Let onnxruntime rewrite the graph (to estimate noise).
            mapped: Use external data as the system maps it from its file, without a copy of it
                that is arranged for the kernels. Pages that are only read can be given up.
            profile: See `graphfix.worker.sessions.open_session`.

        Raises:
            MissingOperator: onnxruntime has no kernel or schema for an operator.
            EngineFailed: It refuses the model otherwise.
        """
        ort: Any = importlib.import_module("onnxruntime")
        self.name = f"onnxruntime {'.'.join(ort.__version__.split('.')[:2])}"
        # A profile is read by nodes; what rewrites graphs moves transposes as well.
        as_it_is = optimised or bool(profile)
        run = unsaturated(model) if as_it_is else moving_one_axis(unsaturated(model))
        wrapped = _with_casts(_without_body_shapes(by_formula(run)))
        self._renamed_inputs = wrapped.inputs
        self._renamed_outputs = wrapped.outputs
        try:
            self._session: Any = open_session(
                wrapped.model.SerializeToString(),
                optimised=optimised,
                threads=2 if weight_bytes(model) > _MUCH else 1,
                folder=folder,
                mapped=mapped,
                profile=profile,
            )
        except Exception as error:  # onnxruntime's own exception types have no common base
            raise _explained(error, model) from None
        self._run_options: Any = ort.RunOptions()
        self._run_options.log_severity_level = 4
        self._names = [output.name for output in self._session.get_outputs()]

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; see `graphfix.proving.runners.engine.Engine`."""
        inputs: dict[str, Value] = {}
        for name, value in feed.items():
            renamed = self._renamed_inputs.get(name)
            if renamed is None:
                inputs[name] = value
            else:
                inputs[renamed] = np.asarray(value).astype(np.float32)
        try:
            results: list[Value] = self._session.run(self._names, inputs, self._run_options)
        except Exception as error:  # as above
            _raise_if_out_of_memory(str(error))
            raise EngineFailed(_one_line(str(error)), where=self.name) from None
        outputs = {n: _of_float32(r) for n, r in zip(self._names, results, strict=True)}
        for name, (renamed, dtype) in self._renamed_outputs.items():
            outputs[name] = np.asarray(outputs.pop(renamed)).astype(dtype)
        return outputs

    def stop(self) -> Path:
        """End profiling, from any thread, and have the run end after the node it is at.

        Returns:
            The file that tells what has run until now.
        """
        profile = Path(self._session.end_profiling())
        self._run_options.terminate = True
        return profile


class _Wrapped:
    """A model whose bfloat16 and smaller types leave and enter through Cast nodes."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.inputs: dict[str, str] = {}
        self.outputs: dict[str, tuple[str, np.dtype[Any]]] = {}


def _without_body_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    """Drop the shapes that subgraphs of If, Loop and Scan declare for their outputs.

    They are hints, and exporters get them wrong (one shape for two branches of different rank);
    onnxruntime takes them for what the body will produce and fails. For Scan it needs a rank
    ("Subgraph must have the shape set for all outputs"), so there the sizes alone are dropped.
    """
    if not any(_declares_shape(body) for body in _subgraphs(model.graph)):
        return model
    copy = copied(model)
    for node in all_nodes(copy.graph.node):
        for info in [info for body in subgraphs_of(node) for info in body.output]:
            if not info.type.HasField("tensor_type"):
                continue
            if node.op_type == "Scan":
                for dim in info.type.tensor_type.shape.dim:
                    dim.Clear()
            else:
                info.type.tensor_type.ClearField("shape")
    return copy


def _declares_shape(graph: onnx.GraphProto) -> bool:
    return any(info.type.tensor_type.HasField("shape") for info in graph.output)


def _of_float32(value: Value) -> Value:
    """Return maps with the numbers that onnxruntime computed: Python has them as float64.

    Every map that an operator of ONNX gives is to float32 (ZipMap).
    """
    if isinstance(value, list):
        return [_of_float32(item) for item in value]
    if isinstance(value, dict):
        return {k: np.float32(v) if isinstance(v, float) else v for k, v in value.items()}
    return value


def _subgraphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    return [body for body in all_graphs(graph) if body is not graph]


def _with_casts(model: onnx.ModelProto) -> _Wrapped:
    """Add exact casts to float32 where Python cannot exchange an element type."""
    result = _Wrapped(model)
    foreign_in = [info for info in model.graph.input if is_foreign(info)]
    foreign_out = [info for info in model.graph.output if is_foreign(info)]
    if not foreign_in and not foreign_out:
        return result
    copy = copied(model)
    result.model = copy
    float32 = onnx.TensorProto.FLOAT
    initialized = {tensor.name for tensor in copy.graph.initializer}
    casts: list[onnx.NodeProto] = []
    for info in [i for i in copy.graph.input if is_foreign(i) and i.name not in initialized]:
        outer = f"graphfix_in_{info.name}"
        element = info.type.tensor_type.elem_type
        casts.append(onnx.helper.make_node("Cast", [outer], [info.name], to=element))
        result.inputs[info.name] = outer
        info.name = outer
        info.type.tensor_type.elem_type = float32
    for info in [o for o in copy.graph.output if is_foreign(o)]:
        outer = f"graphfix_out_{info.name}"
        dtype = numpy_dtype(info.type.tensor_type.elem_type)
        copy.graph.node.append(onnx.helper.make_node("Cast", [info.name], [outer], to=float32))
        result.outputs[info.name] = (outer, dtype)
        info.name = outer
        info.type.tensor_type.elem_type = float32
    nodes = [*casts, *copy.graph.node]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return result


@cache
def registered() -> frozenset[OpKey]:
    """Return the operators that onnxruntime has schemas for."""
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    return frozenset(_key(each.domain, each.name) for each in state.get_all_operator_schema())


def is_foreign(info: onnx.ValueInfoProto) -> bool:
    """Say whether Python cannot exchange the element type of a tensor with onnxruntime."""
    if info.type.WhichOneof("value") != "tensor_type":
        return False
    element = info.type.tensor_type.elem_type
    return element != onnx.TensorProto.UNDEFINED and not is_native(numpy_dtype(element))


def _key(domain: str, op: str) -> OpKey:
    return ("" if domain == "ai.onnx" else domain, op)


def _explained(error: Exception, model: onnx.ModelProto) -> EngineFailed:
    text = str(error)
    _raise_if_out_of_memory(text)
    found = _NOT_REGISTERED.search(text)
    if found:
        return MissingOperator(_key(found.group(1), found.group(2)), _one_line(text))
    found = _NO_SCHEMA.search(text)
    if found:
        return MissingOperator(_key(found.group(2), found.group(1)), _one_line(text))
    found = _DEPRECATED.search(text)
    if found:
        return MissingOperator(_key("", found.group(1)), _one_line(text))
    found = _NO_KERNEL.search(text)
    if found:
        op = found.group(1).rsplit(".", 1)[-1]
        domains = [node.domain for node in model.graph.node if node.op_type == op]
        return MissingOperator(_key(domains[0] if domains else "", op), _one_line(text))
    lowered = _lowered(model, text)
    if lowered is not None:
        return TooNew(lowered, _one_line(text))
    return EngineFailed(_one_line(text), where="onnxruntime")


def _raise_if_out_of_memory(text: str) -> None:
    if "bad_alloc" in text or "Failed to allocate memory" in text:
        raise MemoryError(_one_line(text)) from None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_TEXT]


def _lowered(model: onnx.ModelProto, refusal: str) -> onnx.ModelProto | None:
    """Return a copy with a lower IR or opset number where that alone was refused.

    A newer opset number is lowered only if no operator of the model changed past the one that is
    asked for, so that the meaning is the same.
    """
    copy = copied(model)
    newest_ir = _IR_TOO_NEW.search(refusal)
    newest_opset = _OPSET_TOO_NEW.search(refusal)
    if newest_ir and model.ir_version > int(newest_ir.group(1)):
        copy.ir_version = int(newest_ir.group(1))
        return copy
    if newest_opset is None:
        return None
    bound = int(newest_opset.group(1))
    imports = [*copy.opset_import, *(e for f in copy.functions for e in f.opset_import)]
    for entry in imports:
        if entry.domain in ("", "ai.onnx") and entry.version > bound:
            if _changed_since(operators_of(model), bound, entry.version):
                return None
            entry.version = bound
    return copy


def _changed_since(operators: set[OpKey], bound: int, version: int) -> bool:
    for domain, op in operators:
        if domain:
            continue
        try:
            since = onnx.defs.get_schema(op, version, "").since_version
        except onnx.defs.SchemaError:
            return True
        if since > bound:
            return True
    return False
