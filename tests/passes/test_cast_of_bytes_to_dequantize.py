"""cast-of-bytes-to-dequantize: constant bytes become float32 by a scale of one."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.engines.cases import check

PASS = "cast-of-bytes-to-dequantize"
FEED: dict[str, Any] = {"x": np.array([0.5, 1, 2], np.float32)}
NUMBERS = "{-128, -1, 127}"


def graph(body: str, opset: int = 17) -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g (float[3] x) => (float[3] y) '
        f"<int8[3] w = {NUMBERS}> {{ {body} }}"
    )


@pytest.mark.parametrize("opset", [10, 13, 17, 21])
def test_bytes_are_the_same_numbers(opset: int) -> None:
    text = graph("f = Cast <to = 1> (w) y = Mul (x, f)", opset)
    done = assert_rewrite(PASS, text, feeds=[FEED])
    assert [node.op_type for node in done.after.graph.node] == ["DequantizeLinear", "Mul"]
    np.testing.assert_array_equal(outputs_of(done.after, FEED)["y"], [-64, -1, 254])


@pytest.mark.parametrize("target", ["trt8.6", "trt10.10", "trt11.1", "trt-rtx1.7"])
def test_the_builder_takes_the_result(target: str) -> None:
    model = parse(graph("f = Cast <to = 1> (w) y = Mul (x, f)"))
    before = [finding.feature for finding in check(model, target) if finding.blocks]
    assert before == ["dtype:Cast.int8-constant"]
    done = assert_rewrite(PASS, model, feeds=[FEED])
    assert [finding.feature for finding in check(done.after, target) if finding.blocks] == []
