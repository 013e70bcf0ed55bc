"""instance-normalization-constants-apart: the same values, of constants of its own."""

import numpy as np
import pytest
from onnx import parser

from graphfix.testing import assert_rewrite, outputs_of

PASS = "instance-normalization-constants-apart"
X = np.arange(12, dtype=np.float32).reshape(1, 2, 6) ** 2


def model(body: str, opset: int = 17, sizes: str = "1,2,6") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[{sizes}] x) => '
        f"(float[{sizes}] n, float[N,M,K] y) <float[2] s = {{1.5, 2.0}},"
        f" float[2] b = {{0.5, -1.0}}, float[2,1] k = {{1.0, 2.0}}> {{ {body} }}"
    )


@pytest.mark.parametrize("opset", [6, 13, 17, 22])
@pytest.mark.parametrize("sizes", ["1,2,6", "N,2,6"])
def test_values(sizes: str, opset: int) -> None:
    body = "n = InstanceNormalization (x, s, b) y = InstanceNormalization (n, s, b)"
    text = model(body, opset=opset, sizes=sizes)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], no_small_sides="variances of one element")
    given = [name for node in done.after.graph.node for name in node.input[1:]]
    assert len(set(given)) == len(given)
    one, two = outputs_of(done.after, {"x": X}), outputs_of(parser.parse_model(text), {"x": X})
    np.testing.assert_array_equal(one["y"], two["y"])
