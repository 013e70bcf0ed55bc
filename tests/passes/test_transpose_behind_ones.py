"""transpose-behind-ones: the same values, the first dimension kept where it is."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "transpose-behind-ones"
AFTER = ["Unsqueeze", "Transpose", "Squeeze"]


def _perm(done: Any) -> list[int]:
    node = next(node for node in done.after.graph.node if node.op_type == "Transpose")
    return list(node.attribute[0].ints)


@pytest.mark.parametrize("opset", [7, 12, 13, 21])
@pytest.mark.parametrize(
    ("sizes", "perm", "moved"),
    [
        ([3, 3], [1, 0], [0, 1, 3, 2]),
        ([3, 3, 3], [2, 0, 1], [0, 1, 4, 2, 3]),
        ([3, 3, 4], [1, 0, 2], [0, 2, 1, 3]),
        ([2, 3, 2, 4], [2, 0, 1, 3], [0, 3, 1, 2, 4]),
    ],
)
def test_values(sizes: list[int], perm: list[int], moved: list[int], opset: int) -> None:
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    result = [sizes[axis] for axis in perm]
    text = written(f"@y = Transpose <perm = {perm}> (x)", f"float{sizes} x", f"float{result}",
                   opset=opset)  # fmt: skip
    done = assert_rewrite(PASS, text, feeds=[{"x": x}], after=AFTER)
    assert _perm(done) == moved
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], x.transpose(perm))


def test_open_sizes_and_no_perm() -> None:
    text = written("@y = Transpose (x)", "float[N, M] x", "float[M, N]")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert _perm(assert_rewrite(PASS, text, feeds=[{"x": x}], after=AFTER)) == [0, 1, 3, 2]


def test_it_repairs_for_the_engine_that_confuses_axes() -> None:
    text = written("@y = Transpose (x)", "float[3, 3] x", "float[3, 3]")
    result = graphfix.run(parse(text), target="tflite1.29", trust_rules=True)
    assert [finding.feature for finding in result.report.findings_before] == [
        "form:Transpose.equal-sizes"
    ]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
