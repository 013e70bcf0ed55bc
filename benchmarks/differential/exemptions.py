"""Where the original is at fault, not the result: a short list, each entry with its referee.

An entry is a model that the standard does not allow though onnxruntime runs it, or a fault of
onnxruntime that the original shows. Each has a test that it is real
(tests/benchmarks/test_differential.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, defs, helper
from onnx.reference import ReferenceEvaluator

from benchmarks.differential.judge import EPS, Judgement, Sample, difference, run, session
from benchmarks.differential.scope import Array
from benchmarks.mutants.judge import widened

_NO_KERNEL = re.compile(r"NOT_IMPLEMENTED : Could not find an implementation for (\w+)\(")

Covers = Callable[[ModelProto, Sample, Judgement], bool]


def exemption(original: ModelProto, found: Judgement, sample: Sample) -> str:
    """Return the name of the exemption that covers a difference; empty where none does."""
    return next((name for name, covers in EXEMPTIONS if covers(original, sample, found)), "")


def lost_body(original: ModelProto, result: ModelProto, found: Judgement) -> str:
    """Return the name of the exemption for a result whose operator onnxruntime has no kernel of.

    Of an operator without a kernel for a type, Softplus of float64, onnxruntime runs the function
    body that its schema has from opset 18 on. Below it, the same operator cannot be run there.
    """
    named = _NO_KERNEL.search(found.text)
    if found.status != "unloadable" or named is None:
        return ""
    op = named.group(1)
    if _has_body(op, original) and not _has_body(op, result):
        return "onnxruntime has the operator as a function of later opsets alone"
    return ""


def _has_body(op: str, model: ModelProto) -> bool:
    version = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    first = cast("Any", defs.get_schema(op, version)).function_opset_versions
    return any(since <= version for since in first)


def beyond_the_axis(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether an index of the original is beyond its axis, which onnxruntime overlooks.

    That is a Compress whose condition holds after the last element ("its length can be less than
    the input length along the axis", onnx) and a GatherND from data without elements.
    """
    if found.status != "raises" or "out of data bounds" not in found.text:
        return False
    return any(
        far(node, *_inputs_of(original, node, sample))
        for node in original.graph.node
        if (far := _FAR.get(node.op_type)) is not None
    )


def _compress_far(node: NodeProto, x: Array, condition: Array) -> bool:
    axis = next((a.i for a in node.attribute if a.name == "axis"), None)
    return bool(condition[x.size if axis is None else x.shape[axis] :].any())


def _gather_nd_far(node: NodeProto, data: Array, indices: Array) -> bool:
    batch = _batch_dims(node)
    sizes = np.array(data.shape[batch : batch + indices.shape[-1]])
    return not data.size and bool(((indices < -sizes) | (indices >= sizes)).any())


def _batch_dims(node: NodeProto) -> int:
    return next((a.i for a in node.attribute if a.name == "batch_dims"), 0)


_FAR: dict[str, Callable[..., bool]] = {"Compress": _compress_far, "GatherND": _gather_nd_far}


def _inputs_of(model: ModelProto, node: NodeProto, sample: Sample) -> list[Array]:
    """Run a model for what goes into one of its nodes."""
    opened = ModelProto()
    opened.CopyFrom(model)
    del opened.graph.output[:]
    for name in node.input:  # an input or initializer is an output by way of Identity alone
        seen = f"{name}/seen"
        opened.graph.output.append(ValueInfoProto(name=seen))  # onnxruntime infers its type
        opened.graph.node.append(helper.make_node("Identity", [name], [seen]))
    return [np.asarray(v) for v in run(session(opened), sample.fed)]


def rounded_by_the_original(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether the original in float64 gives what the result gives, not what it gives itself.

    onnxruntime's InstanceNormalization, for example, adds bias - mean * scale to x * scale: of one
    large element the bias is left with few digits.
    """
    both = _both(found)
    if both is None or found.wild or both[0].dtype.name not in EPS:
        return False
    one, two = both
    fed = {k: v.astype(np.float64) if v.dtype.name in EPS else v for k, v in sample.fed.items()}
    truth = _by_reference(widened(original), fed, found.place)
    if truth is None:
        return False
    with np.errstate(all="ignore"):
        rounded = truth.astype(one.dtype)
    moved = [m[found.place] for m in sample.moved]
    return not difference(rounded, two, []) and bool(difference(rounded, one, moved))


def _both(found: Judgement) -> tuple[Array, Array] | None:
    """Return what the original and the result give, where they differ in numbers alone."""
    if found.status != "differs" or not found.values:
        return None
    one, two = (np.asarray(v) for v in found.values)
    return (one, two) if one.dtype == two.dtype and one.shape == two.shape else None


def _by_reference(model: ModelProto, fed: dict[str, Array], place: int) -> Array | None:
    """Return an output by the reference evaluator; None where it does not run the model."""
    try:
        with np.errstate(all="ignore"):
            evaluator: Any = ReferenceEvaluator(model)
            truth = evaluator.run(None, fed)
    except Exception:
        return None
    return np.asarray(truth[place])


def unequal_batches(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether a GatherND has other batches in its data than in its indices.

    "The first b dimensions of the shape of indices tensor and data tensor must be equal" (onnx);
    where nothing is gathered, onnxruntime does not look.
    """
    if found.status != "raises":
        return False
    return any(
        _batches_differ(node, *_inputs_of(original, node, sample))
        for node in original.graph.node
        if node.op_type == "GatherND"
    )


def _batches_differ(node: NodeProto, data: Array, indices: Array) -> bool:
    batch = _batch_dims(node)
    return bool(data.shape[:batch] != indices.shape[:batch])


def integers_through_floats(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether integers taken without floats give what the result gives, not the original.

    onnxruntime raises integers by way of float64 unless the exponent is 2 or 3, and reduces them by
    way of float64, cut off at the ends of the type (core/providers/cpu/math/element_wise_ops.cc,
    reduction/reduction_ops.h): 2^53 + 1 to the power of 1 is 2^53. The reference evaluator stays
    with integers.
    """
    both = _both(found)
    if both is None or both[0].dtype.kind not in "iu":
        return False
    if not any(node.op_type in _THROUGH_FLOATS for node in original.graph.node):
        return False
    exact = _by_reference(original, dict(sample.fed), found.place)
    return exact is not None and bool(
        exact.dtype == both[1].dtype and np.array_equal(exact, both[1])
    )


_THROUGH_FLOATS = ("Pow", "ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare")

EXEMPTIONS: tuple[tuple[str, Covers], ...] = (
    ("an index beyond its axis, which onnxruntime overlooks", beyond_the_axis),
    ("batches of data and indices that are not equal", unequal_batches),
    ("integers that onnxruntime takes through float64", integers_through_floats),
    ("the original in float64 gives what the result gives", rounded_by_the_original),
)
