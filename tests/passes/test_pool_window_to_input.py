"""pool-window-to-input: one window over the whole padded input."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "pool-window-to-input"


def _model(
    op: str, more: str = "", *, size: str = "1, 2, 2, 3", opset: int = 17, place: str = "main"
) -> str:
    body = f"@y = {op} <kernel_shape = [8, 2], strides = [8, 1]{more}> (x)"
    return written(body, f"float[{size}] x", "float[A, B, C, D]", opset=opset, place=place)


def _ramp(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)}


@pytest.mark.parametrize("opset", [10, 11, 17, 19, 22])
@pytest.mark.parametrize("included", [0, 1])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 2, 0]])
def test_average(opset: int, included: int, pads: list[int]) -> None:
    more = f", ceil_mode = 1, count_include_pad = {included}, pads = {pads}"
    done = assert_rewrite(
        PASS, _model("AveragePool", more, opset=opset), feeds=[_ramp(1, 2, 2, 3)], rtol=1e-6
    )
    (node,) = done.after.graph.node
    kernel = {a.name: list(a.ints) for a in node.attribute}["kernel_shape"]
    assert kernel == [2 + pads[0] + pads[2], 2]
