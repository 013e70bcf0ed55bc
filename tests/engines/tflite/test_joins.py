"""TFLite: tensors of one shape are joined along another axis of the same size."""

from __future__ import annotations

import pytest

from tests.engines.cases import (
    Yes,
    assert_yes,
    check,
    model_of,
)

T = "tflite1.29"
RULE = "joined-along-another-axis"
FEATURE = "form:Concat.equal-axes"


def _joined(shape: str, axis: int, result: str, before: str = "", names: str = "x, z") -> str:
    return (
        f"(float[{shape}] x, float[{shape}] z) => (float[{result}] y)"
        f" <float[5] w = {{1, 2, 3, 4, 5}}, float[2,1] v = {{1, 2}}>"
        f" {{ {before} y = Concat <axis = {axis}> ({names}) }}"
    )


@pytest.mark.parametrize(
    ("graph", "axis", "size"),
    [
        (_joined("1,1,5,2", 0, "2,1,5,2"), 1, 1),
        (_joined("1,1,5,1", -4, "2,1,5,1"), 3, 1),
        (_joined("2,2,5", 0, "4,2,5"), 1, 2),
        (_joined("1,1,5", 0, "2,1,5", "a = Mul (x, w) b = Mul (z, w)", "a, b"), 1, 1),
        (_joined("1,N,5", 0, "2,M,5", "s = Constant <value_ints = [1, 1, 5]> () a = Reshape (x, s)",
                 "a, z"), 1, 1),
    ],
)  # fmt: skip
def test_the_axis_is_found_that_the_engine_takes(graph: str, axis: int, size: int) -> None:
    assert_yes(Yes(graph, RULE, FEATURE, "wrong", "", T))
    (found,) = (finding for finding in check(model_of(graph), T) if finding.rule == RULE)
    assert found.message == f"onnx2tf joins along axis {axis}, which has size {size} too"
