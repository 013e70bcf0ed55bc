"""initializer-in-its-own-bits: raw_data where each number has 32 bits, held to numpy."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite

PASS = "initializer-in-its-own-bits"
NUMBERS: dict[int, list[Any]] = {
    TensorProto.BOOL: [0, 1, 0, 1],
    TensorProto.INT8: [0, -1, -128, 127],
    TensorProto.UINT8: [0, 1, 200, 255],
    TensorProto.INT16: [0, -1, -300, 300],
    TensorProto.UINT16: [0, 1, 300, 60000],
    TensorProto.FLOAT16: [0, -1.5, 1000, 0.25],
}
X = np.array([1, 2, 3, 4], np.float32)


def _model(kind: int, *, node: bool = False) -> ModelProto:
    text = '<ir_version: 8, opset_import: ["" : 16]> g (float[4] x) => (float[4] y)'
    model = parser.parse_model(text + " { c = Cast <to = 1> (k) y = Add (x, c) }")
    numbers = np.array(NUMBERS[kind]).astype(helper.tensor_dtype_to_np_dtype(kind))
    held = TensorProto(name="k", data_type=kind, dims=[4])
    halves = numbers.view(np.uint16) if kind == TensorProto.FLOAT16 else numbers
    held.int32_data.extend(int(number) for number in halves)
    if node:
        model.graph.node.insert(0, helper.make_node("Constant", [], ["k"], value=held))
    else:
        model.graph.initializer.append(held)
    return model


@pytest.mark.parametrize("kind", NUMBERS)
def test_values(kind: int) -> None:
    done = assert_rewrite(PASS, _model(kind), feeds=[{"x": X}])
    (stored,) = done.after.graph.initializer
    assert stored.raw_data
    assert not stored.int32_data
    np.testing.assert_array_equal(
        numpy_helper.to_array(stored).astype(np.float64), np.array(NUMBERS[kind], np.float64)
    )


@pytest.mark.parametrize("node", [False, True])
@pytest.mark.parametrize("target", ["mnn3.6", "opencv5.0"])
def test_it_is_reported_and_repaired(target: str, *, node: bool) -> None:
    result = graphfix.run(_model(TensorProto.BOOL, node=node), target)
    assert "io:numbers-in-32-bits" in [f.feature for f in result.report.findings_before]
    assert "io:numbers-in-32-bits" not in [f.feature for f in result.report.findings_after]
    assert result.report.verification.status is Verdict.EQUAL


def test_what_kills_is_refused() -> None:
    (found,) = [
        f
        for f in graphfix.check(_model(TensorProto.INT16), target="mnn3.6")
        if f.feature == "io:numbers-in-32-bits"
    ]
    assert str(found.severity) == "reject"
    assert not [f for f in graphfix.check(_model(TensorProto.UINT8), target="mnn3.6") if f.certain]
