"""multi-threshold-to-sum: MultiThreshold of FINN."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, quantizer

PASS = "multi-threshold-to-sum"


STEPS = np.array([[-1.0, 0.0, 1.25], [0.25, 0.75, 3.75]], np.float32)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("shape", [[1, 2, 2, 3], [6, 2], [3, 2, 2]])
def test_layouts(shape: list[int], layout: str) -> None:
    sizes = [shape[0], 2, 2, 3] if len(shape) == 4 else shape
    if len(shape) == 4 and layout == "NHWC":
        sizes = [1, 3, 2, 2]
    model = quantizer("MultiThreshold", [STEPS], shape=sizes, data_layout=layout)
    assert_rewrite(PASS, model, feeds=[{"x": NUMBERS.reshape(sizes)}], evaluators=EVALUATORS)


def test_one_list_for_all_channels_scaled_and_moved() -> None:
    given: dict[str, Any] = {"out_scale": 0.5, "out_bias": -1.0}
    model = quantizer("MultiThreshold", [STEPS[:1]], shape=["N", 6], **given)
    done = assert_rewrite(PASS, model, feeds=[{"x": NUMBERS.reshape(2, 6)}], evaluators=EVALUATORS)
    assert done.ops == ["Unsqueeze", "Less", "Not", "Cast", "ReduceSum", "Mul", "Add"]
