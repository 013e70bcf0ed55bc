"""imputer-to-where: what stands in for what is missing."""

import numpy as np
import pytest
from onnx import TensorProto

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "imputer-to-where"


@pytest.mark.parametrize("missing", [0.0, 1.0, float("nan")])
@pytest.mark.parametrize("values", [[9.5], [9.5, -1.0, 7.0]])
def test_floats(values: list[float], missing: float) -> None:
    model = model_of("Imputer", ["N", 3], imputed_value_floats=values, replaced_value_float=missing)
    data = rows()
    data[1, 1], data[3, 2] = np.nan, np.nan
    assert_rewrite(PASS, model, feeds=[{"x": data}])


def test_integers() -> None:
    model = model_of(
        "Imputer",
        ["N", 3],
        kind=TensorProto.INT64,
        result=TensorProto.INT64,
        imputed_value_int64s=[7, 8, 9],
        replaced_value_int64=0,
    )
    assert_rewrite(PASS, model, feeds=[{"x": rows("int64")}])


def test_refusals() -> None:
    two = model_of("Imputer", ["N", 3], imputed_value_floats=[1.0, 2.0], replaced_value_float=0.0)
    assert_refused(PASS, two, "one for each column, which are 3; there are 2")
    assert_refused(PASS, model_of("Imputer", ["N", 3]), "must be imputed_value_floats")
