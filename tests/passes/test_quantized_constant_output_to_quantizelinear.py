"""quantized-constant-output-to-quantizelinear: constant bytes that a model outputs."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.engines.cases import check

NUMBERS = np.array([-128, -1, 0, 127], np.int8)
PASS = "quantized-constant-output-to-quantizelinear"
GIVEN = (
    '<ir_version: 8, opset_import: ["": 16]> g (float[2] x) => (int8[{size}] y, float[2] z) '
    "{{ y = Constant <value = int8[{size}] {{{numbers}}}> () z = Neg (x) }}"
)


@pytest.mark.parametrize(("size", "numbers"), [(4, "-128, -1, 0, 127"), (0, "")])
def test_a_constant_that_is_returned_is_quantized(size: int, numbers: str) -> None:
    model = GIVEN.format(size=size, numbers=numbers)
    feed: dict[str, Any] = {"x": np.array([1, 2], np.float32)}
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert done.ops == ["QuantizeLinear", "Neg"]
    wanted = NUMBERS if size else np.zeros(0, np.int8)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    before = {f.feature for f in check(parse(model), "trt8.6") if f.blocks}
    assert before == {"io:int8-constant"}
    assert not [f for f in check(done.after, "trt8.6") if f.blocks]
