"""Models of operators of bytes, which engines are asked about."""

from __future__ import annotations

import numpy as np

from benchmarks.engines.quantized_forms import quantized


def test_each_operator_is_between_bytes_of_three_kinds() -> None:
    found = list(quantized())
    ops = [op for op, *_ in found]
    assert {op: ops.count(op) for op in ops} == {
        "QLinearAdd": 6,
        "QLinearAveragePool": 6,
        "QLinearConcat": 3,
        "QLinearGlobalAveragePool": 3,
        "QLinearLeakyRelu": 3,
        "QLinearMul": 6,
        "QLinearSigmoid": 3,
        "QLinearSoftmax": 3,
    }
    for op, model, feed, expected in found:
        assert [n.op_type for n in model.graph.node] == ["QuantizeLinear", op, "DequantizeLinear"]
        assert set(feed) == {"x"}
        assert len(np.unique(expected["y"])) > 1
    _, _, feed, expected = found[1]  # twice the numbers, of int8 without zero points
    np.testing.assert_array_equal(expected["y"], np.clip(2 * feed["x"], -64, 63.5))
