"""Run a converted model and say how its outputs differ from those that are expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

# onnxruntime 1.31 reads no newer numbers; a model whose operators did not change is stamped.
ORT_OPSET = 26
ORT_IR = 13
# Reordered sums and decomposed normalisations; a fraction of the largest value of the output.
_TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 1e-2, "bfloat16": 2**-6}
# Compared exactly, but for NaN, which equals NaN.
_NARROW = frozenset(
    {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"}
    | {"float4_e2m1fn"}
)
# Before 13 these flatten their input to a matrix; the reference evaluator does not.
_FLATTENING = frozenset({"Softmax", "LogSoftmax", "Hardmax"})


def graphs_of(proto: onnx.ModelProto) -> list[Any]:
    """Return the main graph, every body and every function of a model."""
    found: list[Any] = [proto.graph, *proto.functions]
    for graph in found:
        for node in graph.node:
            found.extend(a.g for a in node.attribute if a.HasField("g"))
            found.extend(g for a in node.attribute for g in a.graphs)
    return found


def opset_of(proto: onnx.ModelProto) -> int:
    """Return the opset of the default domain, 0 where none is imported."""
    return next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), 0)


def stamped(proto: onnx.ModelProto, version: int) -> onnx.ModelProto | None:
    """Return a copy with another opset, None where an operator has another schema there."""
    own = opset_of(proto)
    for graph in graphs_of(proto):
        for node in graph.node:
            if node.domain not in ("", "ai.onnx"):
                continue
            try:
                one = onnx.defs.get_schema(node.op_type, own, "")
                other = onnx.defs.get_schema(node.op_type, version, "")
            except onnx.defs.SchemaError:
                return None
            if one.since_version != other.since_version or other.deprecated:
                return None
    return restamped(proto, version)


def restamped(proto: onnx.ModelProto, version: int) -> onnx.ModelProto:
    """Return a copy with another value for the opset, whatever its operators mean there."""
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    for entries in (result.opset_import, *(f.opset_import for f in result.functions)):
        for entry in entries:
            if entry.domain in ("", "ai.onnx"):
                entry.version = version
    return result


def run(proto: onnx.ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    """Run in onnxruntime with optimisations off."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if opset_of(proto) > ORT_OPSET:
        proto = stamped(proto, ORT_OPSET) or proto
    if proto.ir_version > ORT_IR:
        proto = restamped(proto, opset_of(proto))
        proto.ir_version = ORT_IR
    session = ort.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, dict(feed)))


def reference(proto: onnx.ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    """Run in the reference evaluator.

    Raises:
        NotImplementedError: It computes another version of one of the operators.
    """
    if opset_of(proto) < 13 and any(
        node.op_type in _FLATTENING for graph in graphs_of(proto) for node in graph.node
    ):
        raise NotImplementedError("the reference evaluator has no Softmax below opset 13")
    return list(ReferenceEvaluator(proto).run(None, dict(feed)))  # pyright: ignore[reportUnknownMemberType]


def difference(result: Any, expected: Any, *, values: bool = True) -> str:
    """Return how two outputs differ, or an empty string; without `values`, in type and shape."""
    if expected is None or result is None:
        return "" if result is expected else "one is empty"
    if _is_list(expected):
        if len(result) != len(expected):
            return f"{len(result)} parts, expected {len(expected)}"
        parts = (difference(a, b, values=values) for a, b in zip(result, expected, strict=True))
        return next((wrong for wrong in parts if wrong), "")
    # test_if_opt stores a sequence of one as its element.
    result = np.asarray(result[0] if _is_list(result) and len(result) == 1 else result)
    expected = np.asarray(expected)
    if expected.dtype.name in _NARROW and result.dtype == np.uint8:
        result = result.view(expected.dtype)  # onnxruntime gives the bits of float8
    if result.dtype != expected.dtype and expected.dtype.kind not in "OUT":
        return f"dtype {result.dtype}, expected {expected.dtype}"
    if result.shape != expected.shape:
        return f"shape {list(result.shape)}, expected {list(expected.shape)}"
    return _numbers(result, expected) if values else ""


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _numbers(result: Any, expected: Any) -> str:
    tolerance = 0.0 if expected.dtype.name in _NARROW else _TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        wrong = int(np.count_nonzero(result != expected))
        return f"{wrong} of {result.size} values differ" if wrong else ""
    wide, wanted = result.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(wanted)
    if not np.array_equal(wide[~finite], wanted[~finite], equal_nan=True):
        return "NaN or infinity at other places"
    scale = float(np.max(np.abs(wanted[finite]), initial=0.0))
    distance = np.abs(wide[finite] - wanted[finite])
    # Written so that a NaN in the result, for which every comparison is false, counts as wrong.
    good = distance <= tolerance * np.abs(wanted[finite]) + tolerance / 10 * scale
    return "" if good.all() else f"values differ by up to {float(np.max(distance)):.3g}"


def outputs_differ(given: Sequence[Any], expected: Sequence[Any], *, values: bool = True) -> str:
    """Return how lists of outputs differ, or an empty string."""
    for position, (one, other) in enumerate(zip(given, expected, strict=True)):
        wrong = difference(one, other, values=values)
        if wrong:
            return f"output {position}: {wrong}"
    return ""
