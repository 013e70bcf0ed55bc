"""Where the original is at fault, not the result: a short list, each entry with its referee.

An entry is a model that the standard does not allow though onnxruntime runs it, or a fault of
onnxruntime that the original shows. Each has a test that it is real
(tests/benchmarks/test_differential.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import onnx
from mutant_judge import widened
from onnx import ModelProto, NodeProto
from onnx.reference import ReferenceEvaluator

from differing.judge import EPS, Judgement, Sample, difference, run, session

Covers = Callable[[ModelProto, Sample, Judgement], bool]


def exemption(original: ModelProto, found: Judgement, sample: Sample) -> str:
    """Return the name of the exemption that covers a difference; empty where none does."""
    return next((name for name, covers in EXEMPTIONS if covers(original, sample, found)), "")


def compress_too_long(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether a Compress has a condition that holds beyond its axis.

    "Its length can be less than the input length along the axis" (onnx, Compress); onnxruntime
    overlooks what is beyond, an index of it is an error.
    """
    if found.status != "raises" or "out of data bounds" not in found.text:
        return False
    return any(_beyond_axis(original, node, sample) for node in _nodes(original, "Compress"))


def _nodes(model: ModelProto, op: str) -> Iterator[NodeProto]:
    return (n for n in model.graph.node if n.op_type == op)


def _beyond_axis(model: ModelProto, node: NodeProto, sample: Sample) -> bool:
    opened = ModelProto()
    opened.CopyFrom(model)
    del opened.graph.output[:]
    float_, bool_ = onnx.TensorProto.UNDEFINED, onnx.TensorProto.BOOL
    types = {v.name: v.type.tensor_type.elem_type
             for v in (*_inferred(model).graph.value_info, *model.graph.input)}  # fmt: skip
    types |= {t.name: t.data_type for t in model.graph.initializer}
    for name in node.input:
        elem = types.get(name, bool_ if name == node.input[1] else float_)
        opened.graph.output.append(onnx.helper.make_tensor_value_info(name, elem, None))
    for name in node.input:  # an input or initializer is an output by way of Identity alone
        opened.graph.node.append(onnx.helper.make_node("Identity", [name], [f"{name}/seen"]))
    for value in opened.graph.output:
        value.name += "/seen"
    x, condition = run(session(opened), sample.fed)
    axis = next((a.i for a in node.attribute if a.name == "axis"), None)
    return bool(condition[x.size if axis is None else x.shape[axis] :].any())


def _inferred(model: ModelProto) -> ModelProto:
    return onnx.shape_inference.infer_shapes(model)


def rounded_by_the_original(original: ModelProto, sample: Sample, found: Judgement) -> bool:
    """Say whether the original in float64 gives what the result gives, not what it gives itself.

    onnxruntime's InstanceNormalization, for example, adds bias - mean * scale to x * scale: of one
    large element the bias is left with few digits.
    """
    if found.status != "differs" or found.wild or not found.values:
        return False
    one, two = (np.asarray(v) for v in found.values)
    if one.dtype.name not in EPS or one.dtype != two.dtype or one.shape != two.shape:
        return False
    fed = {k: v.astype(np.float64) if v.dtype.name in EPS else v for k, v in sample.fed.items()}
    try:
        with np.errstate(all="ignore"):
            truth = ReferenceEvaluator(widened(original)).run(None, fed)[found.place]
            rounded = np.asarray(truth).astype(one.dtype)
    except Exception:
        return False
    moved = [m[found.place] for m in sample.moved]
    return not difference(rounded, two, []) and bool(difference(rounded, one, moved))


EXEMPTIONS: tuple[tuple[str, Covers], ...] = (
    ("Compress with a condition that holds beyond its axis", compress_too_long),
    ("the original in float64 gives what the result gives", rounded_by_the_original),
)
