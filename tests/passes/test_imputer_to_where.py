"""imputer-to-where: what stands in for what is missing."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "imputer-to-where"


@pytest.mark.parametrize("missing", [0.0, 1.0, float("nan")])
@pytest.mark.parametrize("values", [[9.5], [9.5, -1.0, 7.0]])
def test_floats(values: list[float], missing: float) -> None:
    model = model_of("Imputer", ["N", 3], imputed_value_floats=values, replaced_value_float=missing)
    data = rows()
    data[1, 1], data[3, 2] = np.nan, np.nan
    assert_rewrite(PASS, model, feeds=[{"x": data}])
