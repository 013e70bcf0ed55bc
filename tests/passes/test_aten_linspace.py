"""aten-linspace: lines and powers between ends that are tensors."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from passes.aten.aten_linspace import FAMILY
from tests.passes.aten_models import replaced

PASS = "aten-linspace"
LOW, HIGH = np.array(-2, np.float32), np.array(7)


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 50])
@pytest.mark.parametrize("fed", [1, 2])
def test_lines(fed: int, steps: int) -> None:
    overload = "Tensor_Tensor"
    arguments: list[Any] = [LOW, HIGH, steps, 6]
    replaced(PASS, FAMILY.evaluate, "linspace", arguments, fed=fed, overload=overload, rtol=1e-6,
             atol=1e-6)  # fmt: skip
    if steps > 1:
        arguments = [LOW, HIGH, steps, 2.0, 6]
        replaced(PASS, FAMILY.evaluate, "logspace", arguments, fed=fed, overload=overload,
                 rtol=1e-5, accuracy=APPROXIMATE)  # fmt: skip
