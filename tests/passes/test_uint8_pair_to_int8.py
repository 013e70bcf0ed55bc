"""uint8-pair-to-int8, exact around 128; asymmetric-pair-to-int8, with a stated loss elsewhere."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix.testing import Rewritten, assert_refused, assert_rewrite, outputs_of, run_pass

PASS = "uint8-pair-to-int8"
X = np.linspace(-70, 70, 48, dtype=np.float32).reshape(6, 8)


def pair(zero: Any, scale: Any = 0.5, back: Any = None) -> onnx.ModelProto:
    zero = np.asarray(zero)
    zero = zero.astype(np.int8 if (zero < 0).any() else np.uint8)
    constants = {"s": np.asarray(scale, np.float32), "z": zero}
    constants["b"] = constants["s"] if back is None else np.asarray(back, np.float32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=0),
        helper.make_node("DequantizeLinear", ["q", "b", "z"], ["y"], axis=0),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [6, "N"]) for n in "xy"]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def labels(done: Rewritten) -> set[str]:
    return {str(site.accuracy) for outcome in done.outcomes for site in outcome.sites}


@pytest.mark.parametrize(("zero", "scale"), [(128, 0.5), ([128] * 6, [0.5, 0.1, 1, 2, 0.3, 0.7])])
def test_around_128_it_is_exact(zero: Any, scale: Any) -> None:
    done = assert_rewrite(PASS, pair(zero, scale), feeds=[{"x": X}])
    assert done.ops == ["QuantizeLinear", "DequantizeLinear"]
    assert labels(done) == {"exact"}
    kinds = {t.data_type for t in done.after.graph.initializer}
    assert kinds == {TensorProto.FLOAT, TensorProto.INT8}


@pytest.mark.parametrize("zero", [0, 255, 100, -30])
def test_elsewhere_the_error_is_what_the_note_says(zero: int) -> None:
    done = run_pass("asymmetric-pair-to-int8", pair(zero))
    assert labels(done) == {"lossy"}
    (note,) = (site.note for outcome in done.outcomes for site in outcome.sites)
    stated = float(note.rpartition(" ")[2])
    before, after = (outputs_of(model, {"x": X})["y"] for model in (done.before, done.after))
    error = float(np.abs(before - after).max())
    assert 0.1 * stated < error <= stated * (1 + 1e-6)


def test_refusals() -> None:
    assert_refused(PASS, pair(128, back=0.25), "must have one scale and zero point; they differ")
    assert_refused(PASS, pair(-1), "must be quantized to uint8; it is not")
    assert_refused(PASS, pair(3), "the zero point must be 128; it is not")
