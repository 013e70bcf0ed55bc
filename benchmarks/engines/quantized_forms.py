"""Models of one operator of bytes each that onnxruntime's quantizer writes, for `plain`.

Bytes come from a QuantizeLinear and go to a DequantizeLinear, as they do in networks, and the
inputs are multiples of the scale, so that what differs is the operator's own doing. Sources: the
signatures in onnxruntime/core/graph/contrib_ops/quantization_defs.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto

Array = np.ndarray[Any, Any]

_SCALE = 0.25
_FLAT, _IMAGE = "(float[2,3] x)", "(float[1,2,4,4] x)"
_POINTS = (("int8", 3, -5), ("int8", 0, 0), ("uint8", 120, 131))
_PAIR = "q, s, z, q, s, z"
# Operator -> the inputs of its models, and what is after its name in each.
_FORMS = {
    "QLinearAdd": (_FLAT, [f"({_PAIR}, t, v)", "(q, s, z, w, s, z, t, v)"]),
    "QLinearAveragePool": (
        _IMAGE,
        [f"<kernel_shape = [2,2], strides = [{step},{step}]> (q, s, z, t, v)" for step in (1, 2)],
    ),
    "QLinearConcat": (_FLAT, [f"<axis = 1> (t, v, {_PAIR})"]),
    "QLinearGlobalAveragePool": (_IMAGE, ["(q, s, z, t, v)"]),
    "QLinearLeakyRelu": (_FLAT, ["<alpha = 0.5> (q, s, z, t, v)"]),
    "QLinearMul": (_FLAT, [f"({_PAIR}, t, v)", "(q, s, z, w, s, z, t, v)"]),
    "QLinearSigmoid": (_FLAT, ["(q, s, z, t, v)"]),
    "QLinearSoftmax": (_FLAT, ["<axis = -1, opset = 13> (q, s, z, t, v)"]),
}


def quantized() -> Iterator[tuple[str, ModelProto, dict[str, Array], dict[str, Array]]]:
    """Yield operators with a model, its input, and its outputs in onnxruntime."""
    ort: Any = import_module("onnxruntime")
    for op, (given, calls) in _FORMS.items():
        for call in calls:
            for kind, zero, other in _POINTS:
                model = _model(f"{op} {call}", given, kind, zero, other)
                sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
                drawn = np.random.default_rng(1).integers(-40, 40, sizes)
                feed = {"x": (drawn * _SCALE).astype(np.float32)}
                (expected,) = ort.InferenceSession(model.SerializeToString()).run(None, feed)
                shape = model.graph.output[0].type.tensor_type.shape
                for size in expected.shape:
                    shape.dim.add(dim_value=size)
                yield op, model, feed, {"y": expected}


def _model(called: str, given: str, kind: str, zero: int, other: int) -> ModelProto:
    known = [f"float s = {{{_SCALE}}}", f"{kind} z = {{{zero}}}"]
    known += ["float t = {0.5}", f"{kind} v = {{{other}}}"]
    if "w," in called:
        known.append(f"{kind}[3] w = {{1, 2, 3}}")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13, "com.microsoft" : 1]> g '
        f"{given} => (float[] y) <{', '.join(known)}> {{ q = QuantizeLinear (x, s, z) "
        f"r = com.microsoft.{called} y = DequantizeLinear (r, t, v) }}"
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model
