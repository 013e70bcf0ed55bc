"""Repairs of ATen operators on calls with one argument that is not at its default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.arguments.aten_calls import ArgumentCall, calls
from benchmarks.opset.comparison import difference
from benchmarks.opset.comparison import run as run_in_onnxruntime
from graphfix import run
from graphfix.authoring.registry import shipped_passes
from graphfix.errors import GraphfixError

# As the TorchScript exporter has it; the same without the overload's name; numbers as attributes.
LAYOUTS = ("named", "unnamed", "attributes")
_OPSET = 17


def rows(only: Sequence[str], layouts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each cell: overload, argument, layout and verdict."""
    passes = [p for p in shipped_passes() if p.family == "aten" and not p.last_resort]
    for call in calls(only=only):
        feature = f"op:aten::{call.overload.operator}"
        ids = [p.id for p in passes if p.removes_feature(feature)]
        for layout in layouts:
            verdict, why = _judged(call, layout, ids)
            yield {
                "operator": call.overload.operator,
                "overload": call.overload.name,
                "argument": call.argument,
                "layout": layout,
                "verdict": verdict,
                "why": why[:200],
            }


def _judged(call: ArgumentCall, layout: str, ids: Sequence[str]) -> tuple[str, str]:
    model, feed = written(call, layout)
    try:
        result = run(model, passes=ids, verify="off", allow_lossy=True)
    except GraphfixError as error:
        return "failed", str(error)
    outcomes = result.report.outcomes
    if not any(outcome.status.value == "applied" for outcome in outcomes):
        failed = [o.reason for o in outcomes if o.status.value == "failed"]
        said = failed or [o.reason for o in outcomes if o.status.value == "refused"]
        return ("failed" if failed else "refused"), " / ".join(dict.fromkeys(said))
    try:
        found = run_in_onnxruntime(result.model.to_proto(), feed)
    except Exception as error:  # onnxruntime's exceptions have no common base
        return "does not run", str(error)
    for at, (one, other) in enumerate(zip(found, call.expected, strict=False)):
        said_of_it = difference(one, other)
        if said_of_it and not _rounded(one, other):
            return "differs", f"output {at}: {said_of_it}"
    return "equal", ""


# What is left of numbers of about one that cancel, such as those of a cross product of equals.
_CANCELLED = 1e-6


def _rounded(one: Any, other: Any) -> bool:
    floats = one.dtype == other.dtype == np.float32 and one.shape == other.shape
    return floats and bool(np.all(np.abs(one - other) < _CANCELLED))


def written(call: ArgumentCall, layout: str) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a model of the call in a layout, and its inputs."""
    nodes: list[Any] = []
    constants: list[TensorProto] = []
    feed: dict[str, Any] = {}
    inputs: list[str] = []
    attributes: dict[str, Any] = {}
    for argument in call.overload.arguments:
        value = call.given[argument.name]
        if argument.is_tensor:
            inputs.append(_tensor(value, nodes, feed))
        elif layout == "attributes":
            if value is not None and value != []:
                attributes[argument.name] = int(value) if isinstance(value, bool) else value
        else:
            inputs.append(_constant(value, constants))
    while inputs and not inputs[-1] and layout == "attributes":
        inputs.pop()
    overload: Mapping[str, str] = {"overload_name": call.overload.name} if layout == "named" else {}
    outputs = [f"y{at}" for at in range(len(call.expected))]
    nodes.append(
        helper.make_node(
            "ATen", inputs, outputs, "call", domain="org.pytorch.aten",
            operator=call.overload.operator, **overload, **attributes,
        )
    )  # fmt: skip
    infos = [_info(name, array, array.shape) for name, array in feed.items()]
    results = [
        _info(name, array, [None] * array.ndim)
        for name, array in zip(outputs, call.expected, strict=True)
    ]
    graph = helper.make_graph(nodes, "g", infos, results, constants)
    imports = [helper.make_opsetid("", _OPSET), helper.make_opsetid("org.pytorch.aten", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8), feed


def _tensor(value: Any, nodes: list[Any], feed: dict[str, Any]) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        entries: list[Any] = [*value]
        names = [_tensor(one, nodes, feed) for one in entries]
        nodes.append(helper.make_node("SequenceConstruct", names, [f"l{len(nodes)}"]))
        return str(nodes[-1].output[0])
    name = f"x{len(feed)}"
    feed[name] = np.asarray(value)
    return name


def _constant(value: Any, constants: list[TensorProto]) -> str:
    if value is None:
        return ""
    name = f"k{len(constants)}"
    if isinstance(value, str):
        proto = TensorProto(name=name, data_type=TensorProto.STRING)
        proto.string_data.append(value.encode())
    else:
        array = np.asarray(value, None if np.size(value) else np.int64)
        proto = numpy_helper.from_array(array, name)
    constants.append(proto)
    return name


def _info(name: str, array: Any, shape: Sequence[Any]) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, shape)
