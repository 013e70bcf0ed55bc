"""Forms of the operators of QONNX, and what their definitions give in numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.coverage.lists.ml_forms import Form
from benchmarks.opset.comparison import run
from passes.quantization.brevitas_quantizers import (
    evaluate_bipolar,
    evaluate_float,
    evaluate_quant,
    evaluate_thresholds,
    evaluate_trunc,
)

Array = np.ndarray[Any, Any]
GENERAL, BREVITAS = "qonnx.custom_op.general", "onnx.brevitas"
LAST = "qonnx.custom_op.channels_last"
_GENERAL = (
    "Quant", "IntQuant", "BipolarQuant", "Trunc", "FloatQuant", "MultiThreshold", "QuantAvgPool2d",
    "MaxPoolNHWC", "Im2Col", "XnorPopcountMatMul", "DebugMarker", "GenericPartition",
)  # fmt: skip
_LAST = ("Conv", "MaxPool", "BatchNormalization", "AveragePool")
OPERATORS = (*(f"{GENERAL}::{op}" for op in _GENERAL), *(f"{LAST}::{op}" for op in _LAST))
_X = np.linspace(-9, 9, 2 * 3 * 4 * 4).astype(np.float32).reshape(2, 3, 4, 4)
_NUMPY = {
    "Quant": evaluate_quant, "IntQuant": evaluate_quant, "BipolarQuant": evaluate_bipolar,
    "Trunc": evaluate_trunc, "FloatQuant": evaluate_float, "MultiThreshold": evaluate_thresholds,
}  # fmt: skip


def qonnx_forms() -> Iterator[tuple[Form, Sequence[Array]]]:
    """Yield all forms."""
    for domain in (GENERAL, BREVITAS):
        for bits, signed, narrow in ((8, 1, 0), (4, 1, 1), (3, 0, 0), (1, 1, 0)):
            for mode in ("ROUND", "FLOOR"):
                yield _evaluated(
                    "Quant", f"{bits} bits {signed}{narrow} {mode} {domain}", [0.5, 0, bits],
                    domain=domain, signed=signed, narrow=narrow, rounding_mode=mode,
                )  # fmt: skip
        yield _evaluated("BipolarQuant", domain, [0.5], domain=domain)
        yield _evaluated("Trunc", domain, [0.25, 0, 8, 4], domain=domain, rounding_mode="FLOOR")
    yield _evaluated("IntQuant", "8 bits", [0.5, 3, 8], signed=0, narrow=0, rounding_mode="ROUND")
    yield _evaluated("Trunc", "seven inputs", [0.25, 0, 8, 1, 0, 4])
    for floats in ((4, 3, 7, 448), (5, 2, 15, 57344), (2, 1, 1, 6)):
        yield _evaluated("FloatQuant", f"E{floats[0]}M{floats[1]}", [0.5, *floats], saturation=1)
    steps = np.array([[-4, 0, 4], [1, 2, 3], [-1, 0, 8]], np.float32)
    yield _evaluated("MultiThreshold", "by channel", [steps], out_dtype="UINT2")
    yield _evaluated(
        "MultiThreshold", "for all, scaled", [steps[:1]], out_dtype="INT2", out_bias=-1.0
    )
    yield from _layouts()
    yield from _left()


def _model(
    op: str, domain: str, constants: Sequence[Array], result: Sequence[Any], **attributes: Any
) -> onnx.ModelProto:
    names = [f"c{place}" for place in range(len(constants))]
    node = helper.make_node(op, ["x", *names], ["y"], domain=domain, **attributes)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", _X.shape), ("y", result))
    ]
    weights = [numpy_helper.from_array(c, n) for c, n in zip(constants, names, strict=True)]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], weights)
    imports = [helper.make_opsetid("", 13), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _evaluated(
    op: str, form: str, constants: Sequence[Any], *, domain: str = GENERAL, **attributes: Any
) -> tuple[Form, Sequence[Array]]:
    arrays = [np.asarray(value, np.float32) for value in constants]
    model = _model(op, domain, arrays, _X.shape, **attributes)
    wanted = _NUMPY[op]([_X, *arrays], attributes)
    return Form(f"{GENERAL}::{op}", form, model, {"x": _X}), wanted


def _layouts() -> Iterator[tuple[Form, Sequence[Array]]]:
    """Operators on images whose channels are last, held to those of ONNX."""
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(2, 4, 3, 3)).astype(np.float32)
    channel = [np.abs(rng.normal(size=4)).astype(np.float32) for _ in range(4)]
    for op, constants, attributes in (
        ("Conv", [weights], {"pads": [1, 1, 1, 1]}),
        ("MaxPool", [], {"kernel_shape": [2, 2]}),
        ("MaxPoolNHWC", [], {"kernel_shape": [2, 2]}),
        ("AveragePool", [], {"kernel_shape": [2, 2]}),
        ("BatchNormalization", channel, {}),
    ):
        turned = np.ascontiguousarray(np.moveaxis(_X, 3, 1))
        given: dict[str, Any] = attributes
        plain = _model(op.removesuffix("NHWC"), "", constants, ["a", "b", "c", "d"], **given)
        for axis, size in enumerate(turned.shape):
            plain.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = size
        wanted = [np.moveaxis(run(plain, {"x": turned})[0], 1, 3)]
        domain = GENERAL if op.endswith("NHWC") else LAST
        model = _model(op, domain, constants, wanted[0].shape, **given)
        yield Form(f"{domain}::{op}", "images", model, {"x": _X}), wanted


def _left() -> Iterator[tuple[Form, Sequence[Array]]]:
    """Operators that FINN makes for its hardware and for debugging, held to their definitions."""
    image, bits = _X[:1], (_X > 0).astype(np.float32)
    windows: Array = image.reshape(1, 3, 2, 2, 2, 2).sum((3, 5), dtype=np.float32)
    sums: Array = np.round(windows).astype(np.int64)
    columns = np.stack([image[0, y : y + 2, x : x + 3] for y in (0, 1) for x in (0, 1)], 2)
    weights = (np.arange(8).reshape(4, 2) % 3 > 0).astype(np.float32)
    agree = (bits[..., None] == weights).sum(3, dtype=np.float32)
    for op, x, constants, wanted, attributes in (
        (
            "QuantAvgPool2d", image, [], np.right_shift(sums, 2),
            {"stride": 2, "kernel": 2, "ibits": 4, "obits": 4},
        ),
        (
            "Im2Col", image, [], columns.reshape(1, 2, 3, 16),
            {"kernel_size": [2, 2], "stride": [1, 1], "input_shape": "(1,3,4,4)"},
        ),
        ("XnorPopcountMatMul", bits, [weights], agree, {}),
        ("DebugMarker", _X, [], _X, {"export_debug_name": "here"}),
        ("GenericPartition", _X, [], None, {"model": "other.onnx"}),
    ):  # fmt: skip
        given: dict[str, Any] = attributes
        model = _model(op, GENERAL, constants, ["a", "b", "c", "d"], **given)
        for axis, size in enumerate(x.shape):
            model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = size
        right = () if wanted is None else (wanted.astype(np.float32),)
        yield Form(f"{GENERAL}::{op}", "as FINN writes it", model, {"x": x}), right
