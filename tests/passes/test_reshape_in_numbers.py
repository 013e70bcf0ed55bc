"""reshape-in-numbers: sizes that are inferred or kept, as numbers."""

import numpy as np
import pytest
from onnx import numpy_helper

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite, parse

PASS = "reshape-in-numbers"
X = np.arange(16, dtype=np.float32).reshape(2, 8)


def shaped(shape: str, x: str = "2,8", opset: int = 13) -> str:
    count = shape.count(",") + 1
    result = ",".join("ABC"[:count])
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[{x}] x) => (float[{result}] y)'
        f" <int64[{count}] s = {{{shape}}}> {{ y = Reshape (x, s) }}"
    )


@pytest.mark.parametrize("opset", [5, 13, 14])
@pytest.mark.parametrize(
    ("shape", "sizes"), [("-1,4", [4, 4]), ("0,-1,2", [2, 4, 2]), ("0,8", [2, 8])]
)
def test_values(shape: str, sizes: list[int], opset: int) -> None:
    done = assert_rewrite(PASS, shaped(shape, opset=opset), feeds=[{"x": X}], after=["Reshape"])
    (stored,) = done.after.graph.initializer
    assert numpy_helper.to_array(stored).tolist() == sizes


def test_what_tvm_forgets() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[2,6,4] x, int64[1] j) => (float[6,4] y)'
        " <int64[1] o = {1}, int64[1] a = {0}, int64[2] s = {-1, 4}>"
        " { e = Add (j, o) b = Slice (x, j, e, a) u = Squeeze (b, a) y = Reshape (u, s) }"
    )
    result = graphfix.run(parse(text), "tvm0.27")
    assert [f.rule for f in result.report.findings_before] == ["size-inferred-behind-a-slice"]
    assert not result.report.findings_after
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
